package session_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/session"
)

func blocks(texts ...string) []session.Block {
	var out []session.Block
	for _, s := range texts {
		out = append(out, session.Block{Type: session.BlockText, Text: s})
	}
	return out
}

func toModel(m session.Message) []session.Message { return session.ToModel([]session.Message{m}) }

func TestMSG02CustomMessagesComeFromTheDeveloper(t *testing.T) {
	t.Parallel()
	image := session.Block{Type: session.BlockImage, MimeType: "image/png", DataLen: 4}
	for _, role := range []string{session.RoleCustom, session.RoleHookMessage} {
		got := toModel(session.Message{EntryID: "e", Role: role, Content: blocks("a", "b")})
		require.Empty(t, cmp.Diff([]session.Message{{EntryID: "e", Role: "developer", Content: blocks("a", "b")}}, got), "attribution is not invented")
	}
	got := toModel(session.Message{Role: session.RoleCustom, Attribution: "user", Content: append(blocks("a"), image)})
	require.Empty(t, cmp.Diff([]session.Message{
		{Role: "developer", Attribution: "user", Content: blocks("a")}, {Role: "user", Attribution: "user", Content: []session.Block{image}},
	}, got))
	require.Equal(t, "user", toModel(session.Message{Role: session.RoleCustom, CustomType: "skill-prompt", Content: blocks("a")})[0].Role)
	require.Empty(t, toModel(session.Message{Role: session.RoleCustom, CustomType: session.OutcomeRecord, Content: blocks("a")}), "records of failed compactions are never sent")
}

func TestMSG03CompactionSummaryComesFromTheUser(t *testing.T) {
	t.Parallel()
	got := toModel(session.Message{EntryID: "e", Role: session.RoleCompactionSummary, Summary: "what was done", Timestamp: 5})
	require.Len(t, got, 1)
	require.Equal(t, "user", got[0].Role)
	require.Equal(t, "agent", got[0].Attribution)
	require.Equal(t, "e", got[0].EntryID)
	require.Equal(t, int64(5), got[0].Timestamp)
	require.Len(t, got[0].Content, 1)
	require.True(t, strings.HasSuffix(got[0].Content[0].Text, "\n<summary>\nwhat was done\n</summary>"))
	got = toModel(session.Message{Role: session.RoleCompactionSummary, Summary: "s", Content: blocks("archive")})
	require.Len(t, got[0].Content, 2)
}

func TestMSG04BranchSummaryComesFromTheDeveloper(t *testing.T) {
	t.Parallel()
	got := toModel(session.Message{Role: session.RoleBranchSummary, Summary: "<summary>tried A</summary>"})
	require.Equal(t, "developer", got[0].Role)
	require.Equal(t, "agent", got[0].Attribution)
	require.True(t, strings.HasSuffix(got[0].Content[0].Text, "\n\ntried A"))
	require.NotContains(t, got[0].Content[0].Text, "<summary>")
}

func TestMSG05Attribution(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{"user": "user", "developer": "agent", "toolResult": "agent"} {
		require.Equal(t, want, toModel(session.Message{Role: role, Content: blocks("x")})[0].Attribution)
		require.Equal(t, "kept", toModel(session.Message{Role: role, Content: blocks("x"), Attribution: "kept"})[0].Attribution)
	}
	reply := session.Message{Role: "assistant", Content: blocks("x"), Model: "m", StopReason: "stop"}
	require.Empty(t, cmp.Diff([]session.Message{reply}, toModel(reply)), "an assistant message is not touched")
	require.Empty(t, toModel(session.Message{Role: "assistant", StopReason: "error"}), "an empty reply cannot be sent")
	require.Empty(t, toModel(session.Message{Role: "system", Content: blocks("x")}), "an unknown role is dropped")
}

func TestMSG06PrunedResults(t *testing.T) {
	t.Parallel()
	result := session.Message{Role: "toolResult", ToolCallID: "c", Content: append(blocks("a", "b"), session.Block{Type: session.BlockImage})}
	require.Len(t, toModel(result)[0].Content, 3)
	result.PrunedAt = 1
	require.Equal(t, blocks("ab"), toModel(result)[0].Content)
	result.Content = nil
	require.Equal(t, blocks("[Output truncated]"), toModel(result)[0].Content)
}

