package settings_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/config/settings"
	"recap/internal/tokens"
)

// read reads files of these texts.
func read(t *testing.T, texts ...string) settings.Loaded {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, text := range texts {
		path := filepath.Join(dir, strconv.Itoa(i)+".yml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		paths = append(paths, path)
	}
	got, err := settings.Read(paths...)
	require.NoError(t, err)
	return got
}

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none.json")
	_, err := settings.Read(path)
	var re *settings.ReadError
	require.ErrorAs(t, err, &re)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "settings file "+path+": cannot be read: no such file or directory")
	_, err = settings.Read(t.TempDir())
	require.ErrorAs(t, err, &re)
	require.EqualError(t, re.Err, "is a directory")
	got, err := settings.Read()
	require.NoError(t, err)
	require.Empty(t, got.Values)
}

// The same settings in either language, and in either spelling.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"s.json":         `{"compaction": {"enabled": false, "model": ["v/a", "v/b"], "threshold": 170000}}`,
		"dotted.json":    `{"compaction.enabled": false, "compaction.model": "v/a, v/b", "compaction.threshold": "170000"}`,
		"bom.json":       "\ufeff" + `{"compaction": {"enabled": false, "model": "v/a, v/b", "threshold": 1.7e5}}`,
		"s.yml":          "compaction:\n  enabled: false\n  model:\n  - v/a\n  - v/b\n  threshold: 170_000\n",
		"dotted.yaml":    "compaction.enabled: 'false'\ncompaction.model: v/a, v/b\ncompaction: {threshold: '170000'}\n",
		"alias.yml":      "x: &m [v/a, v/b]\ncompaction: {enabled: !!bool false, model: *m, threshold: 170000}\n",
		"both.json":      `{"compaction": {"enabled": false, "model": "v/a, v/b", "threshold": 170000}, "compaction.enabled": true}`,
		"twice.json":     `{"compaction": {"enabled": true}, "compaction": {"enabled": false, "model": "v/a, v/b", "threshold": 170000}}`,
		"no name":        `{"compaction": {"enabled": false, "model": "v/a, v/b", "threshold": 170000}}`,
		"no name either": "compaction: {enabled: False, model: 'v/a, v/b', threshold: 170000}\n",
	} {
		got := settings.Parse(name, []byte(text))
		require.Empty(t, got.Problems, name)
		require.Equal(t, "false", got.Values["compaction.enabled"].Text, name)
		require.Equal(t, "v/a, v/b", got.Values["compaction.model"].Text, name)
		threshold := tokens.ParseThreshold(got.Values["compaction.threshold"].Text)
		require.Equal(t, tokens.Threshold{Kind: tokens.KindAbsolute, Value: 170000}, threshold, name)
	}
}

func TestNothingIsSaid(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " \n", "{}", "null", "# nothing\n", "---\n", `{"compaction": null}`, `{"compaction": {"model": null, "reserveTokens": null}}`, "compaction:\n"} {
		got := settings.Parse("s", []byte(text))
		require.Empty(t, got.Values, "%q", text)
		require.Empty(t, got.Problems, "%q", text)
		require.Empty(t, got.Notes, "%q", text)
	}
}

// The object some agents write for their one candidate.
func TestModelAsAnObject(t *testing.T) {
	t.Parallel()
	got := settings.Parse("s.json", []byte(`{"compaction": {"model": {"provider": "v", "modelId": "m", "thinkingLevel": "high"}}}`))
	require.Equal(t, "v/m:high", got.Values["compaction.model"].Text)
	got = settings.Parse("s.json", []byte(`{"compaction": {"model": {"provider": "v", "modelId": 7}}}`))
	require.Equal(t, "v/7", got.Values["compaction.model"].Text)
	got = settings.Parse("s.json", []byte(`{"compaction": {"model": {"provider": "v"}}}`))
	require.Equal(t, []string{"s.json:1: compaction.model: must be names of candidates, or an object with provider and modelId"}, problems(got))
}

// Everything that is wrong is told at once, in the order of the lines, and the rest is read.
func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	got := settings.Parse("s.yml", []byte(`compaction:
  enabled: maybe
  keepRecentTokens: 0
  reserveTokens: -1
  idleThresholdTokens: 1.5
  modelFallbackStrategy: nobody
  remoteEndpoint: http://u:hush@h
  model: [{a: b}]
  midTurnEnabled: [true]
  autoContinue: false
  <<: {enabled: true}
retry: 7
branchSummary: {reserveTokens: 1e99}
retry.maxRetries: 1_000
retry.baseDelayMs: 0
display: {collapseCompacted: *nobody}
`))
	require.Equal(t, []string{
		`s.yml:2: compaction.enabled: "maybe" is neither true nor false`,
		"s.yml:3: compaction.keepRecentTokens: must be at least 1, is 0",
		"s.yml:4: compaction.reserveTokens: must not be negative, is -1",
		`s.yml:5: compaction.idleThresholdTokens: "1.5" is no whole number`,
		`s.yml:6: compaction.modelFallbackStrategy: "nobody" is unknown (known: auto, configured-only)`,
		"s.yml:7: compaction.remoteEndpoint: holds credentials: put the key into a model candidate's apiKeyEnv or apiKeyFile",
		"s.yml:8: compaction.model: must be a list of names",
		"s.yml:9: compaction.midTurnEnabled: must be a single value, is a list",
		"s.yml:11: compaction: merge keys (<<) are not supported: repeat the keys",
		"s.yml:12: retry: must be a mapping of keys to values, is a single value",
		`s.yml:13: branchSummary.reserveTokens: "1e99" is no whole number`,
		"s.yml:14: retry.maxRetries: must be between 0 and 60, is 1000",
		"s.yml:15: retry.baseDelayMs: must be at least 1, is 0",
		"s.yml:16: display.collapseCompacted: must be a single value, is an alias that leads nowhere",
	}, problems(got))
	require.Equal(t, map[string]string{"compaction.autoContinue": "false"}, texts(got))
	got = settings.Parse("s.json", []byte(`{"compaction": {"remoteEndpoint": "ftp://u:hush@h"}}`))
	require.Equal(t, []string{"s.json:1: compaction.remoteEndpoint: is no URL of the form http://host"}, problems(got))
}

