package session_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"recap/internal/session"
)

// entryTime is the time of entries made by entry, in Unix ms.
const entryTime = 1767225601000

func ptr[T any](v T) *T { return &v }

func decode(t *testing.T, line string) (session.Message, bool) {
	t.Helper()
	f := parse(t, header, line)
	e := &f.Log.Entries[0]
	body, err := f.Body(e)
	require.NoError(t, err)
	m, ok, err := session.DecodeEntry(e, body)
	require.NoError(t, err)
	return m, ok
}

func message(fields string) string { return entry("message", "a", "", `"message":{`+fields+`}`) }

func TestDecodeEntryReadsEveryRole(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		want       session.Message
	}{
		{
			name: "user, bare string", line: message(`"role":"user","content":"hi","timestamp":7`),
			want: session.Message{Role: "user", Content: []session.Block{{Type: "text", Text: "hi"}}, Timestamp: 7},
		},
		{
			name: "user, text and image", line: message(`"role":"user","content":[{"type":"text","text":"a\nb"},{"type":"image","data":"QUJD","mimeType":"image/png"}],"attribution":"agent"`),
			want: session.Message{
				Role: "user", Attribution: "agent", Timestamp: entryTime,
				Content: []session.Block{{Type: "text", Text: "a\nb"}, {Type: "image", MimeType: "image/png", DataLen: 4}},
			},
		},
		{
			name: "assistant",
			line: message(`"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s"},{"type":"thinking","thinking":"","thinkingSignature":"opaque","redacted":true},` +
				`{"type":"redactedThinking","data":"d"},{"type":"text","text":"t","textSignature":"ts"},{"type":"toolCall","id":"c|f","name":"read","arguments":{"n": 12345678901234567890},"thoughtSignature":"g","partialJson":"{"},{"type":"fallback","from":{}}],` +
				`"api":"anthropic-messages","provider":"p","model":"m","stopReason":"error","errorMessage":"bad","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":10,"orchestration":{"input":5,"output":6,"cacheRead":7}},"retryRecovery":{"status":"recovered"},"timestamp":9`),
			want: session.Message{
				Role: "assistant", API: "anthropic-messages", Provider: "p", Model: "m", StopReason: "error", ErrorMessage: "bad",
				RetryRecovered: true, Timestamp: 9,
				Usage: &session.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Total: 10, Orchestration: 18},
				Content: []session.Block{
					{Type: "thinking", Text: "hm", Signature: "s"},
					{Type: "redactedThinking", Text: "opaque"},
					{Type: "redactedThinking", Text: "d"},
					{Type: "text", Text: "t", Signature: "ts"},
					{Type: "toolCall", ID: "c|f", Name: "read", Arguments: json.RawMessage(`{"n": 12345678901234567890}`), Signature: "g"},
					{Type: "fallback"},
				},
			},
		},
		{
			name: "usage without some fields", line: message(`"role":"assistant","content":[],"usage":{"input":1,"output":-5}`),
			want: session.Message{Role: "assistant", Usage: &session.Usage{Input: 1}, Timestamp: entryTime},
		},
		{
			name: "tool result", line: message(`"role":"toolResult","toolCallId":"c","toolName":"read","content":"bare","isError":true,"useless":true,"prunedAt":5`),
			want: session.Message{Role: "toolResult", ToolCallID: "c", ToolName: "read", Content: []session.Block{{Type: "text", Text: "bare"}}, IsError: true, Useless: true, PrunedAt: 5, Timestamp: entryTime},
		},
		{
			name: "bash", line: message(`"role":"bashExecution","command":"ls","output":"x","exitCode":2,"cancelled":true,"truncated":true,"excludeFromContext":true,"fullOutputPath":"/tmp/o"`),
			want: session.Message{Role: "bashExecution", Command: "ls", Output: "x", ExitCode: ptr(2), Cancelled: true, Truncated: true, ExcludeFromContext: true, FullOutputPath: "/tmp/o", Timestamp: entryTime},
		},
		{
			name: "python", line: message(`"role":"pythonExecution","code":"1+1","output":"2","exitCode":null`),
			want: session.Message{Role: "pythonExecution", Command: "1+1", Output: "2", Timestamp: entryTime},
		},
		{
			name: "file mention", line: message(`"role":"fileMention","files":[{"path":"a","content":"x"},{"path":"b","image":{"type":"image","data":"QQ==","mimeType":"image/gif"}}]`),
			want: session.Message{Role: "fileMention", Timestamp: entryTime, Files: []session.FileMention{{Path: "a", Content: "x"}, {Path: "b", Image: true, MimeType: "image/gif", DataLen: 4}}},
		},
		{
			name: "stored summaries are accepted", line: message(`"role":"compactionSummary","summary":"s","tokensBefore":5`),
			want: session.Message{Role: "compactionSummary", Summary: "s", TokensBefore: ptr(5), Timestamp: entryTime},
		},
		{
			name: "demoted reasoning", line: message(`"role":"developer","content":"r","demotedReasoningSource":{"provider":"p"}`),
			want: session.Message{Role: "developer", Content: []session.Block{{Type: "text", Text: "r"}}, DemotedReasoning: true, Timestamp: entryTime},
		},
		{
			name: "unknown role, foreign content", line: message(`"role":"system","content":5`),
			want: session.Message{Role: "system", Timestamp: entryTime},
		},
		{
			name: "last of equal keys counts, escaped keys too", line: message(`"role":"user","content":"old","\u0063ontent":"new"`),
			want: session.Message{Role: "user", Content: []session.Block{{Type: "text", Text: "new"}}, Timestamp: entryTime},
		},
		{
			name: "broken text becomes valid", line: message(`"role":"user","content":"a\ud800b` + "\xff" + `"`),
			want: session.Message{Role: "user", Content: []session.Block{{Type: "text", Text: "a\uFFFDb\uFFFD"}}, Timestamp: entryTime},
		},
		{
			name: "custom message entry", line: entry("custom_message", "a", "", `"customType":"note","content":"x","display":true,"attribution":"user"`),
			want: session.Message{Role: "custom", CustomType: "note", Content: []session.Block{{Type: "text", Text: "x"}}, Display: true, Attribution: "user", Timestamp: entryTime},
		},
		{
			name: "MSG-01 branch summary entry", line: entry("branch_summary", "a", "", `"summary":"s","fromId":"root"`),
			want: session.Message{Role: "branchSummary", Summary: "s", FromID: "root", Timestamp: entryTime},
		},
		{
			name: "compaction entry", line: compaction("a", "", "s", "x"),
			want: session.Message{Role: "compactionSummary", Summary: "s", TokensBefore: ptr(100), Attribution: "agent", Timestamp: entryTime},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := decode(t, tt.line)
			require.True(t, ok)
			tt.want.EntryID = "a"
			require.Empty(t, cmp.Diff(tt.want, got))
		})
	}
}

