package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/config"
	"recap/internal/config/settings"
	"recap/internal/contract"
)

// settingsFile writes an agent's settings file.
func settingsFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// notes are what loading had to tell, with the folders of files left out.
func notes(c *config.Config) []string {
	var list []string
	for _, n := range c.Notes() {
		n.Where = filepath.Base(n.Where)
		list = append(list, n.String())
	}
	return list
}

// Every setting of the table is a key of recap.yaml with the default and the meaning the table gives.
func TestSettingsTableIsTheConfiguration(t *testing.T) {
	t.Parallel()
	reference := map[string]config.Key{}
	for _, k := range config.Reference() {
		reference[k.Path] = k
		require.NotEmpty(t, k.Doc, k.Path)
	}
	for _, s := range settings.Table {
		k, ok := reference[s.Name]
		require.True(t, ok, "%s is no key of the configuration", s.Name)
		require.Equal(t, s.Default, k.Default, s.Name)
		require.Equal(t, s.Doc, k.Doc, s.Name)
	}
}

// THR-03, THR-06: defaults carry no reserve, and laying them over a configuration that has none keeps
// it unset.
func TestTHR03DefaultsKeepTheReserveUnset(t *testing.T) {
	t.Parallel()
	require.Nil(t, config.Default().Compaction.ReserveTokens)
	require.Nil(t, load(t, "", nil, nil).OperationSettings().WithDefaults().ReserveTokens)
	c := load(t, "compaction: {reserveTokens: 16384}\n", nil, nil)
	require.Equal(t, contract.DefaultReserveTokens, *c.OperationSettings().WithDefaults().ReserveTokens, "an explicit 16384 stays explicit")
	c = load(t, "compaction: {reserveTokens: null}\n", nil, nil)
	require.Nil(t, c.Compaction.ReserveTokens)
}

// Flag, environment and recap.yaml beat a settings file, which beats the default; each value shows
// where it comes from.
func TestSettingsFileRanksOverDefaultsOnly(t *testing.T) {
	t.Parallel()
	path := settingsFile(t, "settings.json", "{\n\"compaction\": {\"keepRecentTokens\": 1,\n\"autoContinue\": false}, \"theme\": \"harbour\"}\n")
	const key = "compaction.keepRecentTokens"
	yaml := "settings: " + path + "\n"
	for name, tt := range map[string]struct {
		c      *config.Config
		want   int
		origin string
	}{
		"settings":    {load(t, yaml, nil, nil), 1, "settings settings.json:2"},
		"by variable": {load(t, "", map[string]string{"RECAP_SETTINGS": path}, nil), 1, "settings settings.json:2"},
		"by flag":     {load(t, "", nil, map[string]string{"settings": path}), 1, "settings settings.json:2"},
		"file":        {load(t, yaml+"compaction: {keepRecentTokens: 2}\n", nil, nil), 2, "file recap.yaml:2"},
		"env":         {load(t, yaml, map[string]string{"RECAP_COMPACTION_KEEP_RECENT_TOKENS": "3"}, nil), 3, "env RECAP_COMPACTION_KEEP_RECENT_TOKENS"},
		"flag":        {load(t, yaml, nil, map[string]string{key: "4"}), 4, "flag --" + key},
	} {
		require.Equal(t, tt.want, tt.c.Compaction.KeepRecentTokens, name)
		origin := setting(t, tt.c, key).Origin
		require.Equal(t, tt.origin, string(origin.Kind)+" "+filepath.Base(origin.Detail), name)
		require.False(t, tt.c.Compaction.AutoContinue, name)
		require.Equal(t, []string{"theme"}, tt.c.UnknownSettings(), name)
		require.Empty(t, tt.c.Notes(), name)
	}
}

