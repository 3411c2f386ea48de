package compaction

import (
	"slices"
	"time"

	"recap/internal/session"
)

// abandonedAfter is when an unanswered tool call is taken for abandoned (DESIGN §5.1).
const abandonedAfter = 10 * time.Minute

// CallInFlight reports whether the session ends with a tool call that may still be answered: one
// without result, younger than ten minutes by its own time or by the session's last write. A broken
// path has no end to look at and reports false.
func CallInFlight(l *session.Log, b session.Bodies, now, lastWrite time.Time) (bool, error) {
	path, err := l.Path()
	if err != nil {
		return false, nil // who plans or commits meets the broken path itself
	}
	return callInFlight(path, b, now, lastWrite)
}

// callInFlight looks at the newest assistant message and what follows it.
func callInFlight(path []*session.Entry, b session.Bodies, now, lastWrite time.Time) (bool, error) {
	tail, newest, err := lastReply(path, b)
	if err != nil || len(session.UnansweredCalls(tail)) == 0 {
		return false, err
	}
	if lastWrite.After(newest) {
		newest = lastWrite
	}
	return now.Sub(newest) < abandonedAfter, nil
}

// lastReply decodes the path's end from its newest assistant message on, and says when the newest of
// these messages was written. A user message after the assistant's ends the search without result:
// whatever was called before is over.
func lastReply(path []*session.Entry, b session.Bodies) (tail []session.Message, newest time.Time, err error) {
	for i := len(path) - 1; i >= 0; i-- {
		e := path[i]
		if !e.IsMessageLike() {
			continue
		}
		if e.Role == session.RoleUser {
			return nil, time.Time{}, nil
		}
		body, err := b.Body(e)
		if err != nil {
			return nil, time.Time{}, err
		}
		m, ok, err := session.DecodeEntry(e, body)
		if err != nil {
			return nil, time.Time{}, err
		}
		if !ok {
			continue
		}
		tail = append(tail, m)
		if t := written(e, &m); t.After(newest) {
			newest = t
		}
		if m.Role == session.RoleAssistant {
			slices.Reverse(tail)
			return tail, newest, nil
		}
	}
	return nil, time.Time{}, nil
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
