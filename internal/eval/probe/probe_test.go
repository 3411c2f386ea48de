package probe

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestAnswerStates shows each state of spec/gate §5c.
func TestAnswerStates(t *testing.T) {
	t.Parallel()
	path := Probe{ID: "p", Class: Path, Accept: []string{"internal/keel/mast_b7c1.go"}, RecoverableBy: ByLedger}
	timeout := Probe{ID: "t", Class: Number, Accept: []string{"4750 ms"}, Unit: "ms", Labels: []string{"lock timeout"}}
	choice := Probe{ID: "c", Class: Decision, Accept: []string{"adopt keelLog"}, Reject: []string{"adopt mastLog", "drop keelLog"}}
	done := Probe{ID: "s", Class: Status, Accept: []string{"keelSync"}, Where: []string{"Done"}, Wrong: []string{"Next Steps"}}
	old := Probe{ID: "o", Class: Number, Accept: []string{"250 MB"}, Ended: true, Now: []string{"540 MB"}}
	never := Probe{ID: "n", Class: Negative, Accept: []string{"keelSync was rolled out"}}
	for _, tt := range []struct {
		name  string
		probe Probe
		view  string
		want  State
	}{
		{"path", path, "- `internal/keel/mast_b7c1.go`", Retained},
		{"path, absolute, with a line", path, "see /srv/x/internal/keel/mast_b7c1.go:42.", Retained},
		{"path in the tree of files", path, "## Goal\nx\n\n<files>\n# internal/\n## keel/\nmast_b7c1.go (RW)\n</files>", Retained},
		{"path, with back slashes", path, `internal\keel\mast_b7c1.go`, Retained},
		{"bare name of a file", path, "mast_b7c1.go was changed", Recoverable},
		{"path with a letter changed", path, "internal/keel/mast_b7c2.go", Mutated},
		{"no path", path, "## Goal\nsomething else", Missing},
		{"part of a longer word", Probe{Class: Identifier, Accept: []string{"HRB-41"}}, "HRB-4100001", Missing},
		{"thousands separator", timeout, "the lock timeout is 4,750 ms", Retained},
		{"another value", timeout, "lock timeout: 4570 ms", Mutated},
		{"another quantity", timeout, "upload timeout: 4570 ms", Missing},
		{"decision", choice, "**Log**: adopt `keelLog`, drop `mastLog`", Retained},
		{"decision the other way round", choice, "adopt mastLog, drop keelLog", Mutated},
		{"both ways", choice, "adopt keelLog; later: adopt mastLog", Mutated},
		{"state", done, "### Done\n- [x] keelSync", Retained},
		{"state in the wrong section", done, "## Next Steps\n1. keelSync", Mutated},
		{"state in another section", done, "## Additional Notes\n- keelSync", Missing},
		{"state in both sections", done, "### Done\n- [x] keelSync\n## Next Steps\n1. keelSync again", Retained},
		{"old value alone", old, "largest upload 250 MB", Stale},
		{"old value beside the new one", old, "250 MB, corrected to 540 MB", Missing},
		{"what never happened", never, "`keelSync` was rolled out", Mutated},
		{"rightly absent", never, "keelSync", Missing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, NewView(tt.view).Answer(&tt.probe))
		})
	}
}

// TestLedgerLeadsToPath: what the entry stores and the summary does not show is recoverable.
func TestLedgerLeadsToPath(t *testing.T) {
	t.Parallel()
	p := Probe{Class: Path, Accept: []string{"internal/keel/mast.go"}, RecoverableBy: ByLedger}
	v := NewView("## Goal\nx")
	require.Equal(t, Missing, v.Answer(&p))
	v.Store("internal/keel/mast.go")
	require.Equal(t, Recoverable, v.Answer(&p))
	v.Follow("read internal/keel/mast.go")
	require.Equal(t, Retained, v.Answer(&p))
}

// TestScoreCountsPenalties: what is not owed can only cost points.
func TestScoreCountsPenalties(t *testing.T) {
	t.Parallel()
	var tally Tally
	tally.Add(&Probe{Class: Path}, Retained)
	tally.Add(&Probe{Class: Path}, Recoverable)
	tally.Add(&Probe{Class: Negative}, Missing)
	require.InDelta(t, 0.75, tally.Score(), 1e-9)
	tally.Add(&Probe{Class: Negative}, Mutated)
	require.InDelta(t, (3+1.5-1.5)/6, tally.Score(), 1e-9)
	require.Equal(t, 1, tally.Wrong)
	require.Zero(t, (&Tally{}).Score())
}

// TestMergeIsAddition holds that tallies of sessions add up to the tally of all.
func TestMergeIsAddition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all, a, b Tally
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			p := &Probe{Class: rapid.SampledFrom(Classes).Draw(t, "class"), Ended: rapid.Bool().Draw(t, "ended")}
			s := rapid.SampledFrom(States).Draw(t, "state")
			all.Add(p, s)
			if rapid.Bool().Draw(t, "a") {
				a.Add(p, s)
			} else {
				b.Add(p, s)
			}
		}
		a.Merge(&b)
		require.InDelta(t, all.Score(), a.Score(), 1e-9)
		require.Equal(t, all.Wrong, a.Wrong)
		for _, s := range States {
			require.Equal(t, all.Count("", s), a.Count("", s))
		}
	})
}

// TestNormalizeIsIdempotent holds for any text: a form that was normalised stays as it is.
func TestNormalizeIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		once := Normalize(rapid.StringOf(rapid.RuneFrom([]rune("aB1,_. \n\\/`*éÅ①ｶﾞ名\u200b\u00a0"))).Draw(t, "text"))
		require.Equal(t, once, Normalize(once))
	})
}

// TestDistance compares with the definition.
func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{{"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"abcd", "acbd", 2}, {"abc", "xyz", 3}, {"a", "abcde", 3}, {"", "", 0}} {
		require.Equal(t, tt.want, distance(tt.a, tt.b, 2), "%s %s", tt.a, tt.b)
	}
}
