package reduce_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/compaction/reduce"
	"recap/internal/session"
)

// randomScript draws a session in which every pass can find something.
func randomScript(t *rapid.T) *script {
	s := newScript()
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	words := func() string {
		unit := pick("unit", "word", "é→x\n", "日本語", "a\"\\b", "👩‍👩‍👧 ", "<b>\n", "```\n", "</b>\n", "\x00\t")
		return strings.Repeat(unit, rapid.SampledFrom([]int{0, 1, 7, 40, 200, 700}).Draw(t, "size"))
	}
	flags := func() object {
		m := object{}
		for _, f := range []string{"useless", "isError"} {
			if rapid.IntRange(0, 4).Draw(t, f) == 0 {
				m[f] = true
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "pruned") == 0 {
			m["prunedAt"] = 7
		}
		switch rapid.IntRange(0, 9).Draw(t, "form") {
		case 0:
			m["content"] = words()
		case 1:
			m["content"] = []any{text(words()), image(), text(words())}
		case 2:
			m["content"] = []any{image()}
		case 3:
			m["content"] = []any{3, nil, text(words())}
		}
		return m
	}
	var kept []string // entries a compaction could keep from
	for n := range rapid.IntRange(1, 25).Draw(t, "entries") {
		switch rapid.IntRange(0, 13).Draw(t, "entry") {
		case 0, 1, 2, 3, 4:
			args := object{"path": pick("path", "a.go", "b.go", "a.go:1-9", "skill://x", "https://x/y")}
			if rapid.IntRange(0, 3).Draw(t, "narrow") == 0 {
				args["offset"] = n
			}
			tool := pick("tool", "read", "read", "read", "bash", "skill")
			id := fmt.Sprintf("c%d", n%rapid.SampledFrom([]int{3, 100}).Draw(t, "reuse"))
			s.calls(id, tool, args)
			if rapid.IntRange(0, 9).Draw(t, "between") == 0 {
				s.entry("label", object{"targetId": "e0000001", "label": "x"})
			}
			if rapid.IntRange(0, 9).Draw(t, "dangling") > 0 {
				s.answers(id, tool, words(), flags())
			}
		case 5:
			kept = append(kept, s.user(words()+"\n```\n"+words()+"\n```\n<b>\n"+words()+"</b>"))
		case 6:
			kept = append(kept, s.message(object{"role": "user", "content": []any{text(words()), image()}}))
		case 7:
			block := text(words())
			if rapid.Bool().Draw(t, "signed") {
				block["textSignature"] = "c2ln"
			}
			s.message(object{"role": "assistant", "content": []any{
				object{"type": "thinking", "thinking": words(), "thinkingSignature": "c2ln"}, block,
			}})
		case 8:
			s.entry("custom_message", object{"customType": "note", "display": true, "content": []any{text(words()), image()}})
		case 9:
			s.entry("branch_summary", object{"fromId": "root", "summary": words()})
		case 10:
			s.message(object{"role": "bashExecution", "command": "ls", "output": words()})
		case 11:
			s.message(object{"role": "fileMention", "files": []any{
				object{"path": "a", "content": words()}, object{"path": "b.png", "content": "", "image": image()}, 5,
			}})
		case 12:
			s.answers("orphan", pick("tool", "read", "bash"), words(), flags())
		case 13:
			s.compacted(pick("keep", append([]string{session.KeepNothing}, kept...)...))
		}
	}
	s.user("go on")
	return s
}

// skeleton is what no pass may change: which messages there are, their calls and results, and the
// thinking and signed text of replies.
func skeleton(messages []session.Message) []string {
	var out []string
	for i := range messages {
		m := &messages[i]
		line := m.EntryID + " " + m.Role + " " + m.ToolCallID
		for _, b := range m.Content {
			if m.Role == session.RoleAssistant && (b.Type != session.BlockText || b.Signature != "") {
				line += fmt.Sprintf(" %s %s %s %s %s", b.Type, b.ID, b.Text, b.Signature, b.Arguments)
			}
		}
		out = append(out, line)
	}
	return out
}

func TestEveryPass(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(passes)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { checkPass(t, passes[name]) })
		})
	}
}

