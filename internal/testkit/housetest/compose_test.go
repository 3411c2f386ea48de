package housetest

import (
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/testkit/repo"
)

// compose is what the tests read of docker-compose.yml, with variables of .env filled in.
type compose struct {
	Networks map[string]any     `yaml:"networks"`
	Volumes  map[string]any     `yaml:"volumes"`
	Services map[string]service `yaml:"services"`
}

type service struct {
	Image       string                       `yaml:"image"`
	Profiles    []string                     `yaml:"profiles"`
	Networks    []string                     `yaml:"networks"`
	Restart     string                       `yaml:"restart"`
	DependsOn   map[string]map[string]string `yaml:"depends_on"`
	Environment map[string]string            `yaml:"environment"`
	Ports       []string                     `yaml:"ports"`
	Volumes     []string                     `yaml:"volumes"`
	Command     []string                     `yaml:"command"`
	Entrypoint  []string                     `yaml:"entrypoint"`
	User        string                       `yaml:"user"`
	ReadOnly    bool                         `yaml:"read_only"`
	CapDrop     []string                     `yaml:"cap_drop"`
	StopGrace   string                       `yaml:"stop_grace_period"`
	Healthcheck *struct {
		Test []string `yaml:"test"`
	} `yaml:"healthcheck"`
	Build *struct {
		Context    string            `yaml:"context"`
		Dockerfile string            `yaml:"dockerfile"`
		Args       map[string]string `yaml:"args"`
	} `yaml:"build"`
}

var variable = regexp.MustCompile(`\$\{([A-Z_]+)\}`)

// dotEnv reads .env as Compose does: NAME=value lines and comments.
func dotEnv(t *testing.T) map[string]string {
	t.Helper()
	vars := map[string]string{}
	for line := range strings.Lines(repo.Read(t, ".env")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		require.True(t, ok, ".env: %q is no NAME=value", line)
		require.NotContains(t, vars, name, ".env names %s twice", name)
		vars[name] = value
	}
	return vars
}

func load(t *testing.T) compose {
	t.Helper()
	vars := dotEnv(t)
	text := variable.ReplaceAllStringFunc(repo.Read(t, "docker-compose.yml"), func(m string) string {
		value, ok := vars[variable.FindStringSubmatch(m)[1]]
		require.True(t, ok, "docker-compose.yml uses %s, which .env does not set", m)
		return value
	})
	var c compose
	require.NoError(t, yaml.Unmarshal([]byte(text), &c))
	require.NotEmpty(t, c.Services)
	return c
}

// published splits a port mapping into what is reachable outside and the container's port.
func published(t *testing.T, mapping string) (host, outside, inside string) {
	t.Helper()
	parts := strings.Split(mapping, ":")
	require.Len(t, parts, 3, "port %q is not address:outside:inside", mapping)
	return parts[0], parts[1], parts[2]
}

// mount splits a volume mapping.
func mount(t *testing.T, mapping string) (source, target string) {
	t.Helper()
	parts := strings.Split(mapping, ":")
	require.GreaterOrEqual(t, len(parts), 2, "volume %q", mapping)
	return parts[0], parts[1]
}

// workerConfig loads the worker's configuration as its container would: the mounted file and the
// environment of the service, without the names in drop.
func workerConfig(t *testing.T, c compose, drop ...string) *config.Config {
	t.Helper()
	env := maps.Clone(c.Services["worker"].Environment)
	for _, name := range append(drop, "RECAP_CONFIG") {
		delete(env, name)
	}
	cfg, err := config.Load(config.Sources{
		File:      filepath.Join(repo.Root(t), "deploy", "recap.yaml"),
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Home:      "/nowhere",
	})
	require.NoError(t, err)
	return cfg
}

func TestComposeHasEveryPart(t *testing.T) {
	t.Parallel()
	c := load(t)
	require.Equal(t, []string{
		"grafana", "nats", "postgresql", "prometheus", "redis", "temporal", "temporal-namespace", "temporal-schema", "temporal-ui", "worker",
	}, slices.Sorted(maps.Keys(c.Services)))
	chosen := strings.Split(dotEnv(t)["COMPOSE_PROFILES"], ",")
	for name, s := range c.Services {
		require.Equal(t, []string{"recap"}, s.Networks, name)
		require.NotEmpty(t, s.Restart, name)
		require.Len(t, s.Profiles, 1, name)
		require.Contains(t, chosen, s.Profiles[0], "a plain `docker compose up` must start %s", name)
	}
}

