package settings_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/config/settings"
	"recap/internal/tokens"
)

// texts are the values of a file, without places.
func texts(l settings.Loaded) map[string]string {
	m := map[string]string{}
	for k, v := range l.Values {
		m[k] = v.Text
	}
	return m
}

func notes(l settings.Loaded) []string {
	var list []string
	for _, n := range l.Notes {
		list = append(list, n.String())
	}
	return list
}

func problems(l settings.Loaded) []string {
	var list []string
	for _, p := range l.Problems {
		list = append(list, p.String())
	}
	return list
}

// CFG-01: every strategy that ever was counts as summary, off turns compaction off as well, the
// candidate is found where older agents kept it, and what is no business of the migration passes.
func TestCFG01LegacyStrategies(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]struct {
		values map[string]string
		note   []string
	}{
		"summary":       {values: map[string]string{"compaction.strategy": "summary"}},
		" Summary ":     {values: map[string]string{"compaction.strategy": "summary"}},
		"snap":          {note: []string{"s.yml:1: compaction.strategy: the strategy snap is retired: summary is used"}},
		"snapcompact":   {note: []string{"s.yml:1: compaction.strategy: the strategy snapcompact is retired: summary is used"}},
		"shake":         {note: []string{"s.yml:1: compaction.strategy: the strategy shake is retired: summary is used"}},
		"shake-summary": {note: []string{"s.yml:1: compaction.strategy: the strategy shake-summary is retired: summary is used"}},
		"context-full":  {note: []string{"s.yml:1: compaction.strategy: the strategy context-full is retired: summary is used"}},
		"HANDOFF":       {note: []string{"s.yml:1: compaction.strategy: the strategy handoff is retired: summary is used"}},
		"never-was":     {note: []string{`s.yml:1: compaction.strategy: the strategy "never-was" is unknown: summary is used`}},
		"off": {
			values: map[string]string{"compaction.strategy": "summary", "compaction.enabled": "false"},
			note:   []string{"s.yml:1: compaction.strategy: the strategy off is retired: compaction.enabled is false instead"},
		},
		"": {values: map[string]string{}},
	} {
		if want.values == nil {
			want.values = map[string]string{"compaction.strategy": "summary"}
		}
		got := settings.Parse("s.yml", []byte("compaction.strategy: "+strconv.Quote(token)+"\n"))
		require.Empty(t, cmp.Diff(want.values, texts(got)), token)
		require.Equal(t, want.note, notes(got), token)
		require.Empty(t, got.Problems, token)
	}
	long := settings.Parse("s.yml", []byte("compaction.strategy: "+strings.Repeat("é", 100)+"\n"))
	require.Equal(t, []string{`s.yml:1: compaction.strategy: the strategy "` + strings.Repeat("é", 30) + `…" is unknown: summary is used`}, notes(long))
	got := settings.Parse("s.json", []byte(`{"compaction": {"enabled": true, "strategy": "off", "keepRecentTokens": 7}}`))
	require.Equal(t, "false", got.Values["compaction.enabled"].Text, "off means off")
	require.Equal(t, "7", got.Values["compaction.keepRecentTokens"].Text, "other settings pass")
}

func TestCFG01CompactionModel(t *testing.T) {
	t.Parallel()
	const (
		inSection = "compaction.compactionModel: v/section\n"
		atTop     = "compactionModel: v/top\n"
		byModel   = "modelOverrides:\n  v/a: {temperature: 1}\n  v/b.5: {compactionModel: v/first}\n  v/c: {compactionModel: v/second}\n"
	)
	for name, tt := range map[string]struct {
		text, want, from string
		notes            int
	}{
		"model is set":      {"compaction: {model: v/new}\n" + inSection + atTop + byModel, "v/new", "", 4},
		"blank model":       {"compaction: {model: ' '}\n" + atTop, "v/top", "compactionModel", 1},
		"in the section":    {byModel + atTop + inSection, "v/section", "compaction.compactionModel", 4},
		"at the top":        {byModel + atTop, "v/top", "compactionModel", 3},
		"of a model":        {byModel, "v/first", "modelOverrides.v/b.5.compactionModel", 2},
		"dotted, of models": {"modelOverrides.v/b.5.compactionModel: v/dotted\n", "v/dotted", "modelOverrides.v/b.5.compactionModel", 1},
		"a list":            {"compactionModel: [v/a, v/b]\n", "v/a, v/b", "compactionModel", 1},
		"nobody":            {"modelOverrides: {v/a: {temperature: 1}}\n", "", "", 0},
	} {
		got := settings.Parse("s.yml", []byte(tt.text))
		require.Equal(t, tt.want, got.Values["compaction.model"].Text, name)
		require.Equal(t, tt.from, got.Values["compaction.model"].From, name)
		require.Len(t, got.Notes, tt.notes, name)
		require.Empty(t, got.Problems, name)
	}
}

