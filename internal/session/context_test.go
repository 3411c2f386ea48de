package session_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/session"
)

func TestCTX01NoCompactionGivesAllMessages(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), assistant("b", "a", textOf("x")), entry("custom_message", "c", "b", `"content":"y"`),
		entry("label", "d", "c", `"label":"l"`), entry("branch_summary", "e", "d", `"summary":"s"`), entry("branch_summary", "g", "e", `"summary":""`), user("h", "g", "2"))
	c := live(t, f, session.ContextOptions{})
	require.Equal(t, []string{"a", "b", "c", "e", "h"}, entryIDs(c.Messages))
	require.Equal(t, "off", c.ThinkingLevel)
	require.Equal(t, "p", c.Provider, "from the assistant when nothing is set")
	require.Equal(t, "m", c.Model)
	require.Empty(t, c.CompactionID)

	f = parse(t, header, entry("model_change", "m", "", `"provider":"q","modelId":"n"`), entry("thinking_level_change", "t", "m", `"thinkingLevel":"high"`), assistant("b", "t", textOf("x")))
	c = live(t, f, session.ContextOptions{})
	require.Equal(t, []string{"q", "n", "high"}, []string{c.Provider, c.Model, c.ThinkingLevel}, "an explicit change wins")

	require.Empty(t, live(t, parse(t, header), session.ContextOptions{}).Messages)
}

func TestContextOfAnotherPath(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), user("x", "a", "side"), user("b", "a", "2"))
	for leaf, want := range map[string][]string{"x": {"a", "x"}, "a": {"a"}, "": {}} {
		path, err := f.Log.PathTo(f.Log.Find(leaf))
		require.NoError(t, err)
		require.Equal(t, want, entryIDs(live(t, f, session.ContextOptions{Path: path}).Messages), leaf)
	}
}

func TestCTX02SummaryFirstThenKeptThenLater(t *testing.T) {
	t.Parallel()
	chain := func(keep1, keep2 string) *session.File {
		return parse(t, header, user("a", "", "1"), user("b", "a", "2"), compaction("c1", "b", "first", keep1), user("d", "c1", "3"),
			user("e", "d", "4"), compaction("c2", "e", "second", keep2), user("g", "c2", "5"))
	}
	tests := []struct {
		keep string
		want []string
	}{
		{keep: "e", want: []string{"c2", "e", "g"}},
		{keep: "a", want: []string{"c2", "a", "b", "d", "e", "g"}},
		{keep: "c1", want: []string{"c2", "d", "e", "g"}},
		{keep: "c2", want: []string{"c2", "g"}},
		{keep: "", want: []string{"c2", "a", "b", "d", "e", "g"}},
		{keep: session.KeepNothing, want: []string{"c2", "g"}},
	}
	for _, tt := range tests {
		c := live(t, chain("b", tt.keep), session.ContextOptions{})
		require.Equal(t, tt.want, entryIDs(c.Messages), tt.keep)
		require.Equal(t, "c2", c.CompactionID)
		require.Empty(t, c.Warnings)
		require.Equal(t, "second", c.Messages[0].Summary)
	}
}

func TestContextExpandsAgainWhenTheFirstKeptEntryIsMissing(t *testing.T) {
	t.Parallel()
	for _, keep := range []string{"nope", "side", "later"} {
		f := parse(t, header, user("a", "", "1"), user("side", "a", "s"), user("b", "a", "2"), compaction("c", "b", "sum", keep), user("later", "c", "3"))
		c := live(t, f, session.ContextOptions{})
		require.Equal(t, []string{"c", "a", "b", "later"}, entryIDs(c.Messages), keep)
		require.Len(t, c.Warnings, 1)
		require.Contains(t, c.Warnings[0], keep)
	}
}

func TestContextSkipsUnusableCompactions(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), entry("compaction", "c", "a", `"summary":"","firstKeptEntryId":"compaction:keep-nothing"`), user("b", "c", "2"))
	c := live(t, f, session.ContextOptions{})
	require.Equal(t, []string{"a", "b"}, entryIDs(c.Messages))
	require.Empty(t, c.CompactionID)
}

func TestContextUsesARetainedTail(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), entry("compaction", "c", "a", `"summary":"s","retainedTail":[{"role":"user","content":"kept"},5]`), user("b", "c", "2"))
	c := live(t, f, session.ContextOptions{})
	require.Equal(t, []string{"c", "c", "b"}, entryIDs(c.Messages))
	require.Equal(t, "kept", c.Messages[1].Text(""))
}

