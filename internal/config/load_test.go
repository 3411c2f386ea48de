package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/config"
)

// sources reads yaml with nothing but the given environment.
func sources(t *testing.T, yaml string, env map[string]string, flags map[string]string) config.Sources {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "recap.yaml")
	require.NoError(t, os.WriteFile(path, []byte(yaml), 0o600))
	all := map[string]string{"TEMPORAL_CONFIG_FILE": filepath.Join(dir, "none.toml")}
	for k, v := range env {
		all[k] = v
	}
	return config.Sources{
		File: path, Home: "/home/ada", Flags: flags,
		LookupEnv: func(name string) (string, bool) { v, ok := all[name]; return v, ok },
	}
}

func load(t *testing.T, yaml string, env map[string]string, flags map[string]string) *config.Config {
	t.Helper()
	c, err := config.Load(sources(t, yaml, env, flags))
	require.NoError(t, err)
	return c
}

// problems lists what is wrong, with the file named recap.yaml.
func problems(t *testing.T, yaml string, env map[string]string, flags map[string]string) []string {
	t.Helper()
	src := sources(t, yaml, env, flags)
	_, err := config.Load(src)
	var ce *config.Error
	require.ErrorAs(t, err, &ce)
	var list []string
	for _, p := range ce.Problems {
		list = append(list, strings.ReplaceAll(p.String(), src.File, "recap.yaml"))
	}
	return list
}

const example = `# recap.yaml
dataDir: .recap
stores:
  local: {driver: jsonl, root: ~/.pi/agent/sessions}
models:
  - id: anthropic/claude-sonnet-5-5
    api: anthropic-messages            # openai-chat, anthropic-messages, extractive
    baseUrl: https://api.anthropic.com
    apiKeyEnv: ANTHROPIC_API_KEY       # or apiKeyFile
    contextWindow: 200000
    maxOutputTokens: 32000
    timeouts: {connect: 10s, firstByte: 120s, idle: 60s, total: 15m}
compaction: {model: [anthropic/claude-sonnet-5-5], keepRecentTokens: 10000, threshold: auto}
retry: {enabled: true, maxRetries: 10, baseDelayMs: 500}
`

func TestExampleOfTheDesignLoads(t *testing.T) {
	t.Parallel()
	c := load(t, example, nil, nil)
	require.Equal(t, config.Store{Driver: "jsonl", Root: "/home/ada/.pi/agent/sessions"}, c.Stores["local"])
	require.Equal(t, filepath.Join(".recap", "blobs"), c.Blob.Root)
	want := config.Model{
		ID: "anthropic/claude-sonnet-5-5", API: "anthropic-messages", BaseURL: "https://api.anthropic.com", Model: "claude-sonnet-5-5",
		APIKeyEnv: "ANTHROPIC_API_KEY", ContextWindow: 200000, MaxOutputTokens: 32000,
		Timeouts: config.Timeouts{Connect: 10 * time.Second, FirstByte: 2 * time.Minute, Idle: time.Minute, Total: 15 * time.Minute},
	}
	require.Empty(t, cmp.Diff([]config.Model{want}, c.Models))
	require.Equal(t, config.Retry{Enabled: true, MaxRetries: 10, BaseDelayMs: 500, MaxDelayMs: 300_000, MaxWait: 6 * time.Hour}, c.Retry)
}

func TestNoFileMeansDefaults(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	c, err := config.Load(config.Sources{LookupEnv: func(string) (string, bool) { return "", false }, Home: dir})
	require.NoError(t, err)
	require.Equal(t, config.DefaultDataDir, c.DataDir)
	require.Equal(t, config.DefaultNATSURL, c.NATS.URL)
	require.Empty(t, c.File())
	require.False(t, c.TemporalSet())

	require.NoError(t, os.WriteFile("recap.yaml", []byte("tenant: acme\n"), 0o600))
	c, err = config.Load(config.Sources{LookupEnv: func(string) (string, bool) { return "", false }, Home: dir})
	require.NoError(t, err)
	require.Equal(t, "acme", c.Tenant, "recap.yaml of the working folder is read")
}

