package edit_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/compaction/reduce/edit"
	"recap/internal/session"
)

func entryOf(kind string) *session.Entry {
	return &session.Entry{ID: "e1", Type: kind, Timestamp: "2026-05-01T09:00:00Z"}
}

// made makes edits on the stored object and on the message it decodes to, and checks that both are
// equal.
func made(t require.TestingT, kind, body string, edits ...edit.Edit) (string, session.Message) {
	e := entryOf(kind)
	before, ok, err := session.DecodeEntry(e, []byte(body))
	require.NoError(t, err)
	require.True(t, ok)
	live, err := edit.Message(before, edits)
	require.NoError(t, err)
	out, err := edit.Body(e, []byte(body), edits)
	require.NoError(t, err)
	stored, ok, err := session.DecodeEntry(e, out)
	require.NoError(t, err)
	require.True(t, ok)
	require.Empty(t, cmp.Diff(live, stored))
	unchanged, _, err := session.DecodeEntry(e, []byte(body))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(unchanged, before), "the message given does not change")
	return string(out), stored
}

func TestOnlyTheNamedValuesOfAnObjectChange(t *testing.T) {
	t.Parallel()
	blank := edit.Edit{Op: edit.Blank, Text: "[gone]", PrunedAt: 7}
	keep := edit.Edit{Op: edit.BlankText, Text: "[gone]", PrunedAt: 7}
	images := edit.Edit{Op: edit.DropImages}
	splice := func(f edit.Field, index, start, end int) edit.Edit {
		return edit.Edit{Op: edit.Splice, Field: f, Index: index, Start: start, End: end, Text: "—"}
	}
	const message, custom, branch = session.TypeMessage, session.TypeCustomMessage, session.TypeBranchSummary
	for _, tt := range []struct {
		name, kind, body, want string
		edits                  []edit.Edit
	}{
		{
			"a blanked result keeps spacing, odd numbers and unknown fields", message,
			`{ "type" : "message", "x":1.50, "message" : {"role":"toolResult", "content":[{"type":"text","text":"a"},{"type":"image","data":"AA=="}] , "details":{"n":12345678901234567890} } , "y" : null }`,
			`{ "type" : "message", "x":1.50, "message" : {"role":"toolResult", "content":[{"type":"text","text":"[gone]"}] , "details":{"n":12345678901234567890},"prunedAt":7 } , "y" : null }`,
			[]edit.Edit{blank},
		},
		{
			"a stamp that is there is replaced", message,
			`{"message":{"role":"toolResult","prunedAt":null,"content":"a"}}`,
			`{"message":{"role":"toolResult","prunedAt":7,"content":[{"type":"text","text":"[gone]"}]}}`,
			[]edit.Edit{blank},
		},
		{
			"content that is missing is added", message,
			`{"message":{"role":"toolResult"}}`,
			`{"message":{"role":"toolResult","content":[{"type":"text","text":"[gone]"}],"prunedAt":7}}`,
			[]edit.Edit{keep},
		},
		{
			"images and foreign elements of a blanked text stay", message,
			`{"message":{"role":"toolResult","content":[3,{"type":"image","data":"AA=="},{"type":"text","text":"a"},{"type":"text","text":"b"}]}}`,
			`{"message":{"role":"toolResult","content":[3,{"type":"image","data":"AA=="},{"type":"text","text":"[gone]"}],"prunedAt":7}}`,
			[]edit.Edit{keep},
		},
		{
			"of equal keys the last one counts", message,
			`{"message":{"role":"user","content":"aaaa"},"message":{"role":"user","content":"xxxx","cont\u0065nt":"aaaa"}}`,
			`{"message":{"role":"user","content":"aaaa"},"message":{"role":"user","content":"xxxx","cont\u0065nt":"a—a"}}`,
			[]edit.Edit{splice(edit.Content, 0, 1, 3)},
		},
		{
			"two splices of one text", custom,
			`{"type":"custom_message","content":[{"type":"text","text":"one two three","n":1}]}`,
			`{"type":"custom_message","content":[{"type":"text","text":"— two —","n":1}]}`,
			[]edit.Edit{splice(edit.Content, 0, 0, 3), splice(edit.Content, 0, 8, 13)},
		},
		{
			"blocks are counted as they are read", message,
			`{"message":{"role":"user","content":[null,{"type":"image"},7,{"type":"text","text":"a\u00e9\ud83d\ude00b"}]}}`,
			`{"message":{"role":"user","content":[null,{"type":"image"},7,{"type":"text","text":"a—b"}]}}`,
			[]edit.Edit{splice(edit.Content, 1, 1, 7)},
		},
		{
			"the summary of a branch", branch,
			`{"fromId":"root","summary":"abc"}`, `{"fromId":"root","summary":"a—"}`,
			[]edit.Edit{splice(edit.Summary, 0, 1, 3)},
		},
		{
			"output of a command", message,
			`{"message":{"role":"bashExecution","command":"abc","output":"abc"}}`,
			`{"message":{"role":"bashExecution","command":"abc","output":"—"}}`,
			[]edit.Edit{splice(edit.Output, 0, 0, 3)},
		},
		{
			"content of the second file", message,
			`{"message":{"role":"fileMention","files":[{"path":"a","content":"abc"},{"path":"b","content":"abc"}]}}`,
			`{"message":{"role":"fileMention","files":[{"path":"a","content":"abc"},{"path":"b","content":"—c"}]}}`,
			[]edit.Edit{splice(edit.File, 1, 0, 2)},
		},
		{
			"images of a message", message,
			`{"message":{"role":"user","content":[{"type":"text","text":"a"}, {"type":"image","data":"AA=="} ,2]}}`,
			`{"message":{"role":"user","content":[{"type":"text","text":"a"},2]}}`,
			[]edit.Edit{images},
		},
		{
			"a message of images alone", custom,
			`{"content":[{"type":"image","data":"AA=="}]}`, `{"content":[{"type":"text","text":"[image removed]"}]}`,
			[]edit.Edit{images},
		},
		{
			"nothing but images and what is no block", message,
			`{"message":{"role":"user","content":[3,{"type":"image"}]}}`,
			`{"message":{"role":"user","content":[3,{"type":"text","text":"[image removed]"}]}}`,
			[]edit.Edit{images},
		},
		{
			"splices side by side", message,
			`{"message":{"role":"user","content":"abcd"}}`, `{"message":{"role":"user","content":"a——d"}}`,
			[]edit.Edit{splice(edit.Content, 0, 1, 2), splice(edit.Content, 0, 2, 3)},
		},
		{
			"images of files", message,
			`{"message":{"role":"fileMention","files":[{"image":{},"path":"a", "image":{"mimeType":"x"} },{"path":"b","image":{"data":"AA=="},"content":"c"},{"content":"d"},4]}}`,
			`{"message":{"role":"fileMention","files":[{"path":"a","content":"[image removed]" },{"path":"b","content":"c"},{"content":"d"},4]}}`,
			[]edit.Edit{images},
		},
		{
			"nothing to drop", message,
			`{"message":{"role":"user","content":[ {"type":"text","text":"a"} ]}}`, `{"message":{"role":"user","content":[ {"type":"text","text":"a"} ]}}`,
			[]edit.Edit{images},
		},
		{
			"characters are written plainly", message,
			`{"message":{"role":"user","content":"<a>&\u0001x"}}`, `{"message":{"role":"user","content":"<a>&\u0001—"}}`,
			[]edit.Edit{splice(edit.Content, 0, 5, 6)},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _ := made(t, tt.kind, tt.body, tt.edits...)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestEditsThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	const body = `{"message":{"role":"user","content":[{"type":"text","text":"aé"},{"type":"image"}],"files":[]}}`
	splice := edit.Edit{Op: edit.Splice, Field: edit.Content, Start: 0, End: 1}
	for name, edits := range map[string][]edit.Edit{
		"behind the end":          {{Op: edit.Splice, Field: edit.Content, Start: 1, End: 4}},
		"backwards":               {{Op: edit.Splice, Field: edit.Content, Start: 1, End: 0}},
		"before the start":        {{Op: edit.Splice, Field: edit.Content, Start: -1, End: 1}},
		"within a character":      {{Op: edit.Splice, Field: edit.Content, Start: 0, End: 2}},
		"a block that is none":    {{Op: edit.Splice, Field: edit.Content, Index: 2}},
		"a block that is no text": {{Op: edit.Splice, Field: edit.Content, Index: 1}},
		"a negative block":        {{Op: edit.Splice, Field: edit.Content, Index: -1}},
		"a file that is none":     {{Op: edit.Splice, Field: edit.File}},
		"an unknown field":        {{Op: edit.Splice, Field: "role"}},
		"an unknown edit":         {{Op: "delete"}},
		"overlapping":             {splice, splice},
		"a whole beside a part":   {splice, {Op: edit.Blank}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refused *edit.Error
			_, err := edit.Body(entryOf(session.TypeMessage), []byte(body), edits)
			require.ErrorAs(t, err, &refused)
			m, _, err := session.DecodeEntry(entryOf(session.TypeMessage), []byte(body))
			require.NoError(t, err)
			_, err = edit.Message(m, edits)
			require.ErrorAs(t, err, &refused)
			require.Equal(t, "e1", refused.EntryID)
		})
	}
}

func TestEntriesWithoutAMessageAreRefused(t *testing.T) {
	t.Parallel()
	blank := []edit.Edit{{Op: edit.Blank}}
	var refused *edit.Error
	for _, kind := range []string{session.TypeLabel, session.TypeCompaction} {
		_, err := edit.Body(entryOf(kind), []byte(`{"summary":"x"}`), blank)
		require.ErrorAs(t, err, &refused)
	}
	_, err := edit.Body(entryOf(session.TypeMessage), []byte(`{"message":[]}`), blank)
	require.ErrorAs(t, err, &refused)
	var broken *session.EntryError
	_, err = edit.Body(entryOf(session.TypeMessage), []byte(`{"message":`), blank)
	require.ErrorAs(t, err, &broken)
}

func TestAFingerprintTellsMessagesApart(t *testing.T) {
	t.Parallel()
	base := session.Message{Role: "user", Content: []session.Block{{Type: "text", Text: "ab"}}}
	seen := map[string]bool{edit.Fingerprint(&base): true}
	for _, change := range []func(*session.Message){
		func(m *session.Message) { m.Role = "assistant" },
		func(m *session.Message) { m.PrunedAt = 1 },
		func(m *session.Message) { m.Output = "ab" },
		func(m *session.Message) { m.Summary = "ab" },
		func(m *session.Message) { m.Content = append(m.Content, session.Block{Type: "image"}) },
		func(m *session.Message) {
			m.Content = []session.Block{{Type: "text", Text: "a"}, {Type: "text", Text: "b"}}
		},
		func(m *session.Message) { m.Files = []session.FileMention{{Content: "ab"}} },
	} {
		m := base
		change(&m)
		print := edit.Fingerprint(&m)
		require.False(t, seen[print])
		seen[print] = true
	}
}

// randomBody draws a stored object with the oddities of foreign writers.
func randomBody(t *rapid.T) (kind, body string) {
	value := rapid.SampledFrom([]string{
		`null`, `7`, `"plain"`, `"caf\u00e9 \ud83d\ude00 \"q\" \\ \/"`, "\"\ufffd\xff raw\"", `"\ud83d lone"`, `[]`, `{}`, `"` + strings.Repeat("x", 300) + `"`,
		`[{"type":"text","text":"one"},{"type":"image","data":"AA=="},{"type":"text","text":"two","text":"three"}]`,
		`[ null , {"type":"image"} , [ ] , {"text":"no type"} ]`, `[{"type":"toolCall","id":"x","name":"n","arguments":{"a" : 1}}]`,
		`[{"path":"a","content":"x","image":{"data":"AA==","mimeType":"m"},"image":null},{"image":{},"k":[1]},5]`,
	})
	keys := rapid.SampledFrom([]string{"content", "output", "summary", "files", "prunedAt", "toolCallId", `cont\u0065nt`, "x"})
	var parts []string
	for range rapid.IntRange(0, 6).Draw(t, "members") {
		space := rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "space")
		parts = append(parts, fmt.Sprintf(`%s"%s"%s:%s%s`, space, keys.Draw(t, "key"), space, space, value.Draw(t, "value")))
	}
	role := rapid.SampledFrom([]string{"user", "toolResult", "assistant", "bashExecution", "fileMention", "branchSummary"}).Draw(t, "role")
	parts = append(parts, `"role":"`+role+`"`)
	inner := "{" + strings.Join(parts, ",") + "}"
	switch kind = rapid.SampledFrom([]string{session.TypeMessage, session.TypeCustomMessage, session.TypeBranchSummary}).Draw(t, "kind"); kind {
	case session.TypeMessage:
		return kind, `{"id":"e1", "message":7,"message" : ` + inner + `,"z":1}`
	case session.TypeBranchSummary:
		return kind, strings.TrimSuffix(inner, "}") + `,"summary":"of a branch"}`
	}
	return kind, inner
}

