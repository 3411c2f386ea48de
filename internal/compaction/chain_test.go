package compaction_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/sample"
	"recap/internal/session"
)

// chainLength is how many compactions a chain has at most.
const chainLength = 8

// chain is a session that is compacted again and again, with what must be where in it.
type chain struct {
	text string
	// alive are the marks that the context of now shows in full, gone those that only summaries stand for.
	alive, gone []string
	made        int // compactions
}

// say appends entries under the leaf and remembers their marks.
func (c *chain) say(t failer, marks []string, entries ...map[string]any) {
	parent := any(nil)
	if leaf := parse(t, c.text).Log.Leaf(); leaf != nil {
		parent = leaf.ID
	}
	for _, e := range entries {
		if _, ok := e["parentId"]; !ok {
			e["parentId"] = parent
			parent = e["id"]
		}
		if _, ok := e["timestamp"]; !ok {
			e["timestamp"] = "2026-05-01T00:00:01.000Z"
		}
		c.text += mustLine(e)
	}
	c.alive = append(c.alive, marks...)
}

// compact compacts once more and checks everything that must hold: existing bytes stay, the range
// begins at what the compaction before kept, each message that was in the context is in exactly one of
// summariser's input and kept tail, what was summarised before is in neither, pairs stay together, the
// previous summary goes in once, and no estimate is negative. It reports whether anything was done.
func (c *chain) compact(t failer, keep int) bool {
	f := parse(t, c.text)
	p, err := compaction.Prepare(input(f, keep))
	var skip *compaction.Skip
	if errors.As(err, &skip) {
		require.Contains(t, []contract.Code{contract.CodeNothingToCompact, contract.CodeEmptySession}, skip.Code)
		return false
	}
	require.NoError(t, err)
	c.made++
	path, err := f.Log.Path()
	require.NoError(t, err)
	k, before, err := session.EffectiveCompaction(path, f)
	require.NoError(t, err)
	start := 0
	if k >= 0 {
		var found bool
		start, found = session.BoundaryIndex(path, before.FirstKeptEntryID)
		require.True(t, found)
		require.Equal(t, path[k].ID, p.Plan.Coverage.Previous)
		require.Equal(t, 1, strings.Count(sent(p), before.Summary), "the previous summary goes in once")
	}
	covered(t, f, p, path[start].ID)
	pairsTogether(t, f, p, path)
	for _, n := range []int{p.Plan.TokensEstimate, p.Plan.KeptTokens, p.Plan.SourceTokens, p.Plan.FreedTokens} {
		require.GreaterOrEqual(t, n, 0)
	}
	require.Positive(t, p.Plan.KeepRecentTokens)
	for _, r := range p.Requests() {
		require.Positive(t, r.Tokens())
		require.True(t, utf8.ValidString(r.UserText()))
	}

	summary := fmt.Sprintf("SUM-%d.", c.made)
	after := commit(t, c.text, p, fmt.Sprintf("k%07d", c.made), summary, summary+"PREFIX.")
	require.True(t, strings.HasPrefix(after, c.text), "existing bytes changed")
	now := contextOf(t, after)
	require.Empty(t, now.Warnings)
	messages := session.ToModel(now.Messages)
	require.NoError(t, validatePairs(messages))
	shown, asked := texts(messages), sent(p)
	require.Equal(t, 1, strings.Count(shown, assembled(p, summary, summary+"PREFIX.")))
	if k >= 0 {
		require.NotContains(t, shown, before.Summary)
	}
	var alive []string
	for _, m := range c.alive {
		in, kept := strings.Count(asked, m), strings.Count(shown, m)
		require.Equalf(t, 1, in+kept, "%s: %d times summarised, %d times kept\n%s\n---\n%s", m, in, kept, asked, shown)
		if kept == 1 {
			alive = append(alive, m)
		} else {
			c.gone = append(c.gone, m)
		}
	}
	for _, m := range c.gone {
		require.NotContains(t, shown, m)
		if !slices.Contains(c.alive, m) {
			require.NotContains(t, asked, m, "summarised twice")
		}
	}
	c.text, c.alive = after, alive
	return true
}

