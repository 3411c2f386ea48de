package compaction

import (
	"time"

	"recap/internal/session"
)

// abandonedAfter is when an unanswered tool call is taken for abandoned (DESIGN §5.1).
const abandonedAfter = 10 * time.Minute

// CallInFlight reports whether the session ends with a tool call that may still be answered: one
// without result, younger than ten minutes. A broken path has no end to look at and reports false.
func CallInFlight(l *session.Log, b session.Bodies, now time.Time) (bool, error) {
	path, err := l.Path()
	if err != nil {
		return false, nil //nolint:nilerr // who plans or commits meets the broken path itself
	}
	return callInFlight(path, b, now, time.Time{})
}

// callInFlight looks back over results and what extensions and settings put in between, to the
// assistant message they belong to.
func callInFlight(path []*session.Entry, b session.Bodies, now, lastWrite time.Time) (bool, error) {
	answered := map[string]bool{}
	newest := lastWrite
	for i := len(path) - 1; i >= 0; i-- {
		e := path[i]
		if e.Type != session.TypeMessage {
			continue
		}
		if e.Role != session.RoleAssistant && e.Role != session.RoleToolResult {
			return false, nil
		}
		body, err := b.Body(e)
		if err != nil {
			return false, err
		}
		m, ok, err := session.DecodeEntry(e, body)
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		if t := written(e, &m); t.After(newest) {
			newest = t
		}
		if m.Role == session.RoleToolResult {
			answered[m.ToolCallID] = true
			continue
		}
		return unanswered(&m, answered) && now.Sub(newest) < abandonedAfter, nil
	}
	return false, nil
}

// unanswered reports whether a call of the message lacks a result. A reply that failed or was aborted
// has no calls under way.
func unanswered(m *session.Message, answered map[string]bool) bool {
	if m.StopReason == session.StopAborted || m.StopReason == session.StopError {
		return false
	}
	for i := range m.Content {
		if c := &m.Content[i]; c.Type == session.BlockToolCall && !answered[c.ID] {
			return true
		}
	}
	return false
}

// written is when the entry was written, by its own time or its message's, zero when neither says.
func written(e *session.Entry, m *session.Message) time.Time {
	if t, err := time.Parse(time.RFC3339Nano, e.Timestamp); err == nil {
		return t
	}
	if m.Timestamp > 0 {
		return time.UnixMilli(m.Timestamp)
	}
	return time.Time{}
}