func TestComposeVersionsArePinnedInDotEnv(t *testing.T) {
	t.Parallel()
	text, vars := repo.Read(t, "docker-compose.yml"), dotEnv(t)
	used := map[string]bool{"COMPOSE_PROFILES": true} // read by Compose itself
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
	}
	for name := range vars {
		require.True(t, used[name], ".env sets %s, which docker-compose.yml does not use", name)
	}
	for name, s := range load(t).Services {
		if s.Build != nil {
			continue
		}
		_, tag, ok := strings.Cut(s.Image, ":")
		require.True(t, ok, "%s: image %q has no tag", name, s.Image)
		require.Regexp(t, `^v?\d+\.\d+`, tag, "%s: image %q is not pinned", name, s.Image)
		require.Contains(t, text, "image: "+strings.TrimSuffix(s.Image, tag)+"${", "%s: the version belongs into .env", name)
	}
}

func TestComposeVersionsMatchTheModule(t *testing.T) {
	t.Parallel()
	vars, mod := dotEnv(t), repo.Read(t, "go.mod")
	nats := regexp.MustCompile(`nats-server/v2 v(\S+)`).FindStringSubmatch(mod)
	require.NotNil(t, nats)
	require.Equal(t, nats[1], strings.TrimSuffix(vars["NATS_VERSION"], "-alpine"), "the stack runs the NATS server that the tests embed")
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(mod)
	require.NotNil(t, goVersion)
	require.True(t, strings.HasPrefix(vars["GO_VERSION"], goVersion[1]+"."), "GO_VERSION %s is not Go %s", vars["GO_VERSION"], goVersion[1])
}

func TestComposeDependsOnWhatItCanWaitFor(t *testing.T) {
	t.Parallel()
	c := load(t)
	for name, s := range c.Services {
		for other, how := range s.DependsOn {
			require.Contains(t, c.Services, other, "%s depends on it", name)
			target := c.Services[other]
			switch how["condition"] {
			case "service_healthy":
				require.NotNil(t, target.Healthcheck, "%s waits for %s to be healthy, which has no health check", name, other)
			case "service_completed_successfully":
				require.NotEmpty(t, target.Entrypoint, "%s waits for %s to end", name, other)
				require.Contains(t, target.Restart, "on-failure:", "%s must not be tried for ever", other)
			default:
				t.Errorf("%s depends on %s: condition %q", name, other, how["condition"])
			}
		}
	}
}

func TestComposeVolumesExist(t *testing.T) {
	t.Parallel()
	c := load(t)
	used := map[string]bool{}
	for name, s := range c.Services {
		targets := map[string]bool{}
		for _, v := range s.Volumes {
			source, target := mount(t, v)
			require.False(t, targets[target], "%s mounts two volumes at %s", name, target)
			targets[target] = true
			switch {
			case strings.HasPrefix(source, "./"):
				_, err := os.Stat(filepath.Join(repo.Root(t), source))
				require.NoError(t, err, "%s mounts %s", name, source)
			case strings.HasPrefix(source, "~"):
			default:
				require.Contains(t, c.Volumes, source, "%s mounts it", name)
				used[source] = true
			}
		}
	}
	for name := range c.Volumes {
		require.True(t, used[name], "volume %s is not used", name)
	}
	for _, stateful := range []string{"postgresql", "nats", "redis", "prometheus", "grafana", "worker"} {
		require.True(t, slices.ContainsFunc(c.Services[stateful].Volumes, func(v string) bool { return !strings.ContainsAny(v[:1], "./~") }),
			"%s keeps its state in a named volume", stateful)
	}
}

// TestComposePortsAreTheConfiguredDefaults shows that a command line on the host, configured by
// nothing, reaches the stack.
func TestComposePortsAreTheConfiguredDefaults(t *testing.T) {
	t.Parallel()
	c, d := load(t), config.Default()
	outside := map[string]string{} // port outside → service:port inside
	for name, s := range c.Services {
		for _, p := range s.Ports {
			host, out, in := published(t, p)
			require.Equal(t, "127.0.0.1", host, "%s: %s is reachable from other machines", name, p)
			require.NotContains(t, outside, out, "port published twice")
			outside[out] = name + ":" + in
		}
	}
	natsURL, err := url.Parse(d.NATS.URL)
	require.NoError(t, err)
	require.Equal(t, "temporal:7233", outside[portOf(t, d.Temporal.Address)])
	require.Equal(t, "nats:4222", outside[natsURL.Port()])
	require.Equal(t, "worker:9464", outside[portOf(t, d.Worker.MetricsAddress)])
	require.Equal(t, "temporal-ui:8080", outside["8080"])
	require.Equal(t, "prometheus:9090", outside["9090"])
	require.Equal(t, "grafana:3000", outside["8085"])
	require.Equal(t, "redis:6379", outside["6379"])
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	i := strings.LastIndexByte(address, ':')
	require.Positive(t, i, address)
	return address[i+1:]
}

