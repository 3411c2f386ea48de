package cut_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/compaction/cut"
	"recap/internal/session"
)

// path is a session in short: one word an entry, "<kind><tokens>[:call,call]".
//
//	u user · a assistant (calls behind the colon) · r result (of the call behind the colon) ·
//	b bash · h hookMessage · d developer · c custom_message · s branch_summary ·
//	m model_change · l label · i session_info · C compaction
type path struct {
	entries []*session.Entry
	facts   []cut.Facts
	looked  map[int]int
}

func parse(text string) *path {
	p := &path{looked: map[int]int{}}
	for i, word := range strings.Fields(text) {
		head, ids, _ := strings.Cut(word, ":")
		e := &session.Entry{ID: fmt.Sprintf("e%d", i), Type: session.TypeMessage}
		var f cut.Facts
		if _, err := fmt.Sscanf(head[1:], "%d", &f.Tokens); err != nil {
			f.Tokens = 0
		}
		switch head[0] {
		case 'u':
			e.Role = session.RoleUser
		case 'a':
			e.Role = session.RoleAssistant
			if ids != "" {
				f.Calls = strings.Split(ids, ",")
			}
		case 'r':
			e.Role, f.Result = session.RoleToolResult, ids
		case 'b':
			e.Role = session.RoleBashExecution
		case 'h':
			e.Role = session.RoleHookMessage
		case 'd':
			e.Role = session.RoleDeveloper
		case 'c':
			e.Type = session.TypeCustomMessage
		case 's':
			e.Type = session.TypeBranchSummary
		case 'm':
			e.Type = session.TypeModelChange
		case 'l':
			e.Type = session.TypeLabel
		case 'i':
			e.Type = session.TypeSessionInfo
		case 'C':
			e.Type = session.TypeCompaction
		}
		p.entries = append(p.entries, e)
		p.facts = append(p.facts, f)
	}
	return p
}

func (p *path) find(start, keep int) (cut.Cut, error) {
	return cut.Find(cut.Range{Path: p.entries, Start: start, Keep: keep, Facts: func(i int) (cut.Facts, error) {
		p.looked[i]++
		return p.facts[i], nil
	}})
}

