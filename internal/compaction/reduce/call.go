package reduce

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"recap/internal/compaction/reduce/selector"
	"recap/internal/session"
)

// call is a tool call that a result answers.
type call struct {
	tool string
	args json.RawMessage
	ran  bool // false when its turn ended in an error, so that its result is made up
}

// calls knows which call each result of a tail answers: the latest call with its id before it. Calls
// before the tail are looked for only when a result there is none for asks, newest first, and each
// entry is read once.
type calls struct {
	of     []*call // by item; nil when the tail has none for it
	before map[string]*call
	next   int // path index of the next entry to read, going back; -1 at the root
	src    Source
}

func pairCalls(items []Item, start int, src Source) *calls {
	c := &calls{of: make([]*call, len(items)), before: map[string]*call{}, next: start - 1, src: src}
	open := map[string]*call{}
	for i := range items {
		m := &items[i].Message
		switch m.Role {
		case session.RoleAssistant:
			eachCall(m, func(id string, made *call) { open[id] = made })
		case session.RoleToolResult:
			c.of[i] = open[m.ToolCallID]
		}
	}
	return c
}

func eachCall(m *session.Message, f func(id string, made *call)) {
	ran := m.StopReason != session.StopError && m.StopReason != session.StopAborted
	for j := range m.Content {
		if b := &m.Content[j]; b.Type == session.BlockToolCall {
			f(b.ID, &call{tool: b.Name, args: b.Arguments, ran: ran})
		}
	}
}

// answered returns the call that item i answers, nil when there is none.
func (c *calls) answered(i int, m *session.Message) (*call, error) {
	if c.of[i] != nil {
		return c.of[i], nil
	}
	for c.before[m.ToolCallID] == nil && c.next >= 0 {
		if err := c.readBack(); err != nil {
			return nil, err
		}
	}
	return c.before[m.ToolCallID], nil
}

// readBack takes the calls of the next entry before the tail.
func (c *calls) readBack() error {
	e := c.src.Path[c.next]
	found := map[string]*call{}
	if e.Type == session.TypeMessage && e.Role == session.RoleAssistant {
		body, err := c.src.Bodies.Body(e)
		if err != nil {
			return err
		}
		m, _, err := session.DecodeEntry(e, body)
		if err != nil {
			return err
		}
		eachCall(&m, func(id string, made *call) { found[id] = made })
	}
	c.next--
	for id, made := range found {
		if c.before[id] == nil {
			c.before[id] = made
		}
	}
	return nil
}

// protected reports whether a tool result may never be touched: what a skill said, and what was read
// of a skill or of the active plan (spec/summary §8).
func (t *Tail) protected(i int) (bool, error) {
	m := &t.Items[i].Message
	switch m.ToolName {
	case "skill":
		return true, nil
	case "read":
	default:
		return false, nil
	}
	c, err := t.calls.answered(i, m)
	if err != nil || c == nil {
		return false, err
	}
	for _, path := range targets(c.args) {
		base, _ := selector.Split(path)
		if strings.HasPrefix(path, "skill://") || slices.Contains(t.src.ProtectedPaths, base) || slices.Contains(t.src.ProtectedPaths, path) {
			return true, nil
		}
	}
	return false, nil
}

// targets are the paths that a read call names: `path`, or several in `paths`.
func targets(args json.RawMessage) []string {
	if p := gjson.GetBytes(args, "path"); p.Type == gjson.String {
		return []string{p.String()}
	}
	var all []string
	for _, p := range gjson.GetBytes(args, "paths").Array() {
		if p.Type != gjson.String {
			return nil
		}
		all = append(all, p.String())
	}
	return all
}

// candidate reports whether item i is a tool result that a pass may still touch.
func (t *Tail) candidate(i int) (bool, error) {
	m := &t.Items[i].Message
	if m.Role != session.RoleToolResult || m.PrunedAt != 0 {
		return false, nil
	}
	kept, err := t.protected(i)
	return !kept, err
}