func TestNamedFileMustExist(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]config.Sources{
		"flag": {File: "/none/such.yaml", LookupEnv: func(string) (string, bool) { return "", false }},
		"RECAP_CONFIG": {LookupEnv: func(name string) (string, bool) {
			return "/none/such.yaml", name == "RECAP_CONFIG"
		}},
	} {
		_, err := config.Load(src)
		require.ErrorContains(t, err, "/none/such.yaml: cannot be read: no such file", name)
	}
}

func TestEmptyFileMeansDefaults(t *testing.T) {
	t.Parallel()
	for _, yaml := range []string{"", "\n\n", "# nothing\n", "---\n", "compaction:\n", "null\n"} {
		require.Equal(t, config.DefaultTenant, load(t, yaml, nil, nil).Tenant, "%q", yaml)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	const key = "compaction.keepRecentTokens"
	yaml := "compaction:\n  keepRecentTokens: 2\n"
	env := map[string]string{"RECAP_COMPACTION_KEEP_RECENT_TOKENS": "3"}
	flags := map[string]string{key: "4"}
	for name, tt := range map[string]struct {
		c      *config.Config
		want   int
		origin string
	}{
		"default": {load(t, "", nil, nil), 10000, "default"},
		"file":    {load(t, yaml, nil, nil), 2, "file recap.yaml:2"},
		"env":     {load(t, yaml, env, nil), 3, "env RECAP_COMPACTION_KEEP_RECENT_TOKENS"},
		"flag":    {load(t, yaml, env, flags), 4, "flag --" + key},
	} {
		require.Equal(t, tt.want, tt.c.Compaction.KeepRecentTokens, name)
		require.Equal(t, tt.origin, strings.ReplaceAll(setting(t, tt.c, key).Origin.String(), tt.c.File(), "recap.yaml"), name)
	}
}

func setting(t *testing.T, c *config.Config, key string) config.Setting {
	t.Helper()
	for _, s := range c.Effective() {
		if s.Key == key {
			return s
		}
	}
	t.Fatalf("no setting %s", key)
	return config.Setting{}
}

func TestEcosystemVariables(t *testing.T) {
	t.Parallel()
	c := load(t, "nats: {url: nats://file:4222}\n", map[string]string{
		"NATS_URL": "nats://one:4222, nats://two:4222", "REDIS_URL": "redis://r:6379/1", "TEMPORAL_ADDRESS": "t:7233", "TEMPORAL_NAMESPACE": "prod",
	}, nil)
	require.Equal(t, "nats://one:4222, nats://two:4222", c.NATS.URL)
	require.Equal(t, "redis://r:6379/1", c.Redis.URL)
	require.Equal(t, config.Temporal{Address: "t:7233", Namespace: "prod"}, c.Temporal)
	require.True(t, c.TemporalSet())

	c = load(t, "", map[string]string{"NATS_URL": "nats://theirs:4222", "RECAP_NATS_URL": "nats://ours:4222"}, nil)
	require.Equal(t, "nats://ours:4222", c.NATS.URL, "recap's own variable is the more specific one")
	c = load(t, "tenant: acme\n", map[string]string{"RECAP_TENANT": ""}, nil)
	require.Equal(t, "acme", c.Tenant, "an empty variable counts as unset")
	load(t, "", map[string]string{"RECAP_SERVICE_HOST": "10.0.0.1", "RECAP_PORT": "tcp://10.0.0.1:80"}, nil) // what an orchestrator adds
}

func TestSecretsByFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "nats")
	require.NoError(t, os.WriteFile(path, []byte("nats://u:hush@n:4222\n"), 0o600))
	c := load(t, "", map[string]string{"NATS_URL_FILE": path}, nil)
	require.Equal(t, "nats://u:hush@n:4222", c.NATS.URL)
	require.Equal(t, "env NATS_URL_FILE", setting(t, c, "nats.url").Origin.String())

	require.Equal(t, []string{"NATS_URL_FILE: nats.url: secret file /none: no such file or directory"},
		problems(t, "", map[string]string{"NATS_URL_FILE": "/none"}, nil))
}