func TestFind(t *testing.T) {
	t.Parallel()
	const nothing = session.KeepNothing
	for _, tt := range []struct {
		name, path  string
		start, keep int
		want        cut.Cut
	}{
		{"CUT-13 no cut point in a small range", "r1:x r1:y", 0, 10, cut.Cut{}},
		{"CUT-14 a big last turn is cut at its user message", "u5 a5 u100", 0, 3, cut.Cut{Crossed: true, Kept: 2, HistoryEnd: 2, Boundary: "e2", KeptTokens: 100}},
		{"CUT-15 one user and a huge reply split the turn", "u5 a100", 0, 3, cut.Cut{Crossed: true, Kept: 1, HistoryEnd: 0, Split: true, Boundary: "e1", KeptTokens: 100}},
		{"CUT-16 custom messages are cut points", "u5 a5 c5 a5", 0, 10, cut.Cut{Crossed: true, Kept: 2, HistoryEnd: 2, Boundary: "e2", KeptTokens: 10}},
		{"CUT-16 branch summaries are swept into the tail", "u5 a5 s5 u5 a5", 0, 10, cut.Cut{Crossed: true, Kept: 2, HistoryEnd: 2, Boundary: "e2", KeptTokens: 15}},
		{"CUT-16 results are no cut points", "u5 a5:x r90:x a5", 0, 20, cut.Cut{Crossed: true, Kept: 3, HistoryEnd: 0, Split: true, Boundary: "e3", KeptTokens: 5}},
		{"CUT-17 custom messages weigh", "u5 a5 u5 c50", 0, 40, cut.Cut{Crossed: true, Kept: 3, HistoryEnd: 3, Boundary: "e3", KeptTokens: 50}},
		{"CUT-18 a crossing at the oldest entry frees it", "u50 a5 u5", 0, 60, cut.Cut{Crossed: true, Kept: 1, HistoryEnd: 0, Split: true, Boundary: "e1", KeptTokens: 10}},
		{"CUT-19 metadata joins the tail and splits nothing", "u5 a5 m l u50", 0, 20, cut.Cut{Crossed: true, Kept: 2, HistoryEnd: 2, Boundary: "e2", KeptTokens: 50}},
		{"the boundary passes over labels and session info", "u5 a5 l i u50", 0, 20, cut.Cut{Crossed: true, Kept: 2, HistoryEnd: 2, Boundary: "e4", KeptTokens: 50}},
		{"the pull-in stops at a compaction", "u5 a5 C m u50", 0, 20, cut.Cut{Crossed: true, Kept: 3, HistoryEnd: 3, Boundary: "e3", KeptTokens: 50}},
		{"FREE-01 a call and its huge result, no turn", "a5:x r100:x", 0, 20, cut.Cut{Crossed: true, Kept: 2, HistoryEnd: 2, Boundary: nothing}},
		{"FREE-02 a lone huge result", "r100:x", 0, 20, cut.Cut{Crossed: true, Kept: 1, HistoryEnd: 1, Boundary: nothing}},
		{"FREE-02 a lone huge reply", "a100", 0, 20, cut.Cut{Crossed: true, Kept: 1, HistoryEnd: 1, Boundary: nothing}},
		{"FREE-03 user, call, huge result", "u5 a5:x r100:x", 0, 20, cut.Cut{Crossed: true, Kept: 1, HistoryEnd: 0, Split: true, Boundary: "e1", KeptTokens: 105}},
		{"FREE-04 a reply behind the huge result", "u5 a5:x r100:x a5", 0, 20, cut.Cut{Crossed: true, Kept: 3, HistoryEnd: 0, Split: true, Boundary: "e3", KeptTokens: 5}},
		{"FREE-05 everything fits", "u5 a5", 0, 20, cut.Cut{}},
		{"metadata before the first message is no history", "m m u100 a5", 0, 50, cut.Cut{Crossed: true, Kept: 3, HistoryEnd: 2, Split: true, Boundary: "e3", KeptTokens: 5}},
		{"a repeated compaction starts at what was kept", "u5 a5 u5 a5 C u5 a100", 2, 50, cut.Cut{Crossed: true, Kept: 6, HistoryEnd: 5, Split: true, Boundary: "e6", KeptTokens: 100}},
		{"a turn that began before the range is not split", "u5 a5 a5 C a100", 1, 50, cut.Cut{Crossed: true, Kept: 4, HistoryEnd: 4, Boundary: "e4", KeptTokens: 100}},
		{"a note between call and result does not part them", "u5 a5:x c5 r50:x u5", 0, 52, cut.Cut{Crossed: true, Kept: 4, HistoryEnd: 4, Boundary: "e4", KeptTokens: 5}},
		{"nor does a turn start there", "u5 a5:x c5 r50:x", 0, 52, cut.Cut{Crossed: true, Kept: 1, HistoryEnd: 0, Split: true, Boundary: "e1", KeptTokens: 60}},
		{"parallel calls stay together", "u5 a5:x,y r50:x r50:y a5", 0, 52, cut.Cut{Crossed: true, Kept: 4, HistoryEnd: 0, Split: true, Boundary: "e4", KeptTokens: 5}},
		{"an orphaned result holds no cut up", "u5 a5 r5:gone a50 u5", 0, 50, cut.Cut{Crossed: true, Kept: 3, HistoryEnd: 0, Split: true, Boundary: "e3", KeptTokens: 55}},
		{"call ids may repeat", "u5 a5:x r5:x u5 a50:x r5:x", 0, 50, cut.Cut{Crossed: true, Kept: 4, HistoryEnd: 3, Split: true, Boundary: "e4", KeptTokens: 55}},
		{"developer messages are no cut points", "u5 a5 d50 u5", 0, 52, cut.Cut{Crossed: true, Kept: 3, HistoryEnd: 3, Boundary: "e3", KeptTokens: 5}},
		{"bash begins a turn of its own", "u5 a5 b50 a5", 0, 50, cut.Cut{Crossed: true, Kept: 2, HistoryEnd: 2, Boundary: "e2", KeptTokens: 55}},
		{"a split turn after history", "u5 a5 u5 a50 a50", 0, 60, cut.Cut{Crossed: true, Kept: 3, HistoryEnd: 2, Split: true, Boundary: "e3", KeptTokens: 100}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(tt.path).find(tt.start, tt.keep)
			require.NoError(t, err)
			if !got.Crossed {
				require.False(t, tt.want.Crossed)
				return
			}
			require.Empty(t, cmp.Diff(tt.want, got))
		})
	}
}

func TestCUT12TurnStarts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path string
		want int // where history ends
	}{{"u5 a5 a90", 0}, {"a5 b5 a90", 1}, {"a5 s5 a5 a90", 1}, {"a5 a5 a90", 2}} {
		p := parse(tt.path)
		got, err := p.find(0, 50)
		require.NoError(t, err)
		require.Equal(t, len(p.entries)-1, got.Kept, tt.path)
		require.Equal(t, tt.want, got.HistoryEnd, tt.path)
	}
}

func TestOnlyTheTailIsRead(t *testing.T) {
	t.Parallel()
	p := parse(strings.Repeat("u10 a10:x r10:x a10 ", 40_000))
	_, err := p.find(0, 1000)
	require.NoError(t, err)
	require.Less(t, len(p.looked), 200)
	for i, n := range p.looked {
		require.Equal(t, 1, n, "entry %d read more than once", i)
	}
}

