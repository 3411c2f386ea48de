package reduce

import (
	"recap/internal/compaction/reduce/edit"
	"recap/internal/session"
)

// Kind says why an entry is reduced.
type Kind string

// Kinds of decisions.
const (
	Superseded   Kind = "superseded"   // a newer read covers it
	Useless      Kind = "useless"      // its tool said that it tells nothing
	Aged         Kind = "aged"         // far behind the newest outputs
	Duplicate    Kind = "duplicate"    // a newer result says the same
	Shaken       Kind = "shaken"       // heavy blocks went to an artifact
	Truncated    Kind = "truncated"    // the middle of a long text went to an artifact
	ImageDropped Kind = "imageDropped" // its images went for good
	TailBound    Kind = "tailBound"    // it kept the kept tail over its budget
)

// Decision is what a pass does to one entry. It holds markers and numbers, no text of the session, and
// can be stored as JSON and made later.
type Decision struct {
	EntryID string `json:"entryId"`
	Kind    Kind   `json:"kind"`
	Tool    string `json:"tool,omitempty"` // whose result it is
	// Freed is the estimate of what the edits free, in tokens; never negative.
	Freed  int         `json:"freed"`
	Images int         `json:"images,omitempty"` // how many images go
	Edits  []edit.Edit `json:"edits"`
	// Was is the fingerprint of the message that the decision was made about.
	Was string `json:"was"`
}

// Message makes the decision on the live message of its entry; m itself does not change. The error is
// an *edit.Error when m is not the message it was made about.
func (d *Decision) Message(m session.Message) (session.Message, error) {
	if m.EntryID != d.EntryID || edit.Fingerprint(&m) != d.Was {
		return session.Message{}, d.moved()
	}
	return edit.Message(m, d.Edits)
}

// Body makes the decision on the stored object of its entry and returns the new one; all bytes but the
// edited values stay. Decoding it gives what Message gives.
func (d *Decision) Body(e *session.Entry, body []byte) ([]byte, error) {
	m, ok, err := session.DecodeEntry(e, body)
	if err != nil {
		return nil, err
	}
	if !ok || m.EntryID != d.EntryID || edit.Fingerprint(&m) != d.Was {
		return nil, d.moved()
	}
	return edit.Body(e, body, d.Edits)
}

func (d *Decision) moved() error {
	return &edit.Error{EntryID: d.EntryID, Msg: "it is not as it was when the decision was made"}
}

// Replacements makes decisions, in order, on the stored objects of a session and returns the new
// objects by entry id, as store.Change.Replace takes them. Several decisions may be about one entry.
func Replacements(l *session.Log, b session.Bodies, decisions []Decision) (map[string][]byte, error) {
	changed := map[string][]byte{}
	for i := range decisions {
		d := &decisions[i]
		e := l.Find(d.EntryID)
		if e == nil {
			return nil, &edit.Error{EntryID: d.EntryID, Msg: "it is not in the session"}
		}
		body, ok := changed[d.EntryID]
		if !ok {
			var err error
			if body, err = b.Body(e); err != nil {
				return nil, err
			}
		}
		body, err := d.Body(e, body)
		if err != nil {
			return nil, err
		}
		changed[d.EntryID] = body
	}
	return changed, nil
}

// Live makes decisions, in order, on a list of messages and returns the new list: the raw context
// (session.ContextOptions.Raw), as the session has it. The input does not change. Decisions about
// entries that have no message in the list are an *edit.Error.
func Live(messages []session.Message, decisions []Decision) ([]session.Message, error) {
	out := append([]session.Message(nil), messages...)
	at := make(map[string]int, len(out))
	for i := range out {
		at[out[i].EntryID] = i
	}
	for i := range decisions {
		k, ok := at[decisions[i].EntryID]
		if !ok {
			return nil, &edit.Error{EntryID: decisions[i].EntryID, Msg: "it is not in the context"}
		}
		m, err := decisions[i].Message(out[k])
		if err != nil {
			return nil, err
		}
		out[k] = m
	}
	return out, nil
}
