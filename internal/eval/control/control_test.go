package control_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/eval/control"
	"recap/internal/eval/fixture"
)

// request is a request whose conversation holds a session's first segment as one block.
func request(s *fixture.Session) *transcript.Request {
	return &transcript.Request{
		Part: contract.PartHistory, Instruction: "Summarise.",
		Conversation: []transcript.Block{{Role: transcript.User, Text: string(s.Data(0))}},
	}
}

// TestOracleNotesEveryFact in every language.
func TestOracleNotesEveryFact(t *testing.T) {
	t.Parallel()
	for _, s := range fixture.New(fixture.Options{Seed: 5, Sessions: len(fixture.Languages)}) {
		text := control.Oracle().Summarise(s, request(s), 0)
		for _, f := range s.Facts {
			require.Contains(t, text, f.Noted, s.Name)
		}
	}
}

// TestSummarisersSeeOnlyTheRequest: a fact that did not reach the request is noted by nobody.
func TestSummarisersSeeOnlyTheRequest(t *testing.T) {
	t.Parallel()
	s := fixture.New(fixture.Options{Seed: 5, Sessions: 1})[0]
	req := request(s)
	f := s.Facts[0]
	req.Conversation[0].Text = strings.ReplaceAll(req.Conversation[0].Text, f.Needle, "")
	require.NotContains(t, control.Oracle().Summarise(s, req, 0), f.Needle)
}

// TestLossyDropsTheSameFactsAgain, so that its loss is known over generations.
func TestLossyDropsTheSameFactsAgain(t *testing.T) {
	t.Parallel()
	s := fixture.New(fixture.Options{Seed: 5, Sessions: 1})[0]
	by := control.Lossy(30)
	first := by.Summarise(s, request(s), 0)
	dropped := 0
	for i := range s.Facts {
		lost := by.Loses(s, &s.Facts[i])
		require.Equal(t, !lost, strings.Contains(first, s.Facts[i].Noted), s.Facts[i].Probe.ID)
		if lost {
			dropped++
		}
	}
	require.Equal(t, 6, dropped, "30 %% of 20")
	again := &transcript.Request{Part: contract.PartHistory, PreviousSummary: first}
	for i := range s.Facts {
		require.Equal(t, !by.Loses(s, &s.Facts[i]), strings.Contains(by.Summarise(s, again, 0), s.Facts[i].Noted))
	}
}

// TestMutateChangesTheFact: of every class with a wrong form the note is another one.
func TestMutateChangesTheFact(t *testing.T) {
	t.Parallel()
	for _, s := range fixture.New(fixture.Options{Seed: 5, Sessions: len(fixture.Languages)}) {
		changed := 0
		for i := range s.Facts {
			if control.Mutate(&s.Facts[i]) != s.Facts[i].Noted {
				changed++
			}
		}
		require.GreaterOrEqual(t, changed, 13, s.Name)
	}
}