// THR-11: the threshold beats the retired amount, which beats the retired percentage; a threshold of
// no known form is not rescued; what was read stays as it was; the retired key is told.
func TestTHR11Precedence(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		threshold, amount, percent string
		want, from                 string
		notes                      int
	}{
		"blank":                   {want: "auto"},
		"threshold":               {threshold: "70%", amount: "5000", percent: "50", want: "70%", notes: 2},
		"amount beats percent":    {amount: "5000", percent: "50", want: "5000", from: "compaction.thresholdTokens", notes: 2},
		"percent":                 {amount: "-1", percent: "12.5", want: "12.5%", from: "compaction.thresholdPercent", notes: 1},
		"auto gives way":          {threshold: "AUTO", percent: "50", want: "50%", from: "compaction.thresholdPercent", notes: 1},
		"a negative one is auto":  {threshold: "-1", amount: "5000", want: "5000", from: "compaction.thresholdTokens", notes: 1},
		"unset as older files do": {threshold: "default", amount: "-1", percent: "-1", want: "auto"},
		"no form":                 {threshold: "170k", amount: "5000", percent: "50", want: "170k", notes: 3},
		"reserve":                 {threshold: "reserve", amount: "5000", want: "reserve", notes: 1},
	} {
		values := []settings.Value{
			{Key: "compaction.thresholdPercent", Text: tt.percent},
			{Key: "compaction.thresholdTokens", Text: tt.amount},
			{Key: "compaction.threshold", Text: tt.threshold},
		}
		before := slices.Clone(values)
		got := settings.Migrate(values)
		require.Equal(t, before, values, "%s: the input stays", name)
		require.Equal(t, tt.want, got.Values["compaction.threshold"].Text, name)
		require.Equal(t, tt.from, got.Values["compaction.threshold"].From, name)
		require.Len(t, got.Notes, tt.notes, name)
		require.Empty(t, got.Problems, name)
	}
	got := settings.Parse("s.yml", []byte("compaction: {thresholdTokens: many, thresholdPercent: .nan}\n"))
	require.Equal(t, []string{
		`s.yml:1: compaction.thresholdTokens: "many" is no number`, `s.yml:1: compaction.thresholdPercent: ".nan" is no number`,
	}, problems(got))
}

// THR-17: an old file triggers at the same token count after its migration.
func TestTHR17OldSettingsTriggerWhereTheyDid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		amount := rapid.IntRange(-5, 400_000).Draw(rt, "tokens")
		percent := float64(rapid.IntRange(-1000, 120_000).Draw(rt, "percent")) / 1000
		window := rapid.IntRange(0, 1_200_000).Draw(rt, "window")
		var reserve *int
		if rapid.Bool().Draw(rt, "reserve is set") {
			n := rapid.IntRange(0, 100_000).Draw(rt, "reserve")
			reserve = &n
		}
		before := tokens.ParseThreshold("").WithLegacy(amount, percent)
		got := settings.Migrate([]settings.Value{
			{Key: "compaction.thresholdTokens", Text: strconv.Itoa(amount)},
			{Key: "compaction.thresholdPercent", Text: strconv.FormatFloat(percent, 'g', -1, 64)},
		})
		after := tokens.ParseThreshold(got.Values["compaction.threshold"].Text)
		require.Equal(rt, tokens.Resolve(before, window, reserve), tokens.Resolve(after, window, reserve))
		again := settings.Migrate([]settings.Value{got.Values["compaction.threshold"]})
		require.Equal(rt, got.Values["compaction.threshold"].Text, again.Values["compaction.threshold"].Text, "migrating twice changes nothing")
	})
}

// A later file lies over an earlier one that is migrated already: its own spelling beats the older
// file's old one, and what it does not say stays.
func TestLaterFilesLieOverEarlierOnes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		global, project string
		want            map[string]string
	}{
		"key by key": {
			"compaction: {keepRecentTokens: 1, reserveTokens: 2}", "compaction: {keepRecentTokens: 3}",
			map[string]string{"compaction.keepRecentTokens": "3", "compaction.reserveTokens": "2"},
		},
		"new over old": {"compaction: {thresholdTokens: 5000}", "compaction: {threshold: auto}", map[string]string{"compaction.threshold": "auto"}},
		"old under new": {
			"compaction: {threshold: 85%}", "compaction: {thresholdTokens: 5000}", map[string]string{"compaction.threshold": "85%"},
		},
		"on over off": {
			"compaction: {strategy: off}", "compaction: {enabled: true}",
			map[string]string{"compaction.strategy": "summary", "compaction.enabled": "true"},
		},
		"off over on": {
			"compaction: {enabled: true}", "compaction: {strategy: off}",
			map[string]string{"compaction.strategy": "summary", "compaction.enabled": "false"},
		},
	} {
		got := read(t, tt.global, tt.project)
		require.Empty(t, cmp.Diff(tt.want, texts(got)), name)
		require.Empty(t, got.Problems, name)
	}
	got := read(t, "a: 1\nb: 2\ncompaction: {threshold: 170k}\n", "b: 3\nc: 4\n")
	require.Equal(t, []string{"a", "b", "c"}, got.Unknown)
	require.Len(t, got.Notes, 1, "told once")
}