// TestComposeWorkerIsConfiguredByItsEnvironment loads the worker's configuration as its container
// would and follows every address to the service behind it.
func TestComposeWorkerIsConfiguredByItsEnvironment(t *testing.T) {
	t.Parallel()
	c := load(t)
	worker := c.Services["worker"]
	cfg := workerConfig(t, c)

	require.Equal(t, "temporal:7233", cfg.Temporal.Address)
	require.Equal(t, config.DefaultTemporalNamespace, cfg.Temporal.Namespace)
	require.Equal(t, cfg.Temporal.Namespace, c.Services["temporal-namespace"].Environment["TEMPORAL_NAMESPACE"])
	require.Equal(t, "nats://nats:4222", cfg.NATS.URL)
	require.Equal(t, "redis://redis:6379", cfg.Redis.URL)
	require.Equal(t, "0.0.0.0:"+portOf(t, config.DefaultMetricsAddress), cfg.Worker.MetricsAddress)
	require.Equal(t, "json", cfg.Log.Format)
	require.NotEmpty(t, cfg.Compaction.Model, "the stack works without a key")

	// A variable that changes nothing is misspelt, or does not belong there. The namespace is named
	// although it is the default, because the set-up script is given the same name.
	for name := range worker.Environment {
		if name == "RECAP_CONFIG" || name == "TEMPORAL_NAMESPACE" {
			continue
		}
		without := workerConfig(t, c, name)
		require.NotEqual(t, values(cfg), values(without), "the worker does not read %s", name)
	}
}

// values are the settings that the environment of a service can change.
func values(c *config.Config) []any {
	return []any{c.DataDir, c.Tenant, c.Compaction, c.Retry, c.Blob, c.Temporal, c.NATS, c.Redis, c.Worker, c.Log}
}

func TestComposeWorkerWritesOnlyToItsVolumes(t *testing.T) {
	t.Parallel()
	c := load(t)
	worker, cfg := c.Services["worker"], workerConfig(t, c)
	require.True(t, worker.ReadOnly)
	require.Equal(t, []string{"ALL"}, worker.CapDrop)
	require.NotEmpty(t, worker.User)
	require.False(t, strings.HasPrefix(worker.User, "0:") || worker.User == "root", "the worker runs as root")

	targets := map[string]string{}
	for _, v := range worker.Volumes {
		source, target := mount(t, v)
		targets[target] = source
	}
	require.Equal(t, "recap-data", targets[cfg.DataDir])
	require.Equal(t, cfg.DataDir, path.Dir(cfg.Blob.Root), "blobs lie in the data volume")
	require.Equal(t, "./deploy/recap.yaml", targets[worker.Environment["RECAP_CONFIG"]])
	for name, s := range cfg.Stores {
		require.Contains(t, targets, s.Root, "store %s", name)
	}
	require.Equal(t, config.DefaultStoreRoot, targets[cfg.Stores[config.DefaultStore].Root], "the host's sessions lie where the configuration's default looks")

	dockerfile := repo.Read(t, worker.Build.Dockerfile)
	require.Contains(t, dockerfile, cfg.DataDir, "the image creates the folder, so that the volume has an owner")
	for arg := range worker.Build.Args {
		require.Contains(t, dockerfile, "ARG "+arg)
	}
}

func TestComposeWorkerStopsGracefullyAndReportsItsHealth(t *testing.T) {
	t.Parallel()
	c := load(t)
	worker := c.Services["worker"]
	grace, err := time.ParseDuration(worker.StopGrace)
	require.NoError(t, err)
	require.Greater(t, grace, workerConfig(t, c).Worker.DrainTimeout, "the engine kills the worker before it has drained")
	require.Equal(t, []string{"CMD", "recap-worker", "healthcheck"}, worker.Healthcheck.Test)
}

// TestComposeSetUpKnowsTheSearchAttributes compares the set-up script with what workflows use.
func TestComposeSetUpKnowsTheSearchAttributes(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile(`(?m)^attributes="([^"]*)"$`).FindStringSubmatch(repo.Read(t, "deploy/temporal/namespace.sh"))
	require.NotNil(t, m)
	require.ElementsMatch(t, []string{
		contract.AttrTenant, contract.AttrSession, contract.AttrTrigger, contract.AttrState, contract.AttrReason, contract.AttrOperation,
	}, strings.Fields(m[1]))
}

func TestComposePartsKeepState(t *testing.T) {
	t.Parallel()
	c := load(t)
	require.Equal(t, []string{"-js", "-sd", "/data", "-m", "8222"}, c.Services["nats"].Command)
	redis := strings.Join(c.Services["redis"].Command, " ")
	require.Contains(t, redis, "--appendonly yes")
	require.Contains(t, redis, "--maxmemory-policy noeviction")
	require.Equal(t, "postgres12", c.Services["temporal"].Environment["DB"])
	require.Equal(t, c.Services["postgresql"].Environment["POSTGRES_PASSWORD"], c.Services["temporal"].Environment["POSTGRES_PWD"])
	require.Equal(t, c.Services["postgresql"].Environment["POSTGRES_PASSWORD"], c.Services["temporal-schema"].Environment["SQL_PASSWORD"])
}
