package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/model"
)

const secretive = `models:
- id: v/m
  api: openai-chat
  baseUrl: https://h/v1
  contextWindow: 1000
  apiKeyEnv: V_KEY
  headers: {X-Auth: hush}
nats: {url: 'nats://u:hush@one:4222,nats://two:4222'}
redis: {url: 'redis://:hush@h:6379/0'}
`

// No rendering of a configuration shows a secret.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	c := load(t, secretive, map[string]string{"V_KEY": "hush"}, nil)
	data, err := json.Marshal(c)
	require.NoError(t, err)
	for _, text := range []string{c.String(), string(data), fmt.Sprintf("%v %+v %#v %s", c, c, c, c), fmt.Sprint(c.Effective())} {
		require.NotContains(t, text, "hush")
	}
	require.Equal(t, "nats://****@one:4222,nats://two:4222", setting(t, c, "nats.url").Value)
	require.Equal(t, "redis://****@h:6379/0", setting(t, c, "redis.url").Value)
	require.Equal(t, config.Mask, setting(t, c, "models[0].headers.X-Auth").Value)
}

// What Effective prints can be written into a file, a variable or a flag again.
func TestEffectiveValuesReadBack(t *testing.T) {
	t.Parallel()
	c := load(t, "compaction: {reserveTokens: 7, quietFor: 90m}\nretry: {enabled: false}\n", nil, nil)
	env, flags := map[string]string{}, map[string]string{}
	for _, s := range c.Effective() {
		if strings.HasPrefix(s.Key, "stores.") {
			continue
		}
		env[config.EnvName(s.Key)] = s.Value
		if s.Value != "" {
			flags[s.Key] = s.Value
		}
	}
	values := func(c *config.Config) map[string]string {
		m := map[string]string{}
		for _, s := range c.Effective() {
			m[s.Key] = s.Value
		}
		return m
	}
	require.Empty(t, cmp.Diff(values(c), values(load(t, "", env, nil))))
	require.Empty(t, cmp.Diff(values(c), values(load(t, "", nil, flags))))
}

func TestOriginsNameTheirPlace(t *testing.T) {
	t.Parallel()
	c := load(t, secretive, nil, nil)
	for key, want := range map[string]string{
		"models[0].contextWindow": "file recap.yaml:5", "redis.url": "file recap.yaml:9", "log.level": "default", "models[0].maxTokensField": "default",
	} {
		require.Equal(t, want, strings.ReplaceAll(setting(t, c, key).Origin.String(), c.File(), "recap.yaml"))
	}
}

func TestReferenceDescribesEveryKey(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range config.Reference() {
		require.NotEmpty(t, k.Doc, k.Path)
		require.False(t, seen[k.Path], k.Path)
		seen[k.Path] = true
	}
	for path, env := range map[string]string{
		"dataDir": "RECAP_DATA_DIR", "compaction.keepRecentTokens": "RECAP_COMPACTION_KEEP_RECENT_TOKENS", "nats.url": "RECAP_NATS_URL",
		"retry.baseDelayMs": "RECAP_RETRY_BASE_DELAY_MS",
	} {
		require.True(t, seen[path])
		require.Equal(t, env, config.EnvName(path))
	}
	require.True(t, seen["models[].apiKeyEnv"])
	require.True(t, seen["stores.<name>.root"])
}

func TestConversions(t *testing.T) {
	t.Parallel()
	c := load(t, example, nil, map[string]string{"compaction.reserveTokens": "16384", "compaction.fileList": "flat"})
	reserve := 16384
	require.Empty(t, cmp.Diff(contract.Settings{
		KeepRecentTokens: 10000, ReserveTokens: &reserve, Threshold: "auto", FileList: "flat", ThinkingLevel: "high", QuietForMs: 600_000,
		MinSourceTokens: 2000,
	}, c.OperationSettings()))
	require.Equal(t, contract.Retry{Enabled: true, MaxRetries: 10, BaseDelayMs: 500, MaxWaitMs: 6 * 3600 * 1000}, c.Retry.Contract())
	require.Empty(t, cmp.Diff([]contract.Candidate{
		{ID: "anthropic/claude-sonnet-5-5", API: "anthropic-messages", ContextWindow: 200000, MaxOutputTokens: 32000, TotalTimeoutMs: 900_000},
		{ID: config.ExtractiveID, API: config.APIExtractive, ContextWindow: config.ExtractiveWindow, TotalTimeoutMs: 900_000},
	}, c.Candidates()))

	m, ok := c.Model("anthropic/claude-sonnet-5-5")
	require.True(t, ok)
	client := c.Client(m)
	require.Equal(t, "claude-sonnet-5-5", client.Model)
	require.Equal(t, model.Timeouts{Connect: 10 * time.Second, FirstByte: 2 * time.Minute, Idle: time.Minute, Total: 15 * time.Minute}, client.Timeouts)
	require.Nil(t, load(t, "", nil, nil).Compaction.Settings().ReserveTokens, "unset is not the same as 16384")
}