// Every kind of mistake, each with the place it is in.
func TestProblems(t *testing.T) {
	t.Parallel()
	model := func(more string) string {
		return "models:\n- id: v/m\n  api: openai-chat\n  baseUrl: http://h\n  contextWindow: 1000\n" + more
	}
	tests := map[string]struct {
		yaml  string
		env   map[string]string
		flags map[string]string
		want  []string
	}{
		"unknown key":            {yaml: "a: 1\n", want: []string{"recap.yaml:1: a: unknown key"}},
		"unknown nested key":     {yaml: "retry:\n  max: 1\n", want: []string{"recap.yaml:2: retry.max: unknown key"}},
		"mistyped key":           {yaml: "compaction: {keepRecentToken: 1}\n", want: []string{"recap.yaml:1: compaction.keepRecentToken: unknown key (did you mean keepRecentTokens?)"}},
		"wrong case":             {yaml: "datadir: x\n", want: []string{"recap.yaml:1: datadir: unknown key (did you mean dataDir?)"}},
		"unknown key of a model": {yaml: model("  apiKey: hush\n"), want: []string{"recap.yaml:6: models[0].apiKey: unknown key"}},
		"unknown key of a store": {yaml: "stores:\n  a:\n    driver: jsonl\n    root: /s\n    path: /s\n", want: []string{"recap.yaml:5: stores.a.path: unknown key"}},
		"no YAML":                {yaml: "tenant: [\n", want: []string{"recap.yaml:1: is no valid YAML: sequence end token ']' not found"}},
		"duplicate key":          {yaml: "tenant: a\ntenant: b\n", want: []string{`recap.yaml:2: is no valid YAML: mapping key "tenant" already defined at [1:1]`}},
		"two documents":          {yaml: "tenant: a\n---\ntenant: b\n", want: []string{"recap.yaml:3: a second document: recap.yaml holds one"}},
		"no mapping":             {yaml: "- a\n", want: []string{"recap.yaml:1: document must be a mapping of keys to values, is a list"}},
		"scalar for a section":   {yaml: "retry: 7\n", want: []string{"recap.yaml:1: retry must be a mapping of keys to values, is a single value"}},
		"mapping for a value":    {yaml: "tenant: {a: b}\n", want: []string{"recap.yaml:1: tenant: must be a single value, is a mapping"}},
		"mapping for a list":     {yaml: "models: {a: b}\n", want: []string{"recap.yaml:1: models: must be a list, is a mapping"}},
		"unknown alias":          {yaml: "tenant: *nobody\n", want: []string{"recap.yaml:1: tenant: must be a single value, is an anchor or alias that leads nowhere"}},
		"merge key":              {yaml: "retry:\n  <<: {maxRetries: 1}\n", want: []string{"recap.yaml:2: retry: merge keys (<<) are not supported: repeat the keys"}},
		"no number":              {yaml: "retry: {maxRetries: many}\n", want: []string{`recap.yaml:1: retry.maxRetries: "many" is no whole number`}},
		"no bool":                {yaml: "retry: {enabled: maybe}\n", want: []string{`recap.yaml:1: retry.enabled: "maybe" is neither true nor false`}},
		"no duration":            {yaml: "retry: {maxWait: soon}\n", want: []string{`recap.yaml:1: retry.maxWait: "soon" is no duration (examples: 500ms, 10s, 15m, 6h)`}},
		"duration without unit":  {yaml: "retry: {maxWait: 30}\n", want: []string{"recap.yaml:1: retry.maxWait: 30 has no unit (examples: 500ms, 10s, 15m)"}},
		"bad variable":           {env: map[string]string{"RECAP_RETRY_MAX_RETRIES": "x"}, want: []string{`RECAP_RETRY_MAX_RETRIES: retry.maxRetries: "x" is no whole number`}},
		"bad flag":               {flags: map[string]string{"retry.maxRetries": "x"}, want: []string{`--retry.maxRetries: "x" is no whole number`}},
		"unknown flag":           {flags: map[string]string{"retry.no": "x"}, want: []string{"--retry.no: is no key of the configuration"}},
		"tenant":                 {yaml: "tenant: a/b\n", want: []string{`recap.yaml:1: tenant: "a/b" is no name: letters, digits, dot, underscore and dash, at most 63`}},
		"store name":             {yaml: "stores: {'a b': {driver: jsonl, root: /s}}\n", want: []string{`recap.yaml:1: stores.a b: "a b" is no name: letters, digits, dot, underscore and dash, at most 63`}},
		"store driver":           {yaml: "stores: {a: {driver: xml, root: /s}}\n", want: []string{`recap.yaml:1: stores.a.driver: "xml" is unknown (known: jsonl)`}},
		"store root":             {yaml: "stores: {a: {driver: jsonl}}\n", want: []string{"recap.yaml:1: stores.a.root: is missing"}},
		"no store":               {yaml: "stores: {}\n", want: []string{"recap.yaml:1: stores: no session store is configured"}},
		"model id":               {yaml: strings.Replace(model(""), "v/m", "m", 1), want: []string{`recap.yaml:2: models[0].id: "m" is not of the form provider/model`}},
		"model twice": {
			yaml: model("- id: v/m\n  api: extractive\n"), want: []string{"recap.yaml:6: models[1].id: v/m is configured already by models[0]"},
		},
		"model api":             {yaml: strings.Replace(model(""), "openai-chat", "soap", 1), want: []string{`recap.yaml:3: models[0].api: "soap" is unknown (known: openai-chat, anthropic-messages, extractive)`}},
		"model without url":     {yaml: strings.Replace(model(""), "  baseUrl: http://h\n", "", 1), want: []string{"recap.yaml:2: models[0].baseUrl: is missing"}},
		"model url":             {yaml: strings.Replace(model(""), "http://h", "h:80", 1), want: []string{"recap.yaml:4: models[0].baseUrl: is no URL of the form http://host"}},
		"key in a url":          {yaml: strings.Replace(model(""), "http://h", "http://u:hush@h", 1), want: []string{"recap.yaml:4: models[0].baseUrl: holds credentials: put the key into apiKeyEnv or apiKeyFile"}},
		"no window":             {yaml: strings.Replace(model(""), "1000", "0", 1), want: []string{"recap.yaml:5: models[0].contextWindow: must be at least 1, is 0"}},
		"output over window":    {yaml: model("  maxOutputTokens: 1000\n"), want: []string{"recap.yaml:6: models[0].maxOutputTokens: must be between 0 and the context window, is 1000"}},
		"two keys":              {yaml: model("  apiKeyEnv: A\n  apiKeyFile: /b\n"), want: []string{"recap.yaml:7: models[0].apiKeyFile: apiKeyEnv is set too: keep one of them"}},
		"field of tokens":       {yaml: model("  maxTokensField: max\n"), want: []string{`recap.yaml:6: models[0].maxTokensField: "max" is unknown (known: max_completion_tokens, max_tokens)`}},
		"negative timeout":      {yaml: model("  timeouts: {idle: -1s}\n"), want: []string{"recap.yaml:6: models[0].timeouts.idle: must not be negative, is -1s"}},
		"negative price":        {yaml: model("  price: {input: -1}\n"), want: []string{"recap.yaml:6: models[0].price.input: must not be negative, is -1"}},
		"price is no number":    {yaml: model("  price: {input: nan}\n"), want: []string{"recap.yaml:6: models[0].price.input: must not be negative, is NaN"}},
		"unknown candidate":     {yaml: "compaction: {model: [v/x]}\n", want: []string{"recap.yaml:1: compaction.model: v/x is not configured under models"}},
		"keep nothing":          {yaml: "compaction: {keepRecentTokens: 0}\n", want: []string{"recap.yaml:1: compaction.keepRecentTokens: must be at least 1, is 0"}},
		"negative reserve":      {yaml: "compaction: {reserveTokens: -1}\n", want: []string{"recap.yaml:1: compaction.reserveTokens: must not be negative, is -1"}},
		"threshold":             {yaml: "compaction: {threshold: 170k}\n", want: []string{`recap.yaml:1: compaction.threshold: "170k" is neither auto, reserve, a percentage nor a number of tokens`}},
		"file list":             {yaml: "compaction: {fileList: long}\n", want: []string{`recap.yaml:1: compaction.fileList: "long" is unknown (known: tree, flat)`}},
		"thinking level":        {yaml: "compaction: {thinkingLevel: deep}\n", want: []string{`recap.yaml:1: compaction.thinkingLevel: "deep" is unknown (known: off, minimal, low, medium, high, xhigh)`}},
		"no quiet":              {yaml: "compaction: {quietFor: 0s}\n", want: []string{"recap.yaml:1: compaction.quietFor: must be positive, is 0s"}},
		"too many retries":      {yaml: "retry: {maxRetries: 61}\n", want: []string{"recap.yaml:1: retry.maxRetries: must be between 0 and 60, is 61"}},
		"unknown strategy":      {yaml: "compaction: {strategy: verbatin}\n", want: []string{`recap.yaml:1: compaction.strategy: "verbatin" is unknown (known: summary)`}},
		"fallback strategy":     {yaml: "compaction: {modelFallbackStrategy: all}\n", want: []string{`recap.yaml:1: compaction.modelFallbackStrategy: "all" is unknown (known: auto, configured-only)`}},
		"nobody left":           {yaml: "compaction: {modelFallbackStrategy: configured-only}\n", want: []string{"recap.yaml:1: compaction.modelFallbackStrategy: configured-only leaves nobody to ask: compaction.model names no configured candidate"}},
		"negative window":       {yaml: "compaction: {modelContextWindow: -1}\n", want: []string{"recap.yaml:1: compaction.modelContextWindow: must not be negative, is -1"}},
		"remote endpoint":       {yaml: "compaction: {remoteEndpoint: 'ftp://u:hush@h'}\n", want: []string{"recap.yaml:1: compaction.remoteEndpoint: is no URL of the form http://host"}},
		"negative idle size":    {yaml: "compaction: {idleThresholdTokens: -1}\n", want: []string{"recap.yaml:1: compaction.idleThresholdTokens: must not be negative, is -1"}},
		"branch reserve":        {yaml: "branchSummary: {reserveTokens: -1}\n", want: []string{"recap.yaml:1: branchSummary.reserveTokens: must not be negative, is -1"}},
		"no bool of a section":  {yaml: "contextPromotion: {enabled: 7}\n", want: []string{`recap.yaml:1: contextPromotion.enabled: "7" is neither true nor false`}},
		"unknown display":       {yaml: "display: {collapse: true}\n", want: []string{"recap.yaml:1: display.collapse: unknown key"}},
		"gate of nothing":       {yaml: "gate: {minSourceTokens: 0}\n", want: []string{"recap.yaml:1: gate.minSourceTokens: must be at least 1, is 0"}},
		"retired, no number":    {yaml: "compaction: {thresholdTokens: many}\n", want: []string{`recap.yaml:1: compaction.thresholdTokens: "many" is no number`}},
		"retired, a list":       {yaml: "compaction: {thresholdTokens: [1]}\n", want: []string{"recap.yaml:1: compaction.thresholdTokens: must be a single value, is a list"}},
		"retired candidate":     {yaml: "compactionModel: v/x\n", want: []string{"recap.yaml:1: compaction.model: v/x is not configured under models"}},
		"settings file":         {yaml: "settings: /none/settings.json\n", want: []string{"recap.yaml:1: settings: /none/settings.json cannot be read: no such file or directory"}},
		"no delay":              {yaml: "retry: {baseDelayMs: 0}\n", want: []string{"recap.yaml:1: retry.baseDelayMs: must be at least 1, is 0"}},
		"negative wait":         {yaml: "retry: {maxWait: -1h}\n", want: []string{"recap.yaml:1: retry.maxWait: must not be negative, is -1h0m0s"}},
		"blob driver":           {yaml: "blob: {driver: s3}\n", want: []string{`recap.yaml:1: blob.driver: "s3" is unknown (known: file)`}},
		"temporal address":      {yaml: "temporal: {address: host}\n", want: []string{`recap.yaml:1: temporal.address: "host" is not host:port`}},
		"nats scheme":           {yaml: "nats: {url: 'http://u:hush@h'}\n", want: []string{"recap.yaml:1: nats.url: is no URL of the form nats://host"}},
		"nats certificate":      {yaml: "nats: {cert: /c}\n", want: []string{"recap.yaml:1: nats.cert: nats.cert and nats.key go together: one of them is missing"}},
		"nats age":              {yaml: "nats: {maxAge: 1m}\n", want: []string{"recap.yaml:1: nats.maxAge: must be at least 1h, is 1m0s"}},
		"nats replicas":         {yaml: "nats: {replicas: 6}\n", want: []string{"recap.yaml:1: nats.replicas: must be between 1 and 5, is 6"}},
		"redis scheme":          {yaml: "redis: {url: 'http://h'}\n", want: []string{"recap.yaml:1: redis.url: is no URL of the form redis://host"}},
		"metrics address":       {yaml: "worker: {metricsAddress: here}\n", want: []string{`recap.yaml:1: worker.metricsAddress: "here" is neither host:port nor off`}},
		"model calls":           {yaml: "worker: {modelCalls: 0}\n", want: []string{"recap.yaml:1: worker.modelCalls: must be at least 1, is 0"}},
		"drain":                 {yaml: "worker: {drainTimeout: 0s}\n", want: []string{"recap.yaml:1: worker.drainTimeout: must be positive, is 0s"}},
		"log level":             {yaml: "log: {level: loud}\n", want: []string{`recap.yaml:1: log.level: "loud" is unknown (known: debug, info, warn, error)`}},
		"log format":            {yaml: "log: {format: xml}\n", want: []string{`recap.yaml:1: log.format: "xml" is unknown (known: text, json)`}},
		"empty data folder":     {yaml: "dataDir: ''\n", want: []string{"recap.yaml:1: dataDir: is empty"}},
		"empty namespace":       {yaml: "temporal: {namespace: ''}\n", want: []string{"recap.yaml:1: temporal.namespace: is empty"}},
		"problem from variable": {env: map[string]string{"RECAP_LOG_LEVEL": "loud"}, want: []string{`RECAP_LOG_LEVEL: log.level: "loud" is unknown (known: debug, info, warn, error)`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := problems(t, tt.yaml, tt.env, tt.flags)
			require.Empty(t, cmp.Diff(tt.want, got))
			require.NotContains(t, strings.Join(got, ""), "hush", "a problem shows no secret")
		})
	}
}