func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, tt := range []struct{ name, text, want string }{
		{"s.json", "{\n\"a\": 1,\n", "s.json:2: is no valid JSON: it ends in the middle"},
		{"s.json", "{} {}", "s.json:1: is no valid JSON: something follows the first value"},
		{"s.json", "{\n// a remark\n}", "s.json:2: is no valid JSON: invalid character '/'"},
		{"s.json", `{"a": [1, {"b": 2]}`, "s.json:1: is no valid JSON: invalid character ']' after object key:value pair"},
		{"s.json", "[1]", "s.json:1: must be a mapping of keys to values, is a list"},
		{"s.json", deep, "s.json:1: is nested more than 100 deep"},
		{"s.yml", "a: [\n", "s.yml:1: is no valid YAML: sequence end token ']' not found"},
		{"s.yml", "a: 1\n---\nb: 2\n", "s.yml:3: holds a second document"},
		{"s.yml", deep, "s.yml:1: is nested more than 100 deep"},
		{"s.yml", strings.Repeat("#", 1<<20+1), "s.yml: is too large for a settings file (at most 1048576 bytes)"},
	} {
		got := settings.Parse(tt.name, []byte(tt.text))
		require.Equal(t, []string{tt.want}, problems(got))
	}
}

func TestCFG02CompactArguments(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string][2]string{
		"":                          {"", ""},
		" \n":                       {"", ""},
		"summary":                   {"summary", ""},
		"  SUMMARY  ":               {"summary", ""},
		"Summary\tthe failing test": {"summary", "the failing test"},
		"the failing test":          {"", "the failing test"},
		"soft keep paths":           {"", "soft keep paths"},
		"summarykeep":               {"", "summarykeep"},
		"keep summary":              {"", "keep summary"},
	} {
		strategy, focus := settings.SplitCompact(typed)
		require.Equal(t, want, [2]string{strategy, focus}, "%q", typed)
	}
}

// Table is sound: names are unique, and every default passes its own check.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range settings.Table {
		require.False(t, seen[k.Name], k.Name)
		seen[k.Name] = true
		require.Empty(t, k.Check(k.Default), k.Name)
		require.NotEmpty(t, k.Doc, k.Name)
		require.False(t, settings.Retired(k.Name), k.Name)
		got, ok := settings.Lookup(k.Name)
		require.True(t, ok)
		require.Equal(t, k.Doc, got.Doc)
		if k.Default != "" && k.Type != settings.Threshold { // a blank threshold is auto
			require.NotEmpty(t, k.Check(""), "%s cannot be unset", k.Name)
		}
	}
	reserve, _ := settings.Lookup("compaction.reserveTokens")
	require.Empty(t, reserve.Default, "THR-06: the defaults carry no reserve")
	_, ok := settings.Lookup("compaction.thresholdTokens")
	require.False(t, ok, "a retired key is no setting")
}

// Whatever a file holds, what comes out of it are settings that pass their checks.
func TestAnythingYieldsSoundSettings(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{
		"compaction", "strategy", "off", "threshold", "thresholdTokens", "model", "compactionModel", "modelOverrides", "retry", ".", ":", "- ",
		"\n", "  ", "{", "}", "[", "]", "&a ", "*a", "<<", "!!str ", "'", `"`, "#", "7", "-1", "85%", "true", "~", ",", " ",
	})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 0, 30).Draw(rt, "words"), "")
		checkAny(rt, "s.yml", text)
		checkAny(rt, "s.json", text)
	})
}

func FuzzSettings(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), strings.Contains(path, ".json"))
	}
	f.Add("a: &a {b: *a}\nmodelOverrides: *a\n", false)
	f.Add("modelOverrides: &m {x: {compactionModel: v/m}, y: *m}\n", false)
	f.Add(`{"compaction.threshold": 1e400, "compaction": {"threshold": "1_7"}}`, true)
	f.Fuzz(func(t *testing.T, text string, isJSON bool) {
		name := "s.yml"
		if isJSON {
			name = "s.json"
		}
		checkAny(t, name, text)
	})
}

func checkAny(t require.TestingT, name, text string) {
	got := settings.Parse(name, []byte(text))
	var values []settings.Value
	for key, v := range got.Values {
		k, ok := settings.Lookup(key)
		require.True(t, ok, key)
		require.Equal(t, key, v.Key)
		if k.Type != settings.Threshold { // one of no known form counts as auto
			require.Empty(t, k.Check(v.Text), key)
		}
		values = append(values, v)
	}
	again := settings.Migrate(values)
	require.Equal(t, texts(got), texts(again), "migrating twice changes nothing")
	require.Empty(t, again.Problems)
	for _, p := range got.Problems {
		require.Contains(t, p.String(), name)
	}
	require.Equal(t, got, settings.Parse(name, []byte(text)), "the same bytes, the same settings")
}
