package tokens_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/contract"
	"recap/internal/tokens"
)

// messages are the texts of notices with their levels.
func messages(list []tokens.Notice) []string {
	var out []string
	for _, n := range list {
		out = append(out, n.Level+": "+n.Message)
	}
	return out
}

// THR-18: what there is to tell about a threshold is told once for a window, and again for another.
func TestTHR18NoticesOncePerWindow(t *testing.T) {
	t.Parallel()
	const invalid = `warning: compaction.threshold is "170k", which is neither auto, a percentage (85%) nor a number of tokens (170000): compacting at `
	for name, tt := range map[string]struct {
		settings           contract.Settings
		at200k, at1M, at64 []string
	}{
		"auto":      {settings: contract.Settings{Threshold: "auto"}},
		"percent":   {settings: contract.Settings{Threshold: "250%"}},
		"reachable": {settings: contract.Settings{Threshold: "50"}},
		"invalid": {
			contract.Settings{Threshold: "170k"},
			[]string{invalid + "170k (auto: 200k window minus reserve) instead. Set it to one of these."},
			[]string{invalid + "850k (auto: 1M window minus reserve) instead. Set it to one of these."},
			[]string{invalid + "55 (auto: 64 window minus reserve) instead. Set it to one of these."},
		},
		"clamped": {
			contract.Settings{Threshold: "250000"},
			[]string{"info: The compaction threshold of 250k tokens is beyond what this model's window of 200k holds: compacting at 200k (fixed 250k, capped by the window). A model with a larger window uses all of it."},
			nil,
			[]string{"info: The compaction threshold of 250k tokens is beyond what this model's window of 64 holds: compacting at 63 (fixed 250k, capped by the window). A model with a larger window uses all of it."},
		},
		"legacy percent": {
			contract.Settings{Threshold: "12.5%", ThresholdFrom: "compaction.thresholdPercent"},
			[]string{"info: Compacting at 25k (12.5% of 200k), as the retired setting compaction.thresholdPercent says. Set compaction.threshold instead."},
			[]string{"info: Compacting at 125k (12.5% of 1M), as the retired setting compaction.thresholdPercent says. Set compaction.threshold instead."},
			[]string{"info: Compacting at 8 (12.5% of 64), as the retired setting compaction.thresholdPercent says. Set compaction.threshold instead."},
		},
		"legacy and clamped": {
			contract.Settings{Threshold: "1500000", ThresholdFrom: "compaction.thresholdTokens"},
			[]string{
				"info: The compaction threshold of 1.5M tokens is beyond what this model's window of 200k holds: compacting at 200k (fixed 1.5M, capped by the window). A model with a larger window uses all of it.",
				"info: Compacting at 200k (fixed 1.5M, capped by the window), as the retired setting compaction.thresholdTokens says. Set compaction.threshold instead.",
			},
			[]string{
				"info: The compaction threshold of 1.5M tokens is beyond what this model's window of 1M holds: compacting at 1M (fixed 1.5M, capped by the window). A model with a larger window uses all of it.",
				"info: Compacting at 1M (fixed 1.5M, capped by the window), as the retired setting compaction.thresholdTokens says. Set compaction.threshold instead.",
			},
			[]string{
				"info: The compaction threshold of 1.5M tokens is beyond what this model's window of 64 holds: compacting at 63 (fixed 1.5M, capped by the window). A model with a larger window uses all of it.",
				"info: Compacting at 63 (fixed 1.5M, capped by the window), as the retired setting compaction.thresholdTokens says. Set compaction.threshold instead.",
			},
		},
	} {
		threshold := tokens.ThresholdOf(tt.settings)
		var announced []string
		for _, step := range []struct {
			window int
			want   []string
		}{{200_000, tt.at200k}, {200_000, nil}, {1_000_000, tt.at1M}, {200_000, nil}, {64, tt.at64}, {64, nil}, {0, nil}, {-1, nil}} {
			before := slices.Clone(announced)
			list, now := tokens.Notices(threshold, step.window, nil, announced)
			require.Equal(t, before, announced, "%s: the input stays", name)
			require.Equal(t, step.want, messages(list), "%s at %d", name, step.window)
			announced = now
		}
	}
}

// Another setting on the same window is worth telling again.
func TestNoticesOfAnotherSetting(t *testing.T) {
	t.Parallel()
	list, announced := tokens.Notices(tokens.ParseThreshold("170k"), 200_000, nil, nil)
	require.Len(t, list, 1)
	list, announced = tokens.Notices(tokens.ParseThreshold("a lot"), 200_000, nil, announced)
	require.Len(t, list, 1)
	list, _ = tokens.Notices(tokens.ParseThreshold("170k"), 200_000, nil, announced)
	require.Empty(t, list)
}

func TestShortTokenCounts(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "0", 950: "950", 999: "999", 1000: "1k", 16_384: "16k", 199_999: "200k", 1_000_000: "1M", 1_048_576: "1M", 1_500_000: "1.5M", 12_345_678: "12.3M",
	} {
		require.Equal(t, want, tokens.Short(n))
	}
}

// Whatever a threshold is set to, its notices are valid text of bounded length, and none is repeated.
func TestNoticesStayShort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		raw := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"1e308", "1e308%", "85%", "250000", strings.Repeat("é", 500)})).Draw(rt, "threshold")
		window := rapid.IntRange(-10, 2_000_000).Draw(rt, "window")
		list, announced := tokens.Notices(tokens.ParseThreshold(raw), window, nil, nil)
		for _, n := range list {
			require.True(rt, utf8.ValidString(n.Message))
			require.LessOrEqual(rt, len(n.Message), 1200)
			require.NotContains(rt, n.Message, "\n")
		}
		text, err := json.Marshal(announced)
		require.NoError(rt, err)
		var back []string
		require.NoError(rt, json.Unmarshal(text, &back))
		list, again := tokens.Notices(tokens.ParseThreshold(raw), window, nil, back)
		require.Empty(rt, list)
		require.Equal(rt, len(announced), len(again))
	})
}