func TestABoundaryWithoutIDIsRefused(t *testing.T) {
	t.Parallel()
	p := parse("u5 a5 u50")
	p.entries[2].ID = ""
	_, err := p.find(0, 20)
	require.ErrorIs(t, err, cut.ErrUnnamed)
}

func TestAFailureToReadIsReported(t *testing.T) {
	t.Parallel()
	p := parse("u5 a5 u50")
	broken := errors.New("disk gone")
	_, err := cut.Find(cut.Range{Path: p.entries, Keep: 5, Facts: func(int) (cut.Facts, error) { return cut.Facts{}, broken }})
	require.ErrorIs(t, err, broken)
}

// randomPath draws a plausible path: replies with calls whose results follow, other entries between
// them now and then, orphans, dangling calls, repeated ids.
func randomPath(t *rapid.T) *path {
	var words []string
	size := func() int { return rapid.IntRange(0, 60).Draw(t, "size") }
	for n := range rapid.IntRange(1, 25).Draw(t, "steps") {
		switch rapid.SampledFrom([]string{"u", "a", "tool", "tool", "tool", "b", "c", "s", "m", "l", "i", "d", "C", "r"}).Draw(t, "step") {
		case "u":
			words = append(words, fmt.Sprintf("u%d", size()))
		case "a":
			words = append(words, fmt.Sprintf("a%d", size()))
		case "b":
			words = append(words, fmt.Sprintf("b%d", size()))
		case "c":
			words = append(words, fmt.Sprintf("c%d", size()))
		case "s":
			words = append(words, fmt.Sprintf("s%d", size()))
		case "d":
			words = append(words, fmt.Sprintf("d%d", size()))
		case "r":
			words = append(words, fmt.Sprintf("r%d:orphan%d", size(), n))
		case "m", "l", "i", "C":
			words = append(words, rapid.SampledFrom([]string{"m", "l", "i", "C"}).Draw(t, "metadata"))
		case "tool":
			k := rapid.IntRange(1, 3).Draw(t, "calls")
			var ids []string
			for c := range k {
				ids = append(ids, fmt.Sprintf("%d-%d", n%rapid.SampledFrom([]int{3, 1000}).Draw(t, "reuse"), c))
			}
			words = append(words, fmt.Sprintf("a%d:%s", size(), strings.Join(ids, ",")))
			for _, id := range ids {
				if rapid.IntRange(0, 9).Draw(t, "between") == 0 {
					words = append(words, rapid.SampledFrom([]string{"c5", "m", "l", "C", "b5", "d5"}).Draw(t, "what"))
				}
				if rapid.IntRange(0, 19).Draw(t, "dangling") > 0 {
					words = append(words, fmt.Sprintf("r%d:%s", size(), id))
				}
			}
		}
	}
	return parse(strings.Join(words, " "))
}

func TestNoCutPartsAPairOrKeepsEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := randomPath(t)
		start := rapid.IntRange(0, len(p.entries)-1).Draw(t, "start")
		c, err := p.find(start, rapid.IntRange(1, 400).Draw(t, "keep"))
		if errors.Is(err, cut.ErrUnnamed) || !c.Crossed {
			return
		}
		require.NoError(t, err)
		require.GreaterOrEqual(t, c.HistoryEnd, start)
		require.GreaterOrEqual(t, c.Kept, c.HistoryEnd)
		require.Equal(t, c.Split, c.HistoryEnd < c.Kept)

		freed, kept := 0, 0
		for i := start; i < len(p.entries); i++ {
			if !p.entries[i].IsMessageLike() {
				continue
			}
			if i < c.Kept {
				freed++
			} else {
				kept += p.facts[i].Tokens
			}
		}
		require.Positive(t, freed, "nothing would be summarised")
		require.Equal(t, kept, c.KeptTokens)

		// The nearest call before a kept result is kept, unless it lies outside the range.
		for i := c.Kept; i < len(p.entries); i++ {
			for j := i - 1; p.facts[i].Result != "" && j >= start; j-- {
				if containsID(p.facts[j].Calls, p.facts[i].Result) {
					require.GreaterOrEqual(t, j, c.Kept, "result e%d is kept without its call e%d", i, j)
					break
				}
			}
		}
		if c.Boundary == session.KeepNothing {
			require.Equal(t, len(p.entries), c.Kept)
			return
		}
		for i := c.Kept; p.entries[i].ID != c.Boundary; i++ {
			require.False(t, p.entries[i].IsMessageLike(), "the boundary leaves out e%d", i)
		}
	})
}

func containsID(ids []string, id string) bool {
	for _, x := range ids {
		if x == id {
			return true
		}
	}
	return false
}
