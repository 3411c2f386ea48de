package reduce_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/reduce"
	"recap/internal/compaction/reduce/artifact"
)

func TestBoundElidesTheLargestOutputsUntilTheTailFits(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.tool("bash", object{}, words(9000)) // before the cut
	s.user(words(300))
	middle := s.tool("bash", object{}, words(500))
	large := s.tool("grep", object{}, words(800))
	s.tool("bash", object{}, words(100))
	s.tool("bash", object{}, words(900), object{"isError": true})
	s.tool("bash", object{}, words(900), object{"prunedAt": 9})
	s.read("skill://x", words(900))
	s.says(words(900))
	tail := s.tail(t)
	cut := indexOf(t, source(t, s.file(t)).Path, "e0000003")
	kept := tail.Tokens() - 9000 - 2 // the entries before the cut

	require.Empty(t, must(t)(tail.Bound(cut, kept)).Decisions)
	marker := `[output elided by compaction: ~800 tokens of "grep" output removed to keep the retained tail within budget]`
	one := must(t)(tail.Bound(cut, kept-1))
	require.Equal(t, map[string]string{large: marker}, decided(one))
	require.Equal(t, artifact.Tail, one.ArtifactKind)
	require.Equal(t, "### elision 1 (grep, ~800 tokens, entry "+large+")\n\n"+words(800)+"\n\n", one.Document())

	two := must(t)(tail.Bound(cut, 10))
	require.Len(t, two.Decisions, 2, "the budget can stay exceeded")
	require.Contains(t, decided(two), middle)
	pointed := reduce.Point(two.Decisions, "3")
	require.Equal(t, `[output elided by compaction: ~500 tokens of "bash" output removed to keep the retained tail within budget; recover the full output at artifact://3]`,
		pointed[0].Edits[0].Text)
}

func TestBoundStopsAsSoonAsTheTailFits(t *testing.T) {
	t.Parallel()
	s := newScript()
	for range 10 {
		s.tool("bash", object{}, words(1000))
	}
	tail := s.tail(t)
	p := must(t)(tail.Bound(0, 7000))
	require.Len(t, p.Decisions, 4)
	after, err := tail.After(p)
	require.NoError(t, err)
	require.LessOrEqual(t, after.Tokens(), 7000)
}

func TestRescueStopsAtTheFirstTierThatMeetsTheBar(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.tool("bash", object{}, words(3000))
	s.message(object{"role": "user", "content": []any{text("see"), image(), image()}})
	s.user(words(4000))
	tail := s.tail(t)
	over := func(bar int) func(*reduce.Tail) int {
		return func(t *reduce.Tail) int { return t.Tokens() - bar }
	}
	const elided = "Compaction dead-end recovery: elided 1 heavy block(s) (~2994 tokens) to an artifact"
	for _, tt := range []struct {
		bar, passes int
		met         bool
		notice      string
	}{
		{tail.Tokens(), 0, true, ""},
		{tail.Tokens() - 100, 1, true, elided + " so maintenance could make progress."},
		{6000, 2, true, elided + " and dropped 2 attached image(s) so maintenance could make progress."},
		{
			1100, 3, true,
			elided + " and dropped 2 attached image(s) and truncated the middle of 1 oversized message(s) (~2969 tokens) to an artifact so maintenance could make progress.",
		},
		{10, 3, false, ""},
	} {
		r, err := tail.Rescue(reduce.DefaultRescueRules(), over(tt.bar))
		require.NoError(t, err)
		require.Len(t, r.Passes, tt.passes, "bar %d", tt.bar)
		require.Equal(t, tt.met, r.Met)
		require.Equal(t, tail.Tokens()-r.Tail.Tokens(), r.Freed())
		if tt.met {
			require.Equal(t, tt.notice, r.Notice(true))
		}
		// What was rescued once is not rescued again.
		again, err := r.Tail.Rescue(reduce.DefaultRescueRules(), over(tt.bar))
		require.NoError(t, err)
		require.Empty(t, again.Passes)
	}
	r, err := tail.Rescue(reduce.DefaultRescueRules(), over(10))
	require.NoError(t, err)
	require.Contains(t, r.Notice(false), "to placeholders")
}