func TestDecodeEntryYieldsNoMessage(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"settings":                entry("model_change", "a", "", `"modelId":"m"`),
		"custom":                  entry("custom", "a", "", `"data":{"role":"user","content":"x"}`),
		"label":                   entry("label", "a", "", `"label":"x"`),
		"unknown type":            entry("compact", "a", "", `"content":"x"`),
		"empty branch summary":    entry("branch_summary", "a", "", `"summary":""`),
		"compaction without text": compaction("a", "", " \n", "x"),
		"message without message": entry("message", "a", "", `"content":"x"`),
		"message that is a list":  entry("message", "a", "", `"message":[]`),
	} {
		_, ok := decode(t, line)
		require.False(t, ok, name)
	}
}

func TestDecodeEntrySharesNoMemoryWithTheBody(t *testing.T) {
	t.Parallel()
	body := []byte(message(`"role":"user","content":[{"type":"text","text":"plain words"},{"type":"toolCall","id":"c","name":"n","arguments":{"a":"b"}}],"provider":"prov"`))
	e := &session.Entry{ID: "a", Type: "message"}
	m, ok, err := session.DecodeEntry(e, body)
	require.NoError(t, err)
	require.True(t, ok)
	for i := range body {
		body[i] = '#'
	}
	require.Equal(t, "plain words", m.Content[0].Text)
	require.Equal(t, `{"a":"b"}`, string(m.Content[1].Arguments))
	require.Equal(t, "prov", m.Provider)
	require.Equal(t, "user", m.Role)
}

func TestDecodeEntryRefusesWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "null", "[]", `{"a":1}{"b":2}`, `{"message":`, strings.Repeat(`{"a":`, 10000)} {
		_, ok, err := session.DecodeEntry(&session.Entry{ID: "a", Line: 4, Type: "message"}, []byte(body))
		var bad *session.EntryError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, 4, bad.Line)
		require.False(t, ok)
	}
}

// FuzzDecodeEntry decodes anything as every type of entry: it never panics, and text is valid UTF-8. A
// Decoder, which does not check strings, agrees wherever there is a message.
func FuzzDecodeEntry(f *testing.F) {
	for _, seed := range []string{
		message(`"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":{}},{"type":"thinking","thinking":"x","redacted":true}],"usage":{"input":1e400}`),
		message(`"role":"user","content":"\ud83d\ude00\ud800","timestamp":"2026-01-01T00:00:00Z"`),
		compaction("a", "b", "s", "k"),
		entry("compaction", "a", "", `"summary":"","preserveData":{"snapcompact":{"textHead":"a","textTail":"b"},"remoteCompaction":{"version":1,"window":[{"type":"compaction","encrypted_content":"x"}]}},"retainedTail":[{"role":"user","content":"x"}]`),
	} {
		f.Add([]byte(seed))
	}
	f.Add([]byte(`{"message":{"role":"\u12\\","content":"\ud83d\u\\","output":"\q\u1"}}`))
	types := []string{"message", "custom_message", "branch_summary", "compaction", "label"}
	f.Fuzz(func(t *testing.T, body []byte) {
		var d session.Decoder
		for _, typ := range types {
			e := &session.Entry{ID: "a", Type: typ, Timestamp: "x"}
			same, sameErr := d.Decode(e, body)
			m, ok, err := session.DecodeEntry(e, body)
			if err != nil || !ok {
				continue
			}
			require.NoError(t, sameErr)
			require.Empty(t, cmp.Diff(&m, same, cmpopts.EquateEmpty()))
			require.True(t, utf8.ValidString(m.Role+m.Text("")+m.Summary+m.Command+m.Output+m.Provider+m.ToolCallID+m.CustomType))
			session.ToModel([]session.Message{m})
		}
		c, err := session.DecodeCompaction(body)
		if err == nil {
			c.Usable("p")
			c.Archive()
		}
	})
}