func checkPass(t *rapid.T, pass func(*reduce.Tail) (reduce.Pass, error)) {
	s := randomScript(t)
	data := s.buf.Bytes()
	f := parse(t, data)
	src := source(t, f)
	if rapid.Bool().Draw(t, "idle") {
		idle(&src)
	}
	tail, err := reduce.Read(src)
	require.NoError(t, err)
	p := must(t)(pass(tail))
	decisions := p.Decisions
	slack := 0 // longer markers are counted apart from the text they stand in
	if rapid.Bool().Draw(t, "artifact") {
		decisions = reduce.Point(decisions, "41")
		slack = len(p.Regions)
	}
	// A decision survives being stored.
	stored, err := json.Marshal(decisions)
	require.NoError(t, err)
	decisions = nil
	require.NoError(t, json.Unmarshal(stored, &decisions))

	after, err := tail.After(reduce.Pass{Decisions: decisions})
	require.NoError(t, err)
	freed := 0
	for _, d := range decisions {
		require.GreaterOrEqual(t, d.Freed, 0)
		freed += d.Freed
	}
	require.GreaterOrEqual(t, freed+slack, tail.Tokens()-after.Tokens())

	// The file is the live context.
	changed, err := reduce.Replacements(f.Log, f, decisions)
	require.NoError(t, err)
	live, err := reduce.Live(rawContext(t, f), decisions)
	require.NoError(t, err)
	written := parse(t, rewritten(t, f, data, changed))
	require.Empty(t, cmp.Diff(live, rawContext(t, written)))
	planned, err := session.BuildContext(f.Log, reduce.Overlay(f, changed), session.ContextOptions{Raw: true})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(live, planned.Messages))

	// Nothing is separated, reordered or lost, and entries without a decision keep every byte.
	require.Equal(t, skeleton(rawContext(t, f)), skeleton(live))
	decidedFor := decided(reduce.Pass{Decisions: decisions})
	require.Len(t, decidedFor, len(decisions), "one decision for each entry")
	require.True(t, slices.IsSortedFunc(decisions, func(a, b reduce.Decision) int {
		return cmpLine(f.Log.Find(a.EntryID), f.Log.Find(b.EntryID))
	}), "in path order")
	for i := range f.Log.Entries {
		e := &f.Log.Entries[i]
		was, err := f.Body(e)
		require.NoError(t, err)
		is, err := written.Body(written.Log.Find(e.ID))
		require.NoError(t, err)
		if _, ok := decidedFor[e.ID]; !ok {
			require.Equal(t, string(was), string(is))
		}
	}

	// Again, on the tail as it is and as it is stored: nothing is left to do.
	require.Empty(t, must(t)(pass(after)).Decisions)
	again := source(t, written)
	again.Now = src.Now
	reread, err := reduce.Read(again)
	require.NoError(t, err)
	require.Empty(t, must(t)(pass(reread)).Decisions)
	require.Equal(t, after.Tokens(), reread.Tokens())

	for i := range decisions {
		e := f.Log.Find(decisions[i].EntryID)
		_, err := decisions[i].Body(e, changed[e.ID])
		require.Error(t, err, "a decision is made once")
	}
}

func cmpLine(a, b *session.Entry) int { return a.Line - b.Line }

func TestPassesInARow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := randomScript(t)
		f := s.file(t)
		tail, err := reduce.Read(source(t, f))
		require.NoError(t, err)
		var all []reduce.Decision
		names := slices.Sorted(maps.Keys(passes))
		for range rapid.IntRange(2, 5).Draw(t, "passes") {
			p := must(t)(passes[rapid.SampledFrom(names).Draw(t, "pass")](tail))
			all = append(all, p.Decisions...)
			tail, err = tail.After(p)
			require.NoError(t, err)
		}
		changed, err := reduce.Replacements(f.Log, f, all)
		require.NoError(t, err)
		live, err := reduce.Live(rawContext(t, f), all)
		require.NoError(t, err)
		written := parse(t, rewritten(t, f, s.buf.Bytes(), changed))
		require.Empty(t, cmp.Diff(live, rawContext(t, written)))
	})
}

func TestTheTailIsBoundedOrNothingIsLeftToElide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tail := randomScript(t).tail(t)
		keep := rapid.IntRange(0, 3000).Draw(t, "keep")
		after, err := tail.After(must(t)(tail.Bound(tail.Start, keep)))
		require.NoError(t, err)
		if after.Tokens() > keep {
			for _, it := range after.Items {
				m := &it.Message
				elidable := m.Role == session.RoleToolResult && m.PrunedAt == 0 && !m.IsError && it.Tokens > 100
				require.False(t, elidable && m.ToolName == "bash", "%s could still go", it.Entry.ID)
			}
		}
	})
}

func TestADecisionAboutSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.tool("bash", object{}, words(500))
	p := must(t)(s.tail(t).Shake(reduce.AggressiveShakeRules()))
	other := newScript()
	other.tool("bash", object{}, words(501))
	f := other.file(t)
	_, err := reduce.Replacements(f.Log, f, p.Decisions)
	require.ErrorContains(t, err, "e0000002")
	_, err = reduce.Live(rawContext(t, f), p.Decisions)
	require.ErrorContains(t, err, "decide anew")
	_, err = other.tail(t).After(p)
	require.Error(t, err)

	empty := newScript()
	empty.user("hello")
	f = empty.file(t)
	_, err = reduce.Replacements(f.Log, f, p.Decisions)
	require.ErrorContains(t, err, "not in the session")
	_, err = reduce.Live(rawContext(t, f), p.Decisions)
	require.ErrorContains(t, err, "not in the context")
}

func TestNoVisibleCharacterIsCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "é", "e\u0301", "日", "👩‍👩‍👧", "🇵🇹", "\r\n", "न्दी", "👍🏽"}), 200, 1500).Draw(t, "units")
		whole := strings.Join(units, "")
		s := newScript()
		s.user(whole)
		p := must(t)(s.tail(t).Truncate(reduce.TruncateRules{MinText: 1, Edge: 40}, 1))
		for _, d := range p.Decisions {
			e := d.Edits[0]
			state, ends := -1, map[int]bool{0: true}
			for rest := whole; rest != ""; {
				_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
				ends[len(whole)-len(rest)] = true
			}
			require.True(t, ends[e.Start] && ends[e.End], "%d %d", e.Start, e.End)
			require.LessOrEqual(t, e.Start, 160)
			require.LessOrEqual(t, len(whole)-e.End, 160)
		}
	})
}

// TestARowOfFlagsIsCutBetweenThem, however long it is.
func TestARowOfFlagsIsCutBetweenThem(t *testing.T) {
	t.Parallel()
	for edge := 1; edge <= 60; edge++ {
		s := newScript()
		s.user("x" + strings.Repeat("🇵🇹", 1000))
		p := must(t)(s.tail(t).Truncate(reduce.TruncateRules{MinText: 1, Edge: edge}, 1))
		require.Len(t, p.Decisions, 1)
		e := p.Decisions[0].Edits[0]
		require.True(t, e.Start == 0 || e.Start%8 == 1, "edge %d: %d", edge, e.Start)
		require.Equal(t, 1, e.End%8, "edge %d", edge)
	}
}