func TestContextCarriesAServerSideWindow(t *testing.T) {
	t.Parallel()
	f := parse(t, header, assistant("a", "", textOf("x")), entry("compaction", "c", "a", `"summary":"","firstKeptEntryId":"compaction:keep-nothing",`+window("p")))
	c := live(t, f, session.ContextOptions{})
	require.Equal(t, []string{"c"}, entryIDs(c.Messages))
	require.JSONEq(t, `{"type":"openaiResponsesHistory","provider":"p","dt":true,"items":[{"type":"message"},{"type":"compaction","encrypted_content":"x"}]}`, string(c.Messages[0].ProviderPayload))
}

func TestCTX03Transcripts(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), user("b", "a", "2"), compaction("c", "b", "sum", "b"), user("d", "c", "3"))
	c := live(t, f, session.ContextOptions{Transcript: true})
	require.Equal(t, []string{"a", "b", "c", "d"}, entryIDs(c.Messages))
	c = live(t, f, session.ContextOptions{Transcript: true, Collapse: true})
	require.Equal(t, []string{"b", "c", "d"}, entryIDs(c.Messages))
}

func TestCTX04ArchiveIsForTheModelOnly(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), entry("compaction", "c", "a", `"summary":"s","firstKeptEntryId":"a","preserveData":{"snapcompact":{"text":"old words","frames":["x"]}}`))
	c := live(t, f, session.ContextOptions{})
	require.Len(t, c.Messages[0].Content, 1)
	require.True(t, strings.HasSuffix(c.Messages[0].Content[0].Text, "\n\nold words"))
	c = live(t, f, session.ContextOptions{Transcript: true, Collapse: true})
	require.Equal(t, []string{"a", "c"}, entryIDs(c.Messages))
	require.Empty(t, c.Messages[1].Content)
}

func TestCTX05LegacyCompactionExpandsForTheModelOnly(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), user("b", "a", "2"), entry("compaction", "c", "b", `"summary":"placeholder","firstKeptEntryId":"b","preserveData":{"compactionV2":{}}`), user("d", "c", "3"))
	require.Equal(t, []string{"a", "b", "d"}, entryIDs(live(t, f, session.ContextOptions{}).Messages))
	require.Equal(t, []string{"b", "d"}, entryIDs(live(t, f, session.ContextOptions{Transcript: true, Collapse: true}).Messages))
}

func TestCTX06DanglingCalls(t *testing.T) {
	t.Parallel()
	signed := `{"type":"thinking","thinking":"hm","thinkingSignature":"s"}`
	f := parse(t, header, user("a", "", "1"),
		assistant("b", "a", signed, textOf("x"), callOf("c1"), callOf("c2")), result("r", "b", "c2"),
		assistant("d", "r", signed, callOf("c3")), user("e", "d", "2"))
	c := live(t, f, session.ContextOptions{})
	require.Equal(t, []string{"a", "b", "r", "e"}, entryIDs(c.Messages), "the turn that is empty without its call is dropped")
	require.Len(t, c.Messages[1].Content, 2, "text and the answered call; signed thinking goes as a whole")
	require.Equal(t, "c2", c.Messages[1].Content[1].ID)

	c = live(t, f, session.ContextOptions{KeepDangling: true})
	require.Equal(t, []string{"a", "b", "r", "d", "e"}, entryIDs(c.Messages))
	require.Len(t, c.Messages[1].Content, 4)

	c = live(t, f, session.ContextOptions{Transcript: true})
	require.Equal(t, []string{"a", "b", "r", "d", "e"}, entryIDs(c.Messages))
	require.Equal(t, 1, c.Messages[1].StrippedToolCalls)
	require.Equal(t, 1, c.Messages[3].StrippedToolCalls)

	c = live(t, f, session.ContextOptions{Raw: true})
	require.Len(t, c.Messages[1].Content, 4)
	require.Equal(t, []string{"a", "b", "r", "d", "e"}, entryIDs(c.Messages))
}

func TestCallIDsMayBeUsedAgain(t *testing.T) {
	t.Parallel()
	f := parse(t, header, assistant("a", "", textOf("1"), callOf("c0")), assistant("b", "a", textOf("2"), callOf("c0")), result("r", "b", "c0"), user("e", "r", "2"))
	c := live(t, f, session.ContextOptions{})
	require.Empty(t, c.Messages[0].Calls(), "the first call never got a result")
	require.Len(t, c.Messages[1].Calls(), 1)
}

func TestContextLeavesOutResultsWithoutCallAndSaysSo(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), result("r", "a", "c0"), user("b", "r", "2"))
	c := live(t, f, session.ContextOptions{})
	require.Equal(t, []string{"a", "b"}, entryIDs(c.Messages))
	require.Len(t, c.Warnings, 1)
}

