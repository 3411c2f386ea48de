package tokens_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/session"
	"recap/internal/tokens"
)

func decode(t testing.TB, message string) *session.Message {
	t.Helper()
	m, ok, err := session.DecodeEntry(&session.Entry{ID: "e", Type: session.TypeMessage}, []byte(`{"type":"message","id":"e","message":`+message+`}`))
	require.NoError(t, err)
	require.True(t, ok)
	return &m
}

func TestTextRoundsBytesUp(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "äöüß": 2, "日本": 2} {
		require.Equal(t, want, tokens.Text(text), text)
	}
}

func TestCUT01StringContentCountsLikeATextBlock(t *testing.T) {
	t.Parallel()
	bare := decode(t, `{"role":"user","content":"Hello there, agent."}`)
	block := decode(t, `{"role":"user","content":[{"type":"text","text":"Hello there, agent."}]}`)
	require.Equal(t, 5, tokens.Message(bare, false))
	require.Equal(t, 5, tokens.Message(block, false))
}

// TestMessageEstimates has CUT-02 to CUT-09, EST-03 and EST-04 as rows.
func TestMessageEstimates(t *testing.T) {
	t.Parallel()
	signed := `{"role":"assistant","content":[{"type":"thinking","thinking":"12345678","thinkingSignature":"abcdefgh"}]}`
	redacted := `{"role":"assistant","content":[{"type":"redactedThinking","data":"12345678"}]}`
	for _, tt := range []struct {
		name, message string
		want, floor   int
	}{
		{"CUT-02 bash counts command and output", `{"role":"bashExecution","command":"ls","output":"12345678"}`, 3, 3},
		{"CUT-02 bash with neither", `{"role":"bashExecution","command":"","output":""}`, 0, 0},
		{"CUT-02 bash excluded from context counts", `{"role":"bashExecution","command":"ls","output":"x","excludeFromContext":true}`, 2, 2},
		{"CUT-03 signatures only above the floor", signed, 4, 2},
		{"CUT-04 redacted thinking only above the floor", redacted, 2, 0},
		{"CUT-05 calls count name and arguments", `{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{"path":"a"}}]}`, 1 + 3, 1 + 3},
		{"CUT-05 arguments count compact", `{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{ "path" : "a b" }}]}`, 1 + 4, 1 + 4},
		{"CUT-06 image in a result", `{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"1234"},{"type":"image","data":"eA==","mimeType":"image/png"}]}`, 1201, 1201},
		{"CUT-07 result as a bare string", `{"role":"toolResult","toolCallId":"c","content":"12345"}`, 2, 2},
		{"CUT-09 unknown role", `{"role":"oracle","content":"12345678"}`, 0, 0},
		{"EST-03 developer text and image", `{"role":"developer","content":[{"type":"text","text":"1234"},{"type":"image","data":"eA=="}]}`, 1201, 1201},
		{"EST-03 a longer developer text counts more", `{"role":"developer","content":[{"type":"text","text":"123456789"}]}`, 3, 3},
		{"EST-03 developer empty", `{"role":"developer","content":""}`, 0, 0},
		{"EST-04 python", `{"role":"pythonExecution","code":"1+1","output":"2"}`, 2, 2},
		{"EST-04 file mentions", `{"role":"fileMention","files":[{"path":"a.go","content":"12345678"},{"path":"b","content":"","image":{"data":"eA==","mimeType":"image/png"}}]}`, 1 + 2 + 1 + 1200, 1204},
		{"EST-04 image of a user", `{"role":"user","content":[{"type":"image","data":"eA=="}]}`, 1200, 1200},
		{"content that is neither", `{"role":"user","content":7}`, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := decode(t, tt.message)
			require.Equal(t, tt.want, tokens.Message(m, false))
			require.Equal(t, tt.floor, tokens.Message(m, true))
		})
	}
}

func TestCUT08AttachmentsOfASummary(t *testing.T) {
	t.Parallel()
	m := session.Message{Role: session.RoleCompactionSummary, Summary: "1234", Content: []session.Block{
		{Type: session.BlockImage}, {Type: session.BlockText, Text: "12345"},
	}}
	require.Equal(t, 1+5024+2, tokens.Message(&m, false))
}

func TestCUT09BranchSummary(t *testing.T) {
	t.Parallel()
	require.Equal(t, 2, tokens.Message(&session.Message{Role: session.RoleBranchSummary, Summary: "12345"}, false))
}

// TestEST05EstimatesFollowTheMessage: both variants are told apart, equal messages are counted each by
// itself, and an edit in place is noticed.
func TestEST05EstimatesFollowTheMessage(t *testing.T) {
	t.Parallel()
	const text = `{"role":"assistant","content":[{"type":"text","text":"1234"},{"type":"redactedThinking","data":"1234"}]}`
	m, twin := decode(t, text), decode(t, text)
	for range 2 {
		require.Equal(t, 2, tokens.Message(m, false))
		require.Equal(t, 1, tokens.Message(m, true))
	}
	m.Content[0].Text = "12345678"
	require.Equal(t, 3, tokens.Message(m, false))
	require.Equal(t, 2, tokens.Message(m, true))
	require.Equal(t, 2, tokens.Message(twin, false))
}

func TestEstimatesAreNeverNegativeAndTheFloorNeverHigher(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := session.Message{
			Role: rapid.SampledFrom([]string{
				session.RoleUser, session.RoleAssistant, session.RoleToolResult, session.RoleBashExecution,
				session.RoleCompactionSummary, session.RoleFileMention, "other",
			}).Draw(t, "role"),
			Command: rapid.String().Draw(t, "command"), Summary: rapid.String().Draw(t, "summary"),
		}
		for range rapid.IntRange(0, 5).Draw(t, "blocks") {
			m.Content = append(m.Content, session.Block{
				Type: rapid.SampledFrom([]string{"text", "image", "thinking", "redactedThinking", "toolCall", "x"}).Draw(t, "type"),
				Text: rapid.String().Draw(t, "text"), Signature: rapid.String().Draw(t, "signature"),
				Arguments: rapid.SliceOf(rapid.Byte()).Draw(t, "arguments"),
			})
		}
		whole, floor := tokens.Message(&m, false), tokens.Message(&m, true)
		require.GreaterOrEqual(t, floor, 0)
		require.GreaterOrEqual(t, whole, floor)
	})
}

func TestArgumentsAreMeasuredAsACompactEncoderWritesThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		raw, err := json.MarshalIndent(map[string]any{"a": text, "n": []any{1, 2.5, nil, true}}, "", "   ")
		require.NoError(t, err)
		var compact map[string]any
		require.NoError(t, json.Unmarshal(raw, &compact))
		want, err := json.Marshal(compact)
		require.NoError(t, err)
		m := session.Message{Role: session.RoleAssistant, Content: []session.Block{{Type: session.BlockToolCall, Arguments: raw}}}
		require.Equal(t, tokens.Bytes(len(want)), tokens.Message(&m, false))
	})
}

func TestBytesOfALongTextDoNotOverflow(t *testing.T) {
	t.Parallel()
	require.Equal(t, 25_000, tokens.Text(strings.Repeat("x", 100_000)))
	require.Zero(t, tokens.Bytes(-3))
}
