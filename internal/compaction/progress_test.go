package compaction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/session"
)

// used is a session of four messages whose last reply reports a context of total tokens.
func used(t failer, total int) *session.File {
	last := message("d", map[string]any{"role": "assistant", "content": []any{block(filler(100))}, "stopReason": "stop", "usage": map[string]any{"input": total, "totalTokens": total}})
	return parse(t, lines(user("a", filler(100)), says("b", filler(100)), user("c", filler(100)), last))
}

// automatic is the input of an automatic request on a session of total tokens.
func automatic(t failer, total, window int, reserve *int, reason contract.Reason) compaction.Input {
	in := input(used(t, total), 150)
	in.Window, in.Reason, in.Settings.ReserveTokens = window, reason, reserve
	return in
}

func TestGRD02AnOversizedReserveLeavesABand(t *testing.T) {
	t.Parallel()
	reserve := 90_000
	in := automatic(t, 3482, 4096, &reserve, contract.ReasonThreshold)
	require.Equal(t, contract.CodeBelowThreshold, skipOf(t, in).Code, "3482 is the threshold")
	require.Equal(t, 2785, prepare(t, automatic(t, 3483, 4096, &reserve, contract.ReasonThreshold)).Plan.Bar)
	require.Equal(t, 2785, prepare(t, automatic(t, 3483, 4096, &reserve, contract.ReasonMidTurn)).Plan.Bar)
}

func TestGRD05NothingToCompactOverTheBandIsADeadEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reason contract.Reason
		total  int
		blocks bool
	}{
		{contract.ReasonThreshold, 3900, true},
		{contract.ReasonMidTurn, 3900, true},
		{contract.ReasonOverflow, 3900, true},
		{contract.ReasonOverflow, 2785, false},
		{contract.ReasonIncomplete, 2786, true},
		{contract.ReasonIdle, 3900, false},
		{contract.ReasonManual, 3900, false},
	} {
		in := automatic(t, tt.total, 4096, nil, tt.reason)
		in.Settings.KeepRecentTokens = 5000
		s := skipOf(t, in)
		require.Equal(t, contract.CodeNothingToCompact, s.Code)
		require.Equal(t, tt.blocks, strings.HasPrefix(s.Warning, "Compaction freed too little context to make progress"), tt)
		require.Equal(t, tt.blocks, s.Warning != "", tt)
	}
	in := automatic(t, 3900, 0, nil, contract.ReasonOverflow)
	in.Settings.KeepRecentTokens = 5000
	require.Empty(t, skipOf(t, in).Warning, "without a window there is no band")
}

func TestGRD08TheBarOfARetryIsTheWindowNotTheBand(t *testing.T) {
	t.Parallel()
	for _, reason := range []contract.Reason{contract.ReasonOverflow, contract.ReasonIncomplete} {
		require.Equal(t, 170_000, prepare(t, automatic(t, 190_000, 200_000, nil, reason)).Plan.Bar)
	}
	require.Equal(t, 136_000, prepare(t, automatic(t, 190_000, 200_000, nil, contract.ReasonThreshold)).Plan.Bar)
	require.Zero(t, prepare(t, automatic(t, 190_000, 200_000, nil, contract.ReasonIdle)).Plan.Bar, "nothing waits")
	require.Zero(t, prepare(t, automatic(t, 190_000, 0, nil, contract.ReasonOverflow)).Plan.Bar, "unknown counts as met")
}

func TestGRD11AReserveThatFillsTheWindowDoesNotForbidARetry(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		window  int
		reserve *int
		want    int
	}{
		"reserve over the window":       {16_000, new(90_000), 13_600},
		"default reserve near a window": {17_000, nil, 14_450},
		"a valid explicit one stands":   {19_000, new(16_384), 2_616},
	} {
		require.Equal(t, tt.want, prepare(t, automatic(t, tt.window, tt.window, tt.reserve, contract.ReasonOverflow)).Plan.Bar, name)
	}
}

func TestGRD12AResidualAtTheBarPasses(t *testing.T) {
	t.Parallel()
	in := automatic(t, 3900, 4096, nil, contract.ReasonThreshold)
	p := prepare(t, in)
	after := compaction.TokensAfter(&p.Plan, "S")
	for bar, ends := range map[int]bool{after: false, after - 1: true} {
		p.Plan.Bar = bar
		got, err := compaction.Check(&p.Plan, in.Log, in.Bodies, "S", now)
		require.NoError(t, err)
		require.Equal(t, ends, got.Warning != "", "bar %d", bar)
		require.Equal(t, after, got.Tokens)
	}
}