// A key is resolved at every call, so that a rotated one is picked up.
func TestKeysAreReadAtEachCall(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	write := func(key string) { require.NoError(t, os.WriteFile(path, []byte(key), 0o600)) }
	env := map[string]string{}
	byEnv := load(t, secretive, nil, nil)
	_, err := byEnv.Client(byEnv.Models[0]).Key()
	var se *config.SecretError
	require.ErrorAs(t, err, &se)
	require.EqualError(t, err, "secret: environment variable V_KEY is not set: set it, or V_KEY_FILE")

	src := sources(t, strings.Replace(secretive, "apiKeyEnv: V_KEY", "apiKeyFile: "+path, 1), env, nil)
	byFile, err := config.Load(src)
	require.NoError(t, err, "a key file is read only when the key is needed")
	key := byFile.Client(byFile.Models[0]).Key
	_, err = key()
	require.ErrorAs(t, err, &se)
	write("one\n")
	got, err := key()
	require.NoError(t, err)
	require.Equal(t, "one", got)
	write("two")
	got, err = key()
	require.NoError(t, err)
	require.Equal(t, "two", got)
	write("\n")
	_, err = key()
	require.ErrorAs(t, err, &se)

	write("three")
	both := load(t, secretive, map[string]string{"V_KEY_FILE": path}, nil)
	got, err = both.Client(both.Models[0]).Key()
	require.NoError(t, err)
	require.Equal(t, "three", got)
}

func TestExtractiveIsAlwaysThereButAskedOnlyWhereNamed(t *testing.T) {
	t.Parallel()
	c := load(t, "", nil, nil)
	m, ok := c.Model(config.ExtractiveID)
	require.True(t, ok)
	require.Equal(t, config.APIExtractive, m.API)
	require.Empty(t, c.Compaction.Model)
	key, err := c.Client(m).Key()
	require.NoError(t, err)
	require.Empty(t, key)
}

func TestEmbeddedAsksExtractiveOnlyWithoutModels(t *testing.T) {
	t.Parallel()
	c := load(t, "", map[string]string{"TEMPORAL_API_KEY": "hush"}, nil)
	e := c.Embedded("127.0.0.1:1234", "default", "nats://127.0.0.1:5")
	require.Equal(t, []string{config.ExtractiveID}, e.Compaction.Model)
	require.Equal(t, "nats://127.0.0.1:5", e.NATS.URL)
	require.Empty(t, c.Compaction.Model, "the configuration it was made from stays")
	o, err := e.TemporalOptions()
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:1234", o.HostPort)
	require.Nil(t, o.Credentials, "a key for another server is not sent to this one")

	require.Equal(t, []string{"anthropic/claude-sonnet-5-5"}, load(t, example, nil, nil).Embedded("a:1", "n", "nats://h").Compaction.Model)
}

func TestTemporalProfileAndKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	toml := filepath.Join(dir, "temporal.toml")
	require.NoError(t, os.WriteFile(toml, []byte("[profile.default]\naddress = \"d:7233\"\n[profile.prod]\naddress = \"p:7233\"\nnamespace = \"np\"\n"), 0o600))
	key := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(key, []byte("hush\n"), 0o600))
	with := func(more map[string]string) map[string]string {
		more["TEMPORAL_CONFIG_FILE"] = toml
		return more
	}

	c := load(t, "", with(map[string]string{}), nil)
	require.Equal(t, "d:7233", c.Temporal.Address)
	require.True(t, c.TemporalSet())
	c = load(t, "temporal: {address: 'f:7233'}\n", with(map[string]string{}), nil)
	require.Equal(t, "f:7233", c.Temporal.Address, "recap's file beats Temporal's")
	c = load(t, "temporal: {address: 'f:7233'}\n", with(map[string]string{"TEMPORAL_PROFILE": "prod"}), nil)
	require.Equal(t, config.Temporal{Address: "p:7233", Namespace: "np"}, c.Temporal, "a profile named by the environment beats a file")
	c = load(t, "", with(map[string]string{"TEMPORAL_PROFILE": "prod", "TEMPORAL_ADDRESS": "e:7233"}), map[string]string{"temporal.namespace": "flag"})
	require.Equal(t, config.Temporal{Address: "e:7233", Namespace: "flag"}, c.Temporal)

	c = load(t, "", with(map[string]string{"TEMPORAL_API_KEY_FILE": key}), nil)
	o, err := c.TemporalOptions()
	require.NoError(t, err)
	require.NotNil(t, o.Credentials)
	require.NotNil(t, o.ConnectionOptions.TLS, "a key means TLS")

	require.Equal(t, []string{"TEMPORAL_*: temporal: unable to find profile none in config data"},
		problems(t, "", with(map[string]string{"TEMPORAL_PROFILE": "none"}), nil))
	require.Equal(t, []string{"TEMPORAL_*: temporal: secret file /none: no such file or directory"},
		problems(t, "", with(map[string]string{"TEMPORAL_API_KEY_FILE": "/none"}), nil))
}

func TestTLSFilesAreCheckedWithTheOptions(t *testing.T) {
	t.Parallel()
	c := load(t, "", map[string]string{"TEMPORAL_TLS_CLIENT_CERT_PATH": "/none"}, nil)
	_, err := c.TemporalOptions()
	require.ErrorContains(t, err, "client cert")
}
