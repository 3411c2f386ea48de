package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"recap/internal/session"
)

// Serialize turns messages of the context into blocks, in order (spec/summary §5.1). Left out are
// thinking, developer messages that restate reasoning, executions excluded from the context, turns a
// retry replaced, empty results, and useless results together with their calls. Long results are
// shortened; what a user or an assistant wrote never is.
func Serialize(list []session.Message) []Block {
	var w Writer
	for i := range list {
		w.Add(&list[i])
	}
	return Join(&w)
}

// Writer serialises one stretch of a conversation. Several stretches can be serialised at once and
// are put together by Join. The zero value is ready; it is not safe for concurrent use. It keeps
// blocks with copies of what they quote: a message may change once it is added.
type Writer struct {
	blocks []Block
	copies session.Slab
	// useless names the calls whose results were dropped, and how many blocks there were then.
	useless []droppedResult
	// recovered holds the calls of a turn that a retry replaced, until something else follows.
	recovered map[string]bool
	parts     []string // of the text that is being put together
	json      []byte   // scratch memory
}

type droppedResult struct {
	call string
	at   int
}

// Grow makes room for n more messages.
func (w *Writer) Grow(n int) { w.blocks = slices.Grow(w.blocks, n) }

// Add serialises the next message.
func (w *Writer) Add(m *session.Message) {
	if w.skipRecovered(m) {
		return
	}
	switch m.Role {
	case session.RoleAssistant:
		w.assistant(m)
	case session.RoleToolResult:
		w.result(m)
	case session.RoleUser:
		w.text(User, m)
	case session.RoleDeveloper:
		if !m.DemotedReasoning {
			w.text(Developer, m)
		}
	default:
		w.converted(m)
	}
}

// skipRecovered drops an assistant turn that a retry replaced, and the results that answer it.
func (w *Writer) skipRecovered(m *session.Message) bool {
	if m.Role == session.RoleAssistant && m.RetryRecovered {
		w.recovered = map[string]bool{}
		for i := range m.Content {
			if m.Content[i].Type == session.BlockToolCall {
				w.recovered[strings.Clone(m.Content[i].ID)] = true
			}
		}
		return true
	}
	if m.Role == session.RoleToolResult && w.recovered[m.ToolCallID] {
		return true
	}
	w.recovered = nil
	return false
}

// converted serialises a message of a role that models do not know, in the form models are sent.
func (w *Writer) converted(m *session.Message) {
	role := User
	switch m.Role {
	case session.RoleCustom, session.RoleHookMessage, session.RoleBranchSummary, session.RoleFileMention:
		role = Developer
	}
	for _, c := range session.ToModel([]session.Message{*m}) {
		c.EntryID = m.EntryID
		w.text(role, &c)
	}
}

func (w *Writer) text(role Role, m *session.Message) {
	w.parts = w.parts[:0]
	for i := range m.Content {
		switch b := &m.Content[i]; {
		case b.Type == session.BlockText && b.Text != "":
			w.part(b.Text)
		case b.Type == session.BlockImage:
			w.part("[Image: ", b.MimeType, "]")
		}
	}
	if text := w.joined(); text != "" {
		w.blocks = append(w.blocks, Block{Role: role, Text: text, Entry: m.EntryID})
	}
}

// part adds a line or more to the text being put together.
func (w *Writer) part(pieces ...string) {
	if len(w.parts) > 0 {
		w.parts = append(w.parts, "\n")
	}
	w.parts = append(w.parts, pieces...)
}

// joined is the text that was put together, "" when it is blank.
func (w *Writer) joined() string {
	for _, part := range w.parts {
		if strings.TrimSpace(part) != "" {
			return w.copies.Join(w.parts...)
		}
	}
	return ""
}

func (w *Writer) assistant(m *session.Message) {
	b := Block{Role: Assistant, Entry: m.EntryID}
	w.parts = w.parts[:0]
	for i := range m.Content {
		switch c := &m.Content[i]; {
		case c.Type == session.BlockText && c.Text != "":
			w.part(c.Text)
		case c.Type == session.BlockToolCall:
			b.Calls = append(b.Calls, Call{Name: w.copies.Join(c.Name), Args: w.arguments(c.Arguments), id: w.copies.Join(c.ID)})
		}
	}
	b.Text = w.joined()
	if b.Text != "" || len(b.Calls) > 0 {
		w.blocks = append(w.blocks, b)
	}
}

func (w *Writer) result(m *session.Message) {
	if m.Useless && !m.IsError {
		w.useless = append(w.useless, droppedResult{call: w.copies.Join(m.ToolCallID), at: len(w.blocks)})
		return
	}
	text := m.Text("")
	if strings.TrimSpace(text) == "" {
		return
	}
	kept, cut := shorten(text)
	w.blocks = append(w.blocks, Block{
		Role: ToolResult, Text: w.copies.Join(kept), Cut: cut, Tool: w.copies.Join(m.ToolName), Error: m.IsError, Entry: m.EntryID,
	})
}

// arguments lists the arguments of a call in stored order. Arguments that are no object are one
// argument without a name.
func (w *Writer) arguments(raw json.RawMessage) []Arg {
	var args []Arg
	if session.EachMember(raw, func(key string, value json.RawMessage) {
		args = append(args, Arg{Key: w.copies.Join(key), JSON: w.compact(value)})
	}) {
		return args
	}
	if v := gjson.ParseBytes(raw); len(raw) > 0 && v.Type != gjson.Null {
		return []Arg{{JSON: w.compact(raw)}}
	}
	return nil
}

// compact is the JSON of a value without white space between its tokens; numbers keep their digits.
func (w *Writer) compact(value json.RawMessage) string {
	if value[0] == '{' || value[0] == '[' {
		w.json = session.AppendCompact(w.json[:0], value)
		value = w.json
	}
	return w.copies.Copy(value)
}

// Join puts stretches together, in order, and drops the calls of useless results: of the calls with
// that id the nearest before the result, which may lie in an earlier stretch.
func Join(stretches ...*Writer) []Block {
	n, useless := 0, 0
	for _, w := range stretches {
		n += len(w.blocks)
		useless += len(w.useless)
	}
	all := make([]Block, 0, n)
	dropped := make([]droppedResult, 0, useless)
	for _, w := range stretches {
		for _, u := range w.useless {
			dropped = append(dropped, droppedResult{call: u.call, at: u.at + len(all)})
		}
		all = append(all, w.blocks...)
		w.blocks = nil
	}
	for _, u := range dropped {
		dropCall(all[:u.at], u.call)
	}
	if len(dropped) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(b Block) bool {
		return b.Role == Assistant && b.Text == "" && len(b.Calls) == 0
	})
}

func dropCall(before []Block, id string) {
	for i := len(before) - 1; i >= 0; i-- {
		at := slices.IndexFunc(before[i].Calls, func(c Call) bool { return c.id == id })
		if at >= 0 {
			before[i].Calls = slices.Delete(before[i].Calls, at, at+1)
			return
		}
	}
}
