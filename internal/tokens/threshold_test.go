package tokens_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/contract"
	"recap/internal/tokens"
)

func ptr(n int) *int { return &n }

var auto = tokens.Threshold{Kind: tokens.KindAuto}

func TestTHR01AnExplicitReserveIsHonoured(t *testing.T) {
	t.Parallel()
	r := ptr(16384)
	require.Equal(t, 2616, tokens.Resolve(auto, 19000, r).Tokens)
	require.False(t, tokens.ShouldCompact(2616, 19000, auto, r))
	require.True(t, tokens.ShouldCompact(2617, 19000, auto, r))
}

func TestTHR02AnUnsetReserveGivesWay(t *testing.T) {
	t.Parallel()
	require.Equal(t, 2850, tokens.BudgetReserve(19000, nil))
	require.False(t, tokens.ShouldCompact(16150, 19000, auto, nil))
	require.True(t, tokens.ShouldCompact(16151, 19000, auto, nil))
	require.Equal(t, 170000, tokens.Resolve(auto, 200000, nil).Tokens)
}

func TestTHR03DefaultsKeepTheReserveUnset(t *testing.T) {
	t.Parallel()
	require.Nil(t, contract.Settings{}.WithDefaults().ReserveTokens)
}

func TestTHR04TinyWindows(t *testing.T) {
	t.Parallel()
	for window, want := range map[int][2]int{6: {1, 5}, 1: {1, 0}, 2: {1, 1}} {
		require.Equal(t, want, [2]int{tokens.BudgetReserve(window, nil), tokens.Resolve(auto, window, nil).Tokens}, window)
	}
}

func TestTHR05AReserveThatFillsTheWindowIsProportional(t *testing.T) {
	t.Parallel()
	require.Equal(t, 2457, tokens.BudgetReserve(16385, ptr(90000)))
}

func TestTHR06DefaultReserve(t *testing.T) {
	t.Parallel()
	require.Equal(t, 16384, contract.DefaultReserveTokens)
	require.Equal(t, 16384, tokens.EffectiveReserve(20000, nil))
}

func percent(v float64) tokens.Threshold {
	return tokens.Threshold{Kind: tokens.KindPercent, Value: v}
}

func absolute(v float64) tokens.Threshold {
	return tokens.Threshold{Kind: tokens.KindAbsolute, Value: v}
}

func invalid(raw string) tokens.Threshold {
	return tokens.Threshold{Kind: tokens.KindAuto, Invalid: raw}
}

func parses(t *testing.T, table map[string]tokens.Threshold) {
	t.Helper()
	for raw, want := range table {
		require.Empty(t, cmp.Diff(want, tokens.ParseThreshold(raw)), raw)
	}
}

func TestTHR07WordsForAuto(t *testing.T) {
	t.Parallel()
	parses(t, map[string]tokens.Threshold{"auto": auto, "": auto, "   ": auto, "default": auto, "AUTO": auto, " Default ": auto})
}

func TestTHR08PercentagesAndAmounts(t *testing.T) {
	t.Parallel()
	parses(t, map[string]tokens.Threshold{
		"85%": percent(85), " 85 % ": percent(85), "0.4%": percent(0.4), "250%": percent(250),
		"170000": absolute(170000), "170_000": absolute(170000), "1e5": absolute(1e5), " 42 ": absolute(42),
	})
}

func TestTHR09WhatIsNotPositiveIsAuto(t *testing.T) {
	t.Parallel()
	parses(t, map[string]tokens.Threshold{"-1": auto, "0": auto, "0%": auto, "-5%": auto, "inf%": auto})
}

func TestTHR10WhatCannotBeReadIsAutoAndReported(t *testing.T) {
	t.Parallel()
	parses(t, map[string]tokens.Threshold{
		"170k": invalid("170k"), "lots": invalid("lots"), " 12 34 ": invalid(" 12 34 "), "x%": invalid("x%"),
		"inf": invalid("inf"), "NaN": invalid("NaN"), "0x10": invalid("0x10"), "%": invalid("%"),
	})
}

func TestReserveIsAThresholdOfItsOwn(t *testing.T) {
	t.Parallel()
	parses(t, map[string]tokens.Threshold{"reserve": {Kind: tokens.KindReserve}, "Reserve": {Kind: tokens.KindReserve}})
}

