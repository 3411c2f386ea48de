package reduce

import "recap/internal/session"

// Overlay reads a session as it will be once the new objects of Replacements are stored: a planner that
// reads through it plans for the reduced session, before anything is written. It is as safe for
// concurrent use as the bodies below it; changed must not change meanwhile.
func Overlay(below session.Bodies, changed map[string][]byte) session.Bodies {
	return overlay{below, changed}
}

type overlay struct {
	below   session.Bodies
	changed map[string][]byte
}

func (o overlay) Body(e *session.Entry) ([]byte, error) {
	if body, ok := o.changed[e.ID]; ok {
		return body, nil
	}
	return o.below.Body(e)
}
