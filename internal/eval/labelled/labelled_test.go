package labelled

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/eval/fixture"
)

func sets() []Set {
	var out []Set
	for _, s := range fixture.New(fixture.Options{Seed: 2, Sessions: 30}) {
		req := &transcript.Request{
			Part: contract.PartHistory, Instruction: "Write notes.", PreviousSummary: "## Goal\nEarlier.",
			Conversation: []transcript.Block{
				{Role: transcript.User, Text: s.First}, {Role: transcript.Assistant, Text: string(s.Data(0))}, {Role: transcript.User, Text: s.Asks[1]},
			},
		}
		c := &Case{Session: s, Plan: compaction.Plan{SourceTokens: 9000}, Request: req}
		prefix := *req
		prefix.Part = contract.PartTurnPrefix
		out = append(out, Set{First: c, Update: c, Prefix: &Case{Session: s, Plan: c.Plan, Request: &prefix}})
	}
	return out
}

// TestCandidatesAreHalfGoodAndCoverEveryClassInBothHalves is what a rate over them needs.
func TestCandidatesAreHalfGoodAndCoverEveryClassInBothHalves(t *testing.T) {
	t.Parallel()
	list := New(sets())
	require.GreaterOrEqual(t, len(list), 300)
	goods := 0
	classes, stylesSeen := map[string]map[Half]int{}, map[string]bool{}
	for _, c := range list {
		if c.Good() {
			goods++
		}
		if classes[c.Class] == nil {
			classes[c.Class] = map[Half]int{}
		}
		classes[c.Class][c.Half]++
		stylesSeen[c.Style] = true
	}
	require.Equal(t, len(list)/2, goods)
	require.Len(t, classes, len(faults)+1)
	for class, halves := range classes {
		require.GreaterOrEqual(t, halves[Tuning], 5, class)
		require.GreaterOrEqual(t, halves[Reporting], 5, class)
	}
	for _, s := range styles {
		require.True(t, stylesSeen[s.name], s.name)
	}
	for _, f := range faults {
		for _, s := range f.styles {
			require.True(t, stylesSeen[s.name], s.name)
		}
	}
}

// TestFaultsThatCanBeCuredAreThere: the check for a cure must fail on the text as it is.
func TestFaultsThatCanBeCuredAreThere(t *testing.T) {
	t.Parallel()
	for _, c := range New(sets()) {
		if c.Cured != nil {
			require.False(t, c.Cured(c.Text), c.Name)
		}
	}
}

// TestBadIsNotGood: no bad candidate is the text a careful summariser writes, unless what came beside
// the text, or was decided before it, is what is bad.
func TestBadIsNotGood(t *testing.T) {
	t.Parallel()
	for _, c := range New(sets()) {
		if !c.Good() && !c.Unfinished && c.ToolCalls == 0 && c.Class != "F15" && c.Class != "F17" {
			require.NotEqual(t, c.Case.notes().String(), c.Text, c.Name)
		}
	}
}
