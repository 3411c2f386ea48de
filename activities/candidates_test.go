package activities

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// twoParts are the requests of a split turn, of 5000 and 9000 tokens.
func twoParts() []stored {
	return []stored{
		{request: &transcript.Request{Part: contract.PartHistory}, digest: "h", tokens: 5000},
		{request: &transcript.Request{Part: contract.PartTurnPrefix}, digest: "p", tokens: 9000},
	}
}

func TestADM01AReserveRaisesTheAdmissionByItsShare(t *testing.T) {
	t.Parallel()
	size := func(reserve int) int {
		c := planFor(contract.Candidate{ContextWindow: 200_000}, twoParts()[:1], contract.Settings{ReserveTokens: &reserve}).Calls[0]
		return c.InputTokens + c.MaxOutput
	}
	require.Equal(t, 3200, size(44_000)-size(40_000))
}

func TestADM03ASplitTurnIsAdmittedByTheLargerRequest(t *testing.T) {
	t.Parallel()
	reserve := 1000
	s := contract.Settings{ReserveTokens: &reserve}
	// The prefix needs 9000 and half of the reserve; the history needs less, and they are two requests.
	require.Empty(t, planFor(contract.Candidate{ContextWindow: 9_500}, twoParts(), s).Refused)
	refused := planFor(contract.Candidate{ContextWindow: 9_499}, twoParts(), s)
	require.Contains(t, refused.Refused, "turnPrefix request of about 9000 tokens")
	require.Len(t, refused.Calls, 2)
	require.Empty(t, planFor(contract.Candidate{}, twoParts(), s).Refused, "an unknown window admits")
	s.ModelContextWindow = 9_500
	require.Empty(t, planFor(contract.Candidate{ContextWindow: 100}, twoParts(), s).Refused, "the setting replaces what is declared")
}

func TestEFF01EffortIsThatOfTheCandidateForEveryCall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ declared, level, want string }{
		{"", "", ""}, {"", "high", ""}, {"high", "", "high"}, {"low", "", "low"}, {"high", "off", "off"}, {"", "off", ""},
	} {
		planned := planFor(contract.Candidate{Effort: tt.declared}, twoParts(), contract.Settings{ThinkingLevel: tt.level})
		require.Equal(t, tt.want, planned.Candidate.Effort, tt)
		require.Len(t, planned.Calls, 2, "which all get the candidate's")
	}
}
