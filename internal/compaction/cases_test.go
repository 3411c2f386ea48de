package compaction_test

import (
	_ "embed"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/session"
)

var (
	//go:embed testdata/t1.jsonl
	caseT1 string
	//go:embed testdata/t2.jsonl
	caseT2 string
)

// allBudgets covers every cut of the small cases: their sessions have fewer tokens than this.
const allBudgets = 420

func TestT1PairsSurviveTwoCompactions(t *testing.T) {
	t.Parallel()
	compactions := 0
	for keep := 1; keep <= allBudgets; keep++ {
		f := parse(t, caseT1)
		p := prepare(t, input(f, keep))
		if p == nil {
			continue
		}
		compactions++
		covered(t, f, p, "a1000002")

		require.Equal(t, 1, strings.Count(sent(p), "SUMMARY-ONE"), "keep %d", keep)
		require.Contains(t, p.History.PreviousSummary, "SUMMARY-ONE")
		after := commit(t, caseT1, p, "c1000002", "SUMMARY-TWO: all of it.", "SUMMARY-TWO: the prefix.")
		require.Truef(t, strings.HasPrefix(after, caseT1), "keep %d: existing bytes changed", keep)
		c := contextOf(t, after)
		require.NoErrorf(t, validatePairs(session.ToModel(c.Messages)), "keep %d", keep)
		require.NotContains(t, texts(session.ToModel(c.Messages)), "SUMMARY-ONE")
		require.Contains(t, texts(session.ToModel(c.Messages)), "SUMMARY-TWO")

		boundary := f.Log.Find(p.Plan.FirstKeptEntryID)
		require.NotNilf(t, boundary, "keep %d", keep)
		require.Equal(t, session.TypeMessage, boundary.Type)
		require.NotEqual(t, session.RoleToolResult, boundary.Role)
		for _, id := range []string{"a1000005", "a1000006"} { // the results of B1 and B2 stay with their calls
			require.Equal(t, keptBy(p, "a1000004"), keptBy(p, id), "keep %d", keep)
		}
		thirdCoversSecond(t, after, keep)
	}
	require.Positive(t, compactions)
	require.Nil(t, prepare(t, input(parse(t, caseT1), allBudgets)), "everything fits")
}

func keptBy(p *compaction.Prepared, id string) bool {
	for _, kept := range p.Plan.Coverage.Kept {
		if kept == id {
			return true
		}
	}
	return false
}

// thirdCoversSecond goes on talking, compacts once more, and checks that what the compaction before
// kept is in exactly one place.
func thirdCoversSecond(t *testing.T, text string, keep int) {
	t.Helper()
	f := parse(t, text)
	leaf := f.Log.Leaf().ID
	more := text + mustJSON(t, with(user("d1", "And now the release notes, please."), "parentId", leaf)) + "\n" +
		mustJSON(t, with(says("d2", "The release notes are written and checked."), "parentId", "d1")) + "\n"
	f = parse(t, more)
	p := prepare(t, input(f, keep))
	if p == nil {
		return
	}
	path, err := f.Log.Path()
	require.NoError(t, err)
	k, c, err := session.EffectiveCompaction(path, f)
	require.NoError(t, err)
	require.Equal(t, leaf, path[k].ID)
	covered(t, f, p, c.FirstKeptEntryID)
	require.Equal(t, 1, strings.Count(sent(p), c.Summary), "keep %d", keep)
	after := contextOf(t, commit(t, more, p, "c1000003", "SUMMARY-THREE", "SUMMARY-THREE"))
	require.NoError(t, validatePairs(session.ToModel(after.Messages)))
}

func with(e map[string]any, key string, value any) map[string]any {
	e[key] = value
	e["timestamp"] = "2026-06-01T12:00:05.000Z"
	return e
}

func TestT1OpenCallsWait(t *testing.T) {
	t.Parallel()
	cut := strings.Join(strings.SplitAfter(caseT1, "\n")[:5], "")
	in := input(parse(t, cut), 1)
	issued := time.Date(2026, 5, 4, 9, 0, 4, 0, time.UTC)

	in.Now = issued.Add(9 * time.Minute)
	require.Equal(t, contract.CodeCallInFlight, skipOf(t, in).Code)
	require.Equal(t, contract.StateSkipped, skipOf(t, in).State)

	in.Now = issued.Add(11 * time.Minute)
	require.NotNil(t, prepare(t, in), "abandoned calls do not block for ever")

	in.LastWrite = in.Now.Add(-time.Second)
	require.Equal(t, contract.CodeCallInFlight, skipOf(t, in).Code, "somebody wrote a moment ago")
}

var markers = []string{"M2-heron", "M3-lynx", "M4-swan", "M5-fox", "M6-crane", "M7-wolf"}

func TestT2SecondCompactionCoversTheFirstOnesTail(t *testing.T) {
	t.Parallel()
	compactions := 0
	for keep := 1; keep <= allBudgets; keep++ {
		f := parse(t, caseT2)
		p := prepare(t, input(f, keep))
		if p == nil {
			continue
		}
		compactions++
		covered(t, f, p, "b0000003")
		request := sent(p)
		require.Equal(t, 1, strings.Count(request, "PREV-SUMMARY-K"), "keep %d", keep)
		after := commit(t, caseT2, p, "c2000002", "NEW-SUMMARY", "NEW-PREFIX")
		kept := texts(contextOf(t, after).Messages)
		for _, marker := range markers {
			require.Equalf(t, 1, strings.Count(request, marker)+strings.Count(kept, marker), "keep %d: %s", keep, marker)
		}
	}
	require.Greater(t, compactions, 20)
}

func TestT2KeepsTheLastTurnOnly(t *testing.T) {
	t.Parallel()
	f := parse(t, caseT2)
	p := prepare(t, input(f, 12))
	require.Equal(t, "b0000007", p.Plan.FirstKeptEntryID, "the label before it is no boundary: a fork drops it")
	require.False(t, p.Plan.IsSplit, "pulling the label in does not split a turn")
	for _, marker := range markers[:4] {
		require.Equal(t, 1, strings.Count(sent(p), marker), marker)
	}
	for _, marker := range markers[4:] {
		require.NotContains(t, sent(p), marker)
	}
	after := commit(t, caseT2, p, "c2000002", "NEW-SUMMARY", "")
	whole := contextOf(t, after)

	// A fork drops labels and hangs what hung under them under their parents.
	var fork []string
	for _, line := range strings.SplitAfter(after, "\n") {
		if strings.Contains(line, `"type":"label"`) {
			continue
		}
		fork = append(fork, strings.ReplaceAll(line, `"parentId":"e2000001"`, `"parentId":"c2000001"`))
	}
	forked := contextOf(t, strings.Join(fork, ""))
	require.Empty(t, cmp.Diff(whole.Messages, forked.Messages))

	// Rewinding to the first compaction shows it again.
	back := parse(t, after)
	path, err := back.Log.PathTo(back.Log.Find("c2000001"))
	require.NoError(t, err)
	old, err := session.BuildContext(back.Log, back, session.ContextOptions{Path: path})
	require.NoError(t, err)
	for _, marker := range append([]string{"PREV-SUMMARY-K"}, markers[:4]...) {
		require.Contains(t, texts(session.ToModel(old.Messages)), marker)
	}
}
