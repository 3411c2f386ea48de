package config

import (
	"os"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// loadTemporal reads what Temporal's own configuration file and profile say. They are weaker than
// recap's file, except when TEMPORAL_PROFILE names the profile: then they count as environment.
func (c *Config) loadTemporal(p *problems) {
	prof, err := c.temporalProfile()
	if err != nil {
		p.add("TEMPORAL_*", "temporal", "%v", err)
		return
	}
	origin := Origin{Kind: FromFile, Detail: "temporal.toml"}
	if name, _ := c.lookupEnv("TEMPORAL_PROFILE"); name != "" {
		origin = Origin{Kind: FromEnv, Detail: "TEMPORAL_PROFILE"}
	}
	for _, v := range []struct {
		key, value string
		field      *string
	}{
		{"temporal.address", prof.Address, &c.Temporal.Address},
		{"temporal.namespace", prof.Namespace, &c.Temporal.Namespace},
	} {
		have, set := c.loaded.origins[v.key]
		if v.value == "" || set && (have.Kind != FromFile || origin.Kind != FromEnv) {
			continue
		}
		*v.field = v.value
		c.loaded.origins[v.key] = origin
	}
}

// TemporalSet reports whether anything but the default names a Temporal server; the embedded stack
// then uses that server and starts none.
func (c *Config) TemporalSet() bool {
	_, ok := c.loaded.origins["temporal.address"]
	return ok
}

// TemporalOptions are the options of a client of the configured Temporal server, with the TLS, API
// key and metadata that Temporal's own variables and profile define. They hold no logger and no
// metrics handler yet.
func (c *Config) TemporalOptions() (client.Options, error) {
	if c.loaded.embedded {
		return client.Options{HostPort: c.Temporal.Address, Namespace: c.Temporal.Namespace}, nil
	}
	prof, err := c.temporalProfile()
	if err != nil {
		return client.Options{}, err
	}
	prof.Address, prof.Namespace = c.Temporal.Address, c.Temporal.Namespace
	return prof.ToClientOptions(envconfig.ToClientOptionsRequest{})
}

func (c *Config) temporalProfile() (envconfig.ClientConfigProfile, error) {
	env := temporalEnv{lookup: c.lookupEnv, environ: c.loaded.environ}
	if path, _ := c.lookupEnv("TEMPORAL_API_KEY_FILE"); path != "" {
		key, err := readSecret(path)
		if err != nil {
			return envconfig.ClientConfigProfile{}, err
		}
		env.apiKey = key
	}
	return envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{EnvLookup: env})
}

// temporalEnv is the environment as envconfig reads it: a variable that is empty counts as unset,
// and the API key may come from a file.
type temporalEnv struct {
	lookup  func(string) (string, bool)
	environ func() []string
	apiKey  string
}

func (e temporalEnv) Environ() []string {
	if e.environ == nil {
		return os.Environ()
	}
	return e.environ()
}

func (e temporalEnv) LookupEnv(name string) (string, bool) {
	v, _ := e.lookup(name)
	if v == "" && name == "TEMPORAL_API_KEY" {
		v = e.apiKey
	}
	return v, v != ""
}