func randomEdits(t *rapid.T, m *session.Message) []edit.Edit {
	text := rapid.SampledFrom([]string{"", "[gone]", "é\n\"", "bad \xff utf"}).Draw(t, "text")
	switch op := rapid.SampledFrom([]edit.Op{edit.Blank, edit.BlankText, edit.DropImages, edit.Splice}).Draw(t, "op"); op {
	case edit.DropImages:
		return []edit.Edit{{Op: op}}
	case edit.Blank, edit.BlankText:
		return []edit.Edit{{Op: op, Text: text, PrunedAt: rapid.Int64Range(0, 1<<42).Draw(t, "at")}}
	}
	var edits []edit.Edit
	add := func(f edit.Field, index int, s string) {
		at := rapid.IntRange(0, len(s)).Draw(t, "at")
		end := rapid.IntRange(at, len(s)).Draw(t, "end")
		for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
			at--
		}
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		edits = append(edits, edit.Edit{Op: edit.Splice, Field: f, Index: index, Start: at, End: end, Text: text})
	}
	for j := range m.Content {
		if m.Content[j].Type == session.BlockText {
			add(edit.Content, j, m.Content[j].Text)
		}
	}
	for j := range m.Files {
		add(edit.File, j, m.Files[j].Content)
	}
	add(edit.Output, 0, m.Output)
	if m.Summary != "" {
		add(edit.Summary, 0, m.Summary)
	}
	return edits
}

func TestStoredAndLiveStayEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind, body := randomBody(t)
		e := entryOf(kind)
		m, ok, err := session.DecodeEntry(e, []byte(body))
		require.NoError(t, err, body)
		if !ok {
			return
		}
		edits := randomEdits(t, &m)
		live, err := edit.Message(m, edits)
		if err == nil {
			var out []byte
			out, err = edit.Body(e, []byte(body), edits)
			if err == nil {
				stored, ok, err := session.DecodeEntry(e, out)
				require.NoError(t, err, "%s", out)
				if ok { // a branch whose summary became empty says nothing any more
					require.Empty(t, cmp.Diff(live, stored), "%s\n%s", body, out)
				}
				return
			}
		}
		var refused *edit.Error
		require.ErrorAs(t, err, &refused)
		_, err = edit.Body(e, []byte(body), edits)
		require.Error(t, err)
	})
}

func FuzzBody(f *testing.F) {
	f.Add(`{"message":{"role":"toolResult","content":[{"type":"text","text":"a"},{"type":"image"}]}}`, "blank", "content", 0, 0, 0, "x", int64(5))
	f.Add(`{"message":{"role":"user","content":"caf\u00e9 \ud83d"}}`, "splice", "content", 0, 1, 3, "\xff", int64(0))
	f.Add(`{"message":{"role":"fileMention","files":[{"image":{},"image":{}},{"content":"x"}]}}`, "dropImages", "", 0, 0, 0, "", int64(0))
	f.Add(`{"message":{"role":"bashExecution","output":"abc","output":"de"}}`, "splice", "output", 0, 1, 2, "z", int64(0))
	f.Add(`{"message":{},"message":{"content":[1,{"text":"x","type":"text"}]}}`, "blankText", "", 0, 0, 0, "y", int64(-1))
	f.Fuzz(func(t *testing.T, body, op, field string, index, start, end int, text string, at int64) {
		e := entryOf(session.TypeMessage)
		m, ok, err := session.DecodeEntry(e, []byte(body))
		edits := []edit.Edit{{Op: edit.Op(op), Field: edit.Field(field), Index: index, Start: start, End: end, Text: text, PrunedAt: at}}
		out, bodyErr := edit.Body(e, []byte(body), edits)
		if err != nil || !ok {
			require.Error(t, bodyErr)
			return
		}
		live, err := edit.Message(m, edits)
		if err != nil {
			require.Error(t, bodyErr)
			return
		}
		if bodyErr != nil {
			var refused *edit.Error
			require.ErrorAs(t, bodyErr, &refused)
			return
		}
		stored, ok, err := session.DecodeEntry(e, out)
		require.NoError(t, err)
		require.True(t, ok)
		require.Empty(t, cmp.Diff(live, stored))
	})
}