// pairsTogether checks that a tool result stays where the nearest call with its id before it is.
func pairsTogether(t failer, f *session.File, p *compaction.Prepared, path []*session.Entry) {
	t.Helper()
	called := map[string]string{} // by call id: its entry
	for _, e := range path {
		if !e.IsMessageLike() {
			continue
		}
		body, err := f.Body(e)
		require.NoError(t, err)
		m, ok, err := session.DecodeEntry(e, body)
		require.NoError(t, err)
		if !ok {
			continue
		}
		for i := range m.Content {
			if m.Content[i].Type == session.BlockToolCall {
				called[m.Content[i].ID] = e.ID
			}
		}
		if call, ok := called[m.ToolCallID]; ok && m.Role == session.RoleToolResult {
			require.Equal(t, keptBy(p, call), keptBy(p, e.ID), "result %s is parted from its call %s", e.ID, call)
		}
	}
}

// TestEveryMessageIsInOnePlaceOverAChainOfCompactions compacts random sessions up to eight times, with
// another budget and other entries each time.
func TestEveryMessageIsInOnePlaceOverAChainOfCompactions(t *testing.T) {
	t.Parallel()
	longest := 0
	rapid.Check(t, func(t *rapid.T) {
		s := &storyteller{t: t}
		c := &chain{text: lines()}
		for range chainLength {
			entries, marks := s.tell(rapid.IntRange(1, 10).Draw(t, "steps"))
			c.say(t, marks, entries...)
			c.compact(t, rapid.IntRange(1, 300).Draw(t, "keep"))
		}
		longest = max(longest, c.made)
	})
	require.Greater(t, longest, chainLength/2, "the chains are short")
}

// storyteller draws what happens next in a session; ids and marks go on from one draw to the next.
type storyteller struct {
	t       *rapid.T
	n, call int
}

func (s *storyteller) id() string { s.n++; return fmt.Sprintf("id%d", s.n) }

// tell draws turns with parallel calls, notes between calls and results, settings, labels, abandoned
// branches and calls that never got a result. Each message bears a mark of its own.
func (s *storyteller) tell(steps int) (list []map[string]any, marks []string) {
	t := s.t
	mark := func() string {
		m := fmt.Sprintf("M%d.", s.n)
		marks = append(marks, m)
		return m + strings.Repeat(" wörd", rapid.IntRange(0, 40).Draw(t, "size"))
	}
	add := func(e map[string]any) { list = append(list, e) }
	for range steps {
		switch rapid.SampledFrom([]string{"user", "says", "tools", "tools", "tools", "note", "settings", "label", "branch", "bash", "abandoned"}).Draw(t, "step") {
		case "user":
			add(user(s.id(), mark()))
		case "says":
			add(says(s.id(), mark()))
		case "note":
			add(entry("custom_message", s.id(), "customType", "note", "content", mark(), "display", true))
		case "settings":
			add(entry("model_change", s.id(), "provider", "p", "modelId", "m"))
		case "bash":
			add(message(s.id(), map[string]any{"role": "bashExecution", "command": "run", "output": mark()}))
		case "label":
			if len(list) > 0 {
				add(entry("label", s.id(), "targetId", list[len(list)-1]["id"], "label", "here"))
			}
		case "branch": // an entry that is not on the path
			if len(list) > 0 {
				add(with(user(s.id(), "another branch"), "parentId", list[len(list)-1]["id"]))
				add(user(s.id(), mark())) // under what stands before
			}
		case "abandoned":
			s.call++
			add(calls(s.id(), "read", "f.go", fmt.Sprint("open", s.call)))
			add(user(s.id(), mark()))
		case "tools":
			var ids []string
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				s.call++
				ids = append(ids, fmt.Sprint("call", s.call%7))
			}
			add(calls(s.id(), "read", "f.go", ids...))
			for _, c := range ids {
				if rapid.IntRange(0, 9).Draw(t, "between") == 0 {
					add(entry("custom", s.id(), "customType", "state"))
				}
				add(answers(s.id(), c, mark()))
			}
		}
	}
	return list, marks
}