func TestTHR11Precedence(t *testing.T) {
	t.Parallel()
	got := auto.WithLegacy(5000, 50)
	require.Equal(t, tokens.Threshold{Kind: tokens.KindAbsolute, Value: 5000, Legacy: "thresholdTokens"}, got)
	got = auto.WithLegacy(0, 50)
	require.Equal(t, tokens.Threshold{Kind: tokens.KindPercent, Value: 50, Legacy: "thresholdPercent"}, got)
	require.Equal(t, auto, auto.WithLegacy(-1, math.NaN()))
	bad := tokens.ParseThreshold("170k")
	require.Equal(t, bad, bad.WithLegacy(5000, 50), "an invalid threshold is not rescued")
	set := tokens.ParseThreshold("85%")
	require.Equal(t, set, set.WithLegacy(5000, 50))
}

func TestTHR12PercentIsClampedAndFlagged(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]tokens.Resolved{
		"50%": {Tokens: 100000}, "250%": {Tokens: 198000, Clamped: true}, "0.4%": {Tokens: 2000, Clamped: true}, "99%": {Tokens: 198000},
	} {
		require.Equal(t, want, tokens.Resolve(tokens.ParseThreshold(raw), 200000, nil), raw)
	}
}

func TestTHR13AutoStaysInsideTheWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		window := rapid.IntRange(1, 2_000_000).Draw(t, "window")
		var reserve *int
		if rapid.Bool().Draw(t, "set") {
			reserve = ptr(rapid.IntRange(-10, 3_000_000).Draw(t, "reserve"))
		}
		for _, raw := range []string{"auto", "85%", "170000", "reserve", "1%", "99.9%"} {
			r := tokens.Resolve(tokens.ParseThreshold(raw), window, reserve)
			require.GreaterOrEqual(t, r.Tokens, 0, raw)
			require.LessOrEqual(t, r.Tokens, max(window-1, 1), raw)
		}
		require.Positive(t, tokens.OutputBudget(window, reserve, tokens.ShareTurnPrefix))
	})
}

func TestTHR14AnAmountAboveTheWindowIsHonouredUpToIt(t *testing.T) {
	t.Parallel()
	require.Equal(t, tokens.Resolved{Tokens: 199999, Clamped: true}, tokens.Resolve(tokens.ParseThreshold("300000"), 200000, nil))
	require.Equal(t, tokens.Resolved{Tokens: 199999}, tokens.Resolve(tokens.ParseThreshold("199999"), 200000, nil))
	require.Equal(t, tokens.Resolved{Tokens: 199999, Clamped: true}, tokens.Resolve(tokens.ParseThreshold("1e300"), 200000, nil))
}

func TestTHR15DegenerateWindowsKeepAnAmountOfOne(t *testing.T) {
	t.Parallel()
	for _, window := range []int{0, 1} {
		require.Equal(t, 1, tokens.Resolve(tokens.ParseThreshold("5"), window, nil).Tokens)
	}
}

func TestTHR16AnUnknownWindowNeverTriggers(t *testing.T) {
	t.Parallel()
	require.False(t, tokens.ShouldCompact(1_000_000, 0, auto, nil))
	require.False(t, tokens.ShouldCompact(1_000_000, -5, tokens.ParseThreshold("5"), nil))
}

func TestReserveThresholdIsTheBaseContextTrigger(t *testing.T) {
	t.Parallel()
	r := tokens.ParseThreshold("reserve")
	require.True(t, tokens.ShouldCompact(95000, 100000, r, ptr(10000)))
	require.False(t, tokens.ShouldCompact(89000, 100000, r, ptr(10000)))
	require.Equal(t, 200000-16384, tokens.Resolve(r, 200000, nil).Tokens)
}

func TestOutputBudget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		window  int
		reserve *int
		share   float64
		want    int
	}{
		{200000, nil, tokens.ShareHistory, 13107},
		{200000, nil, tokens.ShareTurnPrefix, 8192},
		{0, nil, tokens.ShareHistory, 13107},
		{19000, nil, tokens.ShareHistory, 2280}, // 16384 ≥ 19000 − 2850
		{200000, ptr(20384), tokens.ShareHistory, 16307},
		{8, nil, tokens.ShareTurnPrefix, 1},
	} {
		require.Equal(t, tt.want, tokens.OutputBudget(tt.window, tt.reserve, tt.share))
	}
}

func TestUsableInputWindow(t *testing.T) {
	t.Parallel()
	require.Equal(t, 168000, tokens.UsableInputWindow(200000, 32000))
	require.Equal(t, 200000, tokens.UsableInputWindow(200000, 0))
	require.Equal(t, 200000, tokens.UsableInputWindow(200000, 200000))
}