func TestSettingsFilesLieOverEachOther(t *testing.T) {
	t.Parallel()
	global := settingsFile(t, "global.json", `{"compaction": {"keepRecentTokens": 1, "reserveTokens": 2}}`)
	project := settingsFile(t, "project.yml", "compaction: {keepRecentTokens: 3}\n")
	for _, c := range []*config.Config{
		load(t, "settings: ["+global+", "+project+"]\n", nil, nil),
		load(t, "", map[string]string{"RECAP_SETTINGS": global + "," + project}, nil),
	} {
		require.Equal(t, 3, c.Compaction.KeepRecentTokens)
		require.Equal(t, 2, *c.Compaction.ReserveTokens)
	}
}

// What an old agent's file says in retired ways holds, and is told.
func TestSettingsFileIsMigrated(t *testing.T) {
	t.Parallel()
	path := settingsFile(t, "config.yml", `compaction:
  strategy: off
  thresholdPercent: 80
  idleTimeoutSeconds: 5
compactionModel: [v/m:high, "@smol", v/n, v/m:x]
`)
	yaml := `models:
- {id: v/m, api: openai-chat, baseUrl: 'http://h', contextWindow: 1000}
- {id: 'v/m:x', api: openai-chat, baseUrl: 'http://h', contextWindow: 1000}
settings: ` + path + "\n"
	c := load(t, yaml, nil, nil)
	require.False(t, c.Compaction.Enabled)
	require.Equal(t, []string{"v/m", "v/m:x"}, c.Compaction.Model)
	require.Equal(t, 60, c.Compaction.IdleTimeoutSeconds)
	require.Equal(t, []string{
		"config.yml:2: compaction.strategy: the strategy off is retired: compaction.enabled is false instead",
		"config.yml:3: compaction.thresholdPercent: is retired: read as compaction.threshold 80%",
		"config.yml:4: compaction.idleTimeoutSeconds: 5 counts as 60",
		`config.yml:5: compactionModel: is retired: read as compaction.model "v/m:high, @smol, v/n, v/m:x"`,
		"config.yml:5: compaction.model: v/m:high asks for a reasoning effort: set effort of the candidate under models",
		"config.yml:5: compaction.model: @smol is not configured under models and is not asked",
		"config.yml:5: compaction.model: v/n is not configured under models and is not asked",
	}, notes(c))
	off := false
	require.Empty(t, cmp.Diff(contract.Settings{
		KeepRecentTokens: 10000, Threshold: "80%", ThresholdFrom: "compaction.thresholdPercent", ThinkingLevel: "high", QuietForMs: 600_000,
		Enabled: &off, MinSourceTokens: 2000,
	}, c.OperationSettings()))

	c = load(t, yaml, nil, map[string]string{"compaction.threshold": "70%"})
	require.Empty(t, c.OperationSettings().ThresholdFrom, "the flag is not retired")
}

// A threshold that an agent would take for auto is no error in its file, and reaches the operation,
// whose notice repeats it; in recap.yaml it is one.
func TestTHR10UnreadableThresholdOfASettingsFile(t *testing.T) {
	t.Parallel()
	c := load(t, "settings: "+settingsFile(t, "s.json", `{"compaction": {"threshold": "170k", "thresholdTokens": 5}}`)+"\n", nil, nil)
	require.Equal(t, "170k", c.OperationSettings().Threshold)
	require.Len(t, c.Notes(), 2)
}

func TestSettingsFileProblemsAreReportedWithTheOthers(t *testing.T) {
	t.Parallel()
	path := settingsFile(t, "s.yml", "compaction:\n  enabled: maybe\nretry:\n  maxRetries: 61\n")
	got := problems(t, "settings: "+path+"\nlog: {level: loud}\n", nil, nil)
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], path, "s.yml")
	}
	require.Equal(t, []string{
		`recap.yaml:2: log.level: "loud" is unknown (known: debug, info, warn, error)`,
		`s.yml:2: compaction.enabled: "maybe" is neither true nor false`,
		"s.yml:4: retry.maxRetries: must be between 0 and 60, is 61",
	}, got)
	path = settingsFile(t, "s.yml", "compaction: {model: '@smol', modelFallbackStrategy: configured-only}\n")
	got = problems(t, "settings: "+path+"\n", nil, nil)
	require.Len(t, got, 1)
	require.Contains(t, got[0], "configured-only leaves nobody to ask")
}