func TestExecutionsAreRendered(t *testing.T) {
	t.Parallel()
	bash := func(change func(*session.Message)) string {
		m := session.Message{Role: session.RoleBashExecution, Command: "ls", Output: "x\n"}
		change(&m)
		got := toModel(m)
		require.Len(t, got, 1)
		require.Equal(t, "user", got[0].Role)
		return got[0].Text("")
	}
	require.Equal(t, "Command run by the user: `ls`\n```\nx\n```", bash(func(*session.Message) {}))
	require.Contains(t, bash(func(m *session.Message) { m.Output = "" }), "\n(no output)")
	require.Contains(t, bash(func(m *session.Message) { m.ExitCode = ptr(3) }), "\n(exit code 3)")
	require.NotContains(t, bash(func(m *session.Message) { m.ExitCode = ptr(0) }), "exit code")
	require.Contains(t, bash(func(m *session.Message) { m.Cancelled, m.ExitCode = true, ptr(1) }), "\n(cancelled)")
	require.Contains(t, bash(func(m *session.Message) { m.Truncated = true }), "\n(output truncated)")
	require.Contains(t, bash(func(m *session.Message) { m.Truncated, m.FullOutputPath = true, "/o" }), "/o")
	require.Contains(t, bash(func(m *session.Message) { m.Output = "````\n" }), "`````\n````\n`````", "the fence is longer than any inside")
	require.Contains(t, bash(func(m *session.Message) { m.Command = "echo `x`" }), "`` echo `x` ``")
	require.Empty(t, toModel(session.Message{Role: session.RoleBashExecution, ExcludeFromContext: true}))
	require.Empty(t, toModel(session.Message{Role: session.RolePythonExecution, ExcludeFromContext: true}))
	require.Contains(t, toModel(session.Message{Role: session.RolePythonExecution, Command: "1+1", Output: "2"})[0].Text(""), "```python\n1+1\n```\n```\n2\n```")
}

func TestFileMentions(t *testing.T) {
	t.Parallel()
	got := toModel(session.Message{Role: session.RoleFileMention, Files: []session.FileMention{
		{Path: `a"b`, Content: "x"}, {Path: "p.png", Image: true, MimeType: "image/png", DataLen: 8}, {Path: "c", Content: "y"},
	}})
	require.Len(t, got, 2)
	require.Equal(t, "developer", got[0].Role)
	require.Equal(t, "<file path=\"a&quot;b\">\nx\n</file>\n<file path=\"c\">\ny\n</file>", got[0].Text(""))
	require.Equal(t, "user", got[1].Role)
	require.Equal(t, []session.Block{{Type: session.BlockImage, MimeType: "image/png", DataLen: 8}}, got[1].Content)
	require.Empty(t, toModel(session.Message{Role: session.RoleFileMention}))
}

func TestToModelLeavesItsInputAlone(t *testing.T) {
	t.Parallel()
	in := []session.Message{
		{Role: "toolResult", PrunedAt: 1, Content: blocks("a", "b")},
		{Role: session.RoleCompactionSummary, Summary: "s", Content: blocks("<summary>x</summary>")},
	}
	session.ToModel(in)
	require.Equal(t, blocks("a", "b"), in[0].Content)
	require.Equal(t, blocks("<summary>x</summary>"), in[1].Content)
	require.Empty(t, in[0].Attribution)
}

func TestMSG07OneEnclosingSummaryTagIsStripped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"  plain ":                                  "plain",
		"<summary>\nx\n</summary>\n":                "x",
		"<SUMMARY a=\"b\">x</Summary >":             "x",
		"<summary><summary>x</summary></summary>":   "<summary>x</summary>",
		"<summary>x</summary> tail":                 "<summary>x</summary> tail",
		"<summary>a</summary><summary>b</summary>":  "<summary>a</summary><summary>b</summary>",
		"<summary/>x</summary>":                     "<summary/>x</summary>",
		"<summary>a<summary/>b</summary>":           "a<summary/>b",
		"<summary>x":                                "<summary>x",
		"<summaryx>x</summaryx>":                    "<summaryx>x</summaryx>",
		"</summary>x":                               "</summary>x",
		"<summary>a < b</summary>":                  "a < b",
		"<summary":                                  "<summary",
		"":                                          "",
		"<summary>a <sum b</summary>":               "a <sum b",
		"<summary>1 </summary><p>x</p></summary>":   "<summary>1 </summary><p>x</p></summary>",
		"<summary>a<summary>b</summary></summary>c": "<summary>a<summary>b</summary></summary>c",
	} {
		require.Equal(t, want, session.StripSummaryTags(in), "%q", in)
	}
	got := toModel(session.Message{Role: session.RoleCompactionSummary, Summary: "<summary>x</summary>"})[0].Text("")
	require.Equal(t, 1, strings.Count(got, "<summary>"), "exactly one wrapper in the output")
}

func TestSummaryTagsAroundAnyTextAreStripped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.TrimSpace(rapid.StringOf(rapid.SampledFrom([]rune("ab<>/ \nsummary"))).Draw(t, "text"))
		if strings.Contains(strings.ToLower(s), "summary") || strings.HasSuffix(s, "<") {
			return
		}
		require.Equal(t, s, session.StripSummaryTags("<summary>\n"+s+"\n</summary>"))
	})
}