func TestAllProblemsAreReportedTogether(t *testing.T) {
	t.Parallel()
	src := sources(t, "tenant: a/b\nretry: {max: 1, enabled: maybe}\nlog: {level: loud}\n",
		map[string]string{"RECAP_WORKER_MODEL_CALLS": "none"}, map[string]string{"nothing": "x"})
	_, err := config.Load(src)
	var ce *config.Error
	require.ErrorAs(t, err, &ce)
	var places []string
	for _, p := range ce.Problems {
		places = append(places, strings.ReplaceAll(p.Where, src.File, "recap.yaml"))
	}
	require.Equal(t, []string{"recap.yaml:1", "recap.yaml:2", "recap.yaml:2", "recap.yaml:3", "--nothing", "RECAP_WORKER_MODEL_CALLS"}, places)
	require.True(t, strings.HasPrefix(err.Error(), "configuration: 6 problems\n  "))
}

func TestAnchorsAndShortLists(t *testing.T) {
	t.Parallel()
	c := load(t, "tenant: &t acme\ncompaction:\n  model: recap/extractive\nblob: {root: *t}\n", nil, nil)
	require.Equal(t, "acme", c.Blob.Root)
	require.Equal(t, []string{config.ExtractiveID}, c.Compaction.Model)
	c = load(t, "", map[string]string{"RECAP_COMPACTION_MODEL": "recap/extractive , recap/extractive"}, nil)
	require.Equal(t, []string{config.ExtractiveID, config.ExtractiveID}, c.Compaction.Model)
}

// Whatever a file holds, loading it ends with a configuration or a *Error, and never panics.
func TestAnyFileLoadsOrIsRefused(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{
		"models", "stores", "compaction", "retry", ":", "- ", "\n", "  ", "{", "}", "[", "]", "&a ", "*a", "<<", "!!str ", "|\n", "'", `"`, "#", "id", "7", "~", "? ", ",",
	})
	rapid.Check(t, func(rt *rapid.T) {
		checkAny(t, strings.Join(rapid.SliceOfN(words, 0, 20).Draw(rt, "words"), ""))
	})
}

func FuzzLoad(f *testing.F) {
	f.Add(example)
	f.Add("a: &a [*a]\n")
	f.Add("compaction: &c {model: *c}\n")
	f.Add("compactionModel: v/m\ncompaction: {strategy: off, thresholdTokens: 5000}\n")
	f.Fuzz(func(t *testing.T, yaml string) { checkAny(t, yaml) })
}

func checkAny(t *testing.T, yaml string) {
	_, err := config.Load(sources(t, yaml, nil, nil))
	var ce *config.Error
	require.True(t, err == nil || errors.As(err, &ce), "%v", err)
}