// Retired keys work in recap.yaml too, where everything else that is unknown is an error.
func TestRetiredKeysInTheFile(t *testing.T) {
	t.Parallel()
	c := load(t, `compaction:
  strategy: snapcompact
  thresholdTokens: 120000
  thresholdPercent: 80
  snapcompact: {frames: 3}
compactionModel: recap/extractive
`, nil, nil)
	require.Equal(t, "summary", c.Compaction.Strategy)
	require.Equal(t, "120000", c.Compaction.Threshold)
	require.Equal(t, []string{config.ExtractiveID}, c.Compaction.Model)
	require.Equal(t, []string{
		"recap.yaml:2: compaction.strategy: the strategy snapcompact is retired: summary is used",
		"recap.yaml:3: compaction.thresholdTokens: is retired: read as compaction.threshold 120000",
		"recap.yaml:4: compaction.thresholdPercent: is retired and has no effect beside compaction.thresholdTokens",
		"recap.yaml:5: compaction.snapcompact: is retired and has no effect",
		`recap.yaml:6: compactionModel: is retired: read as compaction.model "recap/extractive"`,
	}, notes(c))
	require.Equal(t, "recap.yaml:3", filepath.Base(setting(t, c, "compaction.threshold").Origin.Detail))

	c = load(t, "compaction: {compactionModel: [recap/extractive]}\n", nil, nil)
	require.Equal(t, []string{config.ExtractiveID}, c.Compaction.Model)

	c = load(t, "compaction: {strategy: off, thresholdPercent: 80, threshold: 70%}\n", map[string]string{"RECAP_COMPACTION_ENABLED": "true"}, nil)
	require.True(t, c.Compaction.Enabled, "the environment beats the file, whatever the file's spelling")
	require.Equal(t, "70%", c.Compaction.Threshold)
	require.Empty(t, c.OperationSettings().ThresholdFrom)
}

func TestSwitchesReachTheOperation(t *testing.T) {
	t.Parallel()
	c := load(t, `compaction:
  midTurnEnabled: false
  autoContinue: false
  supersedeReads: false
  dropUseless: false
  remote: false
  modelContextWindow: 5000
  handoffSaveToDisk: true
  idleEnabled: true
gate: {minSourceTokens: 7}
`, nil, nil)
	off := false
	require.Empty(t, cmp.Diff(contract.Settings{
		KeepRecentTokens: 10000, Threshold: "auto", ThinkingLevel: "high", QuietForMs: 600_000,
		MidTurnEnabled: &off, AutoContinue: &off, SupersedeReads: &off, DropUseless: &off, Remote: &off,
		ModelContextWindow: 5000, HandoffSaveToDisk: true, MinSourceTokens: 7,
		IdleEnabled: true, IdleThresholdTokens: 200_000, IdleTimeoutSeconds: 300,
	}, c.OperationSettings()))
	c = load(t, "compaction: {idleEnabled: true, idleThresholdTokens: 0}\n", nil, nil)
	require.False(t, c.OperationSettings().IdleEnabled, "idle compaction needs a size to start at")
	c = load(t, "models: [{id: v/m, api: extractive}]\ncompaction: {model: 'v/m, recap/extractive', modelFallbackStrategy: configured-only}\n", nil, nil)
	require.Equal(t, "configured-only", c.OperationSettings().ModelFallbackStrategy)
	require.Equal(t, []string{"v/m", config.ExtractiveID}, c.Compaction.Model, "commas separate names")
}

func TestEndpointIsMasked(t *testing.T) {
	t.Parallel()
	c := load(t, "compaction: {remoteEndpoint: 'https://h/summaries'}\n", nil, nil)
	require.Equal(t, "https://h/summaries", setting(t, c, "compaction.remoteEndpoint").Value)
	got := problems(t, "compaction: {remoteEndpoint: 'https://u:hush@h/'}\n", nil, nil)
	require.NotContains(t, strings.Join(got, ""), "hush")
}
