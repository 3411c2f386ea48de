package reduce_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/reduce"
)

func words(tokens int) string { return strings.Repeat("word", tokens) }

func prune(t *testing.T, s *script, change func(*reduce.PruneRules)) map[string]string {
	t.Helper()
	rules := reduce.DefaultPruneRules()
	if change != nil {
		change(&rules)
	}
	return decided(must(t)(s.tail(t).Prune(rules)))
}

func TestPruneKeepsTheNewestOutput(t *testing.T) {
	t.Parallel()
	s := newScript()
	var ids []string
	for range 10 {
		ids = append(ids, s.tool("bash", object{"command": "make"}, words(10_000)))
	}
	want := map[string]string{}
	for _, id := range ids[:6] {
		want[id] = "[Output truncated - 10000 tokens]"
	}
	require.Equal(t, want, prune(t, s, nil))
}

func TestPRN08FlaggedResultsBypassTheProtectedWindow(t *testing.T) {
	t.Parallel()
	s := newScript()
	superseded := s.read("a.go", words(15_000))
	useless := s.tool("grep", object{}, words(15_000), object{"useless": true})
	s.read("a.go", words(30_000))
	require.Equal(t, map[string]string{superseded: supersededNotice, useless: uselessNotice}, prune(t, s, nil))
	require.Empty(t, prune(t, s, func(r *reduce.PruneRules) { r.DropUseless = false }), "the rest saves too little")
	require.Empty(t, prune(t, s, func(r *reduce.PruneRules) { r.SupersedeReads = false }))
}

func TestPRN08FlaggedResultsUseUpNothingOfTheProtectedWindow(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.tool("bash", object{}, words(30_000))
	useless := s.tool("grep", object{}, words(25_000), object{"useless": true})
	s.tool("bash", object{}, words(39_000))
	require.Equal(t, map[string]string{useless: uselessNotice}, prune(t, s, nil))
}

func TestPRN08SmallResultsStayAndSavingsMustReachTheMinimum(t *testing.T) {
	t.Parallel()
	s := newScript()
	small := s.tool("bash", object{}, words(49))
	edge := s.tool("bash", object{}, words(50))
	old := s.tool("bash", object{}, words(20_000))
	s.tool("bash", object{}, words(40_000))
	require.Empty(t, prune(t, s, func(r *reduce.PruneRules) { r.MinSavings = 20_034 }))
	got := prune(t, s, func(r *reduce.PruneRules) { r.MinSavings = 20_033 })
	require.Contains(t, got, old)
	require.Contains(t, got, edge)
	require.NotContains(t, got, small)
}

func TestPRN06AProtectedResultIsNotPrunedForItsAge(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.tool("skill", object{}, words(30_000))
	s.read("skill://x", words(30_000))
	s.tool("bash", object{}, words(30_000), object{"prunedAt": 7})
	s.tool("bash", object{}, words(41_000))
	require.Empty(t, prune(t, s, nil))
}

func TestPRN09TheGuardKeepsWhatIsDeep(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.read("a.go", words(30_000))
	s.tool("grep", object{}, words(30_000), object{"useless": true})
	s.read("a.go", words(9000))
	tail := s.tool("grep", object{}, words(30_000), object{"useless": true})
	s.says("done")
	guard := func(r *reduce.PruneRules) { r.CacheGuard = 8000 }
	require.Equal(t, map[string]string{tail: uselessNotice}, prune(t, s, guard))
	require.Len(t, prune(t, s, nil), 3)
}

func TestPRN09TheGuardCountsWhatStandsBehind(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.tool("grep", object{}, words(30_000), object{"useless": true})
	s.filler(500)
	require.Len(t, prune(t, s, func(r *reduce.PruneRules) { r.CacheGuard = 500 }), 1)
	require.Empty(t, prune(t, s, func(r *reduce.PruneRules) { r.CacheGuard = 499 }))
}

// With the guard of the reference code no result is old enough to go and near enough to be reached.
func TestD5AgeIsUnreachableBehindTheGuard(t *testing.T) {
	t.Parallel()
	s := newScript()
	for range 10 {
		s.tool("bash", object{}, words(10_000))
	}
	require.Empty(t, prune(t, s, func(r *reduce.PruneRules) { r.CacheGuard = 8000 }))
}