func TestACallHasOneResult(t *testing.T) {
	t.Parallel()
	f := parse(t, header, assistant("a", "", callOf("c0")), result("r", "a", "c0"), result("s", "r", "c0"))
	c := live(t, f, session.ContextOptions{})
	require.Equal(t, []string{"a", "r"}, entryIDs(c.Messages))
	require.Len(t, c.Warnings, 1)
	require.Equal(t, []session.Damage{{Kind: session.DamageOrphanResult, Line: 4, ID: "s"}}, found(check(t, f)))
}

func TestContextDropsRecoveredRetries(t *testing.T) {
	t.Parallel()
	retried := entry("message", "b", "a", `"message":{"role":"assistant","retryRecovery":{"status":"recovered"},"content":[`+callOf("c1")+`]}`)
	f := parse(t, header, user("a", "", "1"), retried, result("r1", "b", "c1"), assistant("d", "r1", callOf("c2")), result("r2", "d", "c2"))
	require.Equal(t, []string{"a", "d", "r2"}, entryIDs(live(t, f, session.ContextOptions{}).Messages))
	require.Len(t, live(t, f, session.ContextOptions{Raw: true}).Messages, 5)
	require.Len(t, live(t, f, session.ContextOptions{Transcript: true}).Messages, 5)
}

// Signed thinking of a provider that binds it to what stands before is gone from kept messages, as
// whole blocks, without leaving empty messages; later messages keep theirs.
func TestSignedThinkingInTheKeptTail(t *testing.T) {
	t.Parallel()
	signed := `{"type":"thinking","thinking":"hm","thinkingSignature":"sig"}`
	plain := `{"type":"thinking","thinking":"open"}`
	model := "m"
	reply := func(id, parent, api, blocks string) string {
		return entry("message", id, parent, `"message":{"role":"assistant","api":"`+api+`","model":"`+model+`","content":[`+blocks+`]}`)
	}
	lines := []string{
		header, user("a", "", "1"),
		reply("b", "a", "anthropic-messages", signed+","+textOf("x")+","+plain),
		reply("c", "b", "anthropic-messages", signed),
		reply("d", "c", "openai-responses", signed+","+textOf("y")),
		compaction("k", "d", "sum", "b"),
		reply("e", "k", "anthropic-messages", signed+","+textOf("z")),
	}
	c := live(t, parse(t, lines...), session.ContextOptions{})
	require.Equal(t, []string{"k", "b", "d", "e"}, entryIDs(c.Messages))
	types := func(m session.Message) (out []string) {
		for _, b := range m.Content {
			out = append(out, b.Type)
		}
		return out
	}
	require.Equal(t, []string{"text", "thinking"}, types(c.Messages[1]))
	require.Equal(t, []string{"thinking", "text"}, types(c.Messages[2]))
	require.Equal(t, []string{"thinking", "text"}, types(c.Messages[3]))
	require.Len(t, live(t, parse(t, lines...), session.ContextOptions{Raw: true}).Messages, 5)

	model = "vendor/Claude-Next"
	c = live(t, parse(t, header, reply("a", "", "bedrock-converse-stream", signed+","+textOf("x")), compaction("k", "a", "sum", "a")), session.ContextOptions{})
	require.Equal(t, []string{"text"}, types(c.Messages[1]), "by whichever route the model is reached")
}

func TestPartialLogAsksForMoreWhenItMust(t *testing.T) {
	t.Parallel()
	build := func(keep string) error {
		f := parse(t, header, user("b", "unread", "2"), compaction("c", "b", "sum", keep), user("d", "c", "3"))
		f.Log.Partial = true
		_, err := session.BuildContext(f.Log, f, session.ContextOptions{})
		return err
	}
	require.NoError(t, build("b"))
	require.NoError(t, build("c"))
	require.ErrorIs(t, build("unread"), session.ErrPartial)
	require.ErrorIs(t, build(""), session.ErrPartial)
	f := parse(t, header, user("b", "unread", "2"))
	f.Log.Partial = true
	_, err := session.BuildContext(f.Log, f, session.ContextOptions{})
	require.ErrorIs(t, err, session.ErrPartial)
}

// counting counts which bodies are read.
type counting struct {
	session.Bodies
	mu   sync.Mutex
	read map[string]int
}

func (c *counting) Body(e *session.Entry) ([]byte, error) {
	c.mu.Lock()
	c.read[e.ID]++
	c.mu.Unlock()
	return c.Bodies.Body(e)
}

