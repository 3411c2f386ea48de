package interop

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
	"recap/internal/testkit/pi"
)

// view is what a message shows, in terms that recap and pi share.
type view struct {
	Role   string
	Blocks []block
	Call   string // id of the call that a tool result answers
	Tool   string
	Error  bool
	Stop   string
	Ran    string // command and output of a shell command
	Custom string
	From   string
}

type block struct {
	Type, Text, Mime string
	Data             int // length of base64 data
	ID, Name         string
	Arguments        string // compact JSON
}

func ours(t *testing.T, messages []session.Message) []view {
	t.Helper()
	var list []view
	for i := range messages {
		m := &messages[i]
		v := view{
			Role: m.Role, Call: m.ToolCallID, Tool: m.ToolName, Error: m.IsError, Stop: m.StopReason, Custom: m.CustomType, From: m.FromID,
		}
		if m.Role == session.RoleBashExecution {
			v.Ran = m.Command + "\n" + m.Output
		}
		if m.Role == session.RoleCompactionSummary || m.Role == session.RoleBranchSummary {
			v.Blocks = []block{{Type: "summary", Text: m.Summary}}
			list = append(list, v)
			continue
		}
		for _, b := range m.Content {
			v.Blocks = append(v.Blocks, block{
				Type: b.Type, Text: b.Text, Mime: b.MimeType, Data: b.DataLen, ID: b.ID, Name: b.Name, Arguments: compact(t, b.Arguments),
			})
		}
		list = append(list, v)
	}
	return list
}

func views(t *testing.T, messages []pi.Message) []view {
	t.Helper()
	var list []view
	for _, m := range messages {
		v := view{
			Role: m.Role, Call: m.ToolCallID, Tool: m.ToolName, Error: m.IsError, Stop: m.StopReason, Custom: m.CustomType, From: m.FromID,
		}
		if m.Role == "bashExecution" {
			v.Ran = m.Command + "\n" + m.Output
		}
		if m.Role == "compactionSummary" || m.Role == "branchSummary" {
			v.Blocks = []block{{Type: "summary", Text: m.Summary}}
			list = append(list, v)
			continue
		}
		for _, b := range m.Content {
			v.Blocks = append(v.Blocks, block{
				Type: b.Type, Text: b.Text + b.Thinking, Mime: b.MimeType, Data: len(b.Data), ID: b.ID, Name: b.Name, Arguments: compact(t, b.Arguments),
			})
		}
		list = append(list, v)
	}
	return list
}

// compact renders JSON without white space; numbers and escapes are normalised, key order stays.
func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if len(raw) == 0 {
		return ""
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	require.NoError(t, d.Decode(&value))
	out, err := json.Marshal(value)
	require.NoError(t, err)
	return string(out)
}