// TestT1T2ChainsOfCompactionsAtEveryBudget compacts both cases up to eight times with each budget from
// one token to the whole session.
func TestT1T2ChainsOfCompactionsAtEveryBudget(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`\bM\d-\w+`)
	for name, text := range map[string]string{"T1": caseT1, "T2": caseT2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			full := 0
			for keep := 1; keep <= allBudgets; keep++ {
				c := &chain{text: strings.TrimSuffix(text, "\n") + "\n"}
				shown := map[string]bool{}
				for _, m := range named.FindAllString(texts(session.ToModel(contextOf(t, text).Messages)), -1) {
					shown[m] = true
				}
				c.alive = slices.Sorted(maps.Keys(shown))
				c.compact(t, keep)
				for turn := range chainLength - 1 {
					var marks []string
					mark := func(words int) string {
						marks = append(marks, fmt.Sprintf("N%d%c.", turn, 'a'+len(marks)))
						return marks[len(marks)-1] + strings.Repeat(" word", words)
					}
					id := func(n int) string { return fmt.Sprintf("d%d%d", turn, n) }
					one, two := fmt.Sprint("one", turn), fmt.Sprint("two", turn)
					c.say(t, nil, user(id(0), mark(3)), calls(id(1), "read", "notes.md", one, two),
						answers(id(2), one, mark(20*turn)), answers(id(3), two, mark(10)), says(id(4), mark(5)))
					c.alive = append(c.alive, marks...)
					c.compact(t, keep)
				}
				if c.made == chainLength {
					full++
				}
			}
			require.Greater(t, full, 20, "few budgets made a chain of eight")
		})
	}
}

// TestNoCutInsideACharacterOverAChain shortens outputs of composed characters at every offset: neither
// requests nor contexts hold a part of one.
func TestNoCutInsideACharacterOverAChain(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"é", "日", "😀", "e\u0301\u0302", "👩\u200d💻", "🇵🇹", "🇵🇹x"} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			for pad := range 12 {
				c := &chain{text: lines()}
				for turn := range 3 {
					call, mark := fmt.Sprint("call", turn), fmt.Sprintf("N%d.", turn)
					c.say(t, []string{mark}, calls(fmt.Sprint("c", turn), "read", "f.txt", call),
						answers(fmt.Sprint("r", turn), call, mark+strings.Repeat("-", pad)+strings.Repeat(unit, 2100)), user(fmt.Sprint("u", turn), "go on"))
					p, err := compaction.Prepare(input(parse(t, c.text), 2))
					require.NoError(t, err)
					_, output, found := strings.Cut(sent(p), mark+strings.Repeat("-", pad))
					require.True(t, found)
					output, _, found = strings.Cut(output, "\n\n[... ")
					require.True(t, found, "nothing was shortened")
					require.Empty(t, strings.TrimPrefix(strings.ReplaceAll(output, unit, ""), partOf(unit)), "a part of a character is left")
					require.True(t, c.compact(t, 2))
				}
			}
		})
	}
}

// partOf is what may rightly be left of a unit that is several characters.
func partOf(unit string) string {
	if unit == "🇵🇹x" {
		return "🇵🇹"
	}
	return ""
}

// TestCTX08ALargeSessionYieldsACutAndAValidContext: nothing of a long realistic session, compacted
// again and again, is lost between what is summarised and what is kept.
func TestCTX08ALargeSessionYieldsACutAndAValidContext(t *testing.T) {
	t.Parallel()
	var facts []string
	for i := range 40 {
		facts = append(facts, fmt.Sprintf("The spare key of berth %d hangs on hook H%d-%d.", i, i*7+11, i*13+5))
	}
	data, story := sample.Build(sample.Options{Seed: 11, Entries: 3000, Facts: facts})
	require.Len(t, story.Facts, len(facts))
	c := &chain{text: string(data), alive: facts}
	require.True(t, c.compact(t, 20_000))
	require.Greater(t, len(c.gone), len(facts)/2)
	c.say(t, []string{"N1."}, user("n1", "N1. go on"), calls("n2", "read", "x.go", "one"), answers("n3", "one", filler(9000)), says("n4", "done"))
	require.True(t, c.compact(t, 5_000))
	require.True(t, c.compact(t, 1) || len(c.alive) == 0)
}