func TestContextReadsOnlyTheBodiesItNeeds(t *testing.T) {
	t.Parallel()
	lines := []string{header, entry("model_change", "m0", "", `"provider":"q","modelId":"n"`)}
	parent := "m0"
	for i := range 1000 {
		id := fmt.Sprintf("e%d", i)
		lines = append(lines, user(id, parent, "x"))
		parent = id
	}
	lines = append(lines, compaction("c", parent, "sum", "e998"), user("z", "c", "2"))
	f := parse(t, lines...)
	b := &counting{Bodies: f, read: map[string]int{}}
	c, err := session.BuildContext(f.Log, b, session.ContextOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"c", "e998", "e999", "z"}, entryIDs(c.Messages))
	require.Equal(t, map[string]int{"m0": 1, "c": 1, "e998": 1, "e999": 1, "z": 1}, b.read)
}

func TestLongPathsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	lines := []string{header}
	var want []string
	parent := ""
	for i := range 2000 {
		id := fmt.Sprintf("e%d", i)
		lines = append(lines, user(id, parent, id))
		want = append(want, id)
		parent = id
	}
	require.Equal(t, want, entryIDs(live(t, parse(t, lines...), session.ContextOptions{}).Messages))
}

// TestEveryMessageIsSentOnce builds random sessions with compactions: whatever the newest usable
// compaction keeps, and whatever came after it, is in the context once and in order, and calls and
// results stay paired.
func TestEveryMessageIsSentOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		lines := []string{header}
		var order []string // ids in path order
		kinds := map[string]string{}
		parent, pendingCall := "", ""
		boundary, last := 0, -1
		n := rapid.IntRange(1, 25).Draw(rt, "n")
		for i := range n {
			id := fmt.Sprintf("e%d", i)
			kind := rapid.SampledFrom([]string{"user", "assistant", "call", "label", "compaction"}).Draw(rt, "kind")
			if pendingCall != "" {
				kind = "result"
			}
			switch kind {
			case "user":
				lines = append(lines, user(id, parent, "x"))
			case "assistant":
				lines = append(lines, assistant(id, parent, textOf("x")))
			case "call":
				lines, pendingCall = append(lines, assistant(id, parent, callOf("c"))), "c"
			case "result":
				lines, pendingCall = append(lines, result(id, parent, "c")), ""
			case "label":
				lines = append(lines, entry("label", id, parent, `"label":"x"`))
			case "compaction":
				at := rapid.IntRange(0, len(order)).Draw(rt, "keep")
				for at < len(order) && kinds[order[at]] == "result" {
					at++
				}
				keep := session.KeepNothing
				if at < len(order) {
					keep = order[at]
				}
				boundary, last = at, len(order)
				lines = append(lines, compaction(id, parent, "s", keep))
			}
			kinds[id] = kind
			order = append(order, id)
			parent = id
		}
		var want []string
		if last >= 0 {
			want = append(want, order[last])
		}
		for i, id := range order {
			switch kinds[id] {
			case "user", "assistant", "result", "call":
				if i >= boundary && (kinds[id] != "call" || i < len(order)-1) {
					want = append(want, id)
				}
			}
		}
		if want == nil {
			want = []string{}
		}
		f, err := session.Parse([]byte(strings.Join(lines, "\n")))
		require.NoError(rt, err)
		c, err := session.BuildContext(f.Log, f, session.ContextOptions{})
		require.NoError(rt, err)
		require.Empty(rt, cmp.Diff(want, entryIDs(c.Messages)))
	})
}

func TestUnansweredCallsAtTheLeaf(t *testing.T) {
	t.Parallel()
	build := func(lines ...string) []session.Pending {
		return session.UnansweredCalls(live(t, parse(t, append([]string{header}, lines...)...), session.ContextOptions{KeepDangling: true}).Messages)
	}
	turn := assistant("b", "a", callOf("c1"), callOf("c2"))
	require.Equal(t, []session.Pending{
		{EntryID: "b", CallID: "c1", Tool: "read", IssuedAt: entryTime},
		{EntryID: "b", CallID: "c2", Tool: "read", IssuedAt: entryTime},
	}, build(user("a", "", "1"), turn))
	require.Len(t, build(user("a", "", "1"), turn, result("r", "b", "c2")), 1)
	require.Empty(t, build(user("a", "", "1"), turn, result("r", "b", "c2"), result("s", "r", "c1")))
	require.Empty(t, build(user("a", "", "1"), turn, user("x", "b", "stop")), "not at the leaf")
	require.Empty(t, build(user("a", "", "1"), entry("message", "b", "a", `"message":{"role":"assistant","stopReason":"aborted","content":[`+callOf("c")+`]}`)), "aborted calls do not run")
	require.Empty(t, build())
}
