package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"recap/internal/config/settings"
)

// Sources are the places a configuration comes from.
type Sources struct {
	// File is the configuration file. "" means RECAP_CONFIG, else recap.yaml in the working folder
	// if there is one; a file that is named must exist.
	File string
	// LookupEnv reads the environment; nil means os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Environ lists the environment, for TEMPORAL_GRPC_META_*; nil means os.Environ, or nothing when
	// LookupEnv is given.
	Environ func() []string
	// Flags maps dotted keys to the values of flags that were given, as a person typed them.
	Flags map[string]string
	// Home is what ~ stands for; "" means os.UserHomeDir.
	Home string
}

// loaded is what Load remembers beside the values.
type loaded struct {
	file    string
	origins map[string]Origin
	lookup  func(string) (string, bool)
	environ func() []string
	// embedded says that the servers are those of the embedded stack: no TLS, no key.
	embedded bool
	notes    []settings.Note
	unknown  []string // keys of settings files that are the agent's own
}

// Load reads, merges and checks the configuration. The error is a *Error that lists every problem.
func Load(src Sources) (*Config, error) {
	if src.Environ == nil && src.LookupEnv != nil {
		src.Environ = func() []string { return nil }
	}
	if src.LookupEnv == nil {
		src.LookupEnv = os.LookupEnv
	}
	c := Default()
	c.loaded = loaded{origins: map[string]Origin{}, lookup: src.LookupEnv, environ: src.Environ}
	p := &problems{}

	src.readFile(c, p)
	src.readEnv(c, p)
	src.readFlags(c, p)
	src.readSettings(c, src.home(), p)
	c.loadTemporal(p)
	c.fill(src.home(), p)
	c.check(p)
	if err := p.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// File is the path of the configuration file that was read, "" if there was none.
func (c *Config) File() string { return c.loaded.file }

// lookupEnv reads the environment the configuration was loaded from.
func (c *Config) lookupEnv(name string) (string, bool) {
	if c.loaded.lookup == nil {
		return os.LookupEnv(name)
	}
	return c.loaded.lookup(name)
}

func (s Sources) home() string {
	if s.Home != "" {
		return s.Home
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

func (s Sources) readFile(c *Config, p *problems) {
	path, named := s.File, s.File != ""
	if !named {
		path, named = s.LookupEnv("RECAP_CONFIG")
		named = named && path != ""
	}
	if !named {
		path = DefaultFile
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return
	}
	if err != nil {
		p.add(path, "", "cannot be read: %v", reason(err))
		return
	}
	c.loaded.file = path
	c.migrateFile(decodeYAML(path, data, c, p), p)
}

// readEnv sets every key that has a variable in the environment. Variables that merely look like
// ours are left alone: orchestrators put RECAP_… names of their own into the environment of a
// service called recap.
func (s Sources) readEnv(c *Config, p *problems) {
	for _, k := range scalarKeys(reflect.ValueOf(c).Elem(), "") {
		value, origin, ok := s.envValue(k, p)
		if !ok {
			continue
		}
		if err := setText(k.value, value); err != nil {
			p.add(origin.Detail, k.path, "%v", err)
			continue
		}
		c.loaded.origins[k.path] = origin
		c.forgetRetired(k.path)
	}
}

// envValue reads the variable of a key: our own name before the ecosystem's, and for a secret also
// the file that NAME_FILE names. A variable that is set but empty counts as unset.
func (s Sources) envValue(k key, p *problems) (string, Origin, bool) {
	for _, name := range k.envNames() {
		if v, ok := s.LookupEnv(name); ok && v != "" {
			return v, Origin{Kind: FromEnv, Detail: name}, true
		}
		if k.secret == "" {
			continue
		}
		path, ok := s.LookupEnv(name + "_FILE")
		if !ok || path == "" {
			continue
		}
		v, err := readSecret(path)
		if err != nil {
			p.add(name+"_FILE", k.path, "%v", err)
			return "", Origin{}, false
		}
		return v, Origin{Kind: FromEnv, Detail: name + "_FILE"}, true
	}
	return "", Origin{}, false
}

func (s Sources) readFlags(c *Config, p *problems) {
	keys := map[string]key{}
	for _, k := range scalarKeys(reflect.ValueOf(c).Elem(), "") {
		keys[k.path] = k
	}
	for path, value := range s.Flags {
		k, ok := keys[path]
		if !ok {
			p.add("--"+path, path, "is no key of the configuration")
			continue
		}
		if err := setText(k.value, value); err != nil {
			p.add("--"+path, path, "%v", err)
			continue
		}
		c.loaded.origins[path] = Origin{Kind: FromFlag, Detail: "--" + path}
		c.forgetRetired(path)
	}
}

// expand replaces a leading ~ by the home folder.
func expand(path, home string) string {
	if home == "" {
		return path
	}
	if path == "~" {
		return home
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return path
}

// readSecret reads a secret file without the newline editors put at its end.
func readSecret(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", &SecretError{File: path, Err: reason(err)}
	}
	secret := strings.TrimRight(string(data), "\r\n")
	if secret == "" {
		return "", &SecretError{File: path, Err: errEmpty}
	}
	return secret, nil
}

// reason is the cause of a file error without the path, which the caller names already.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
