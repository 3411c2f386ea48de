// Package cut decides where a compaction cuts a path: what is summarised, what stays, and whether the
// cut splits a turn (spec/summary §4.2 to §4.5, DESIGN §11). It is pure and may import session.
//
// Entries are looked at from the end and only as far back as the decision needs, so a cut near the end
// of a long path costs no more than the kept tail.
package cut

import "recap/internal/session"

// Facts are what the cut needs to know of one entry's message. Only Tokens counts for entries that
// are neither assistant messages nor tool results.
type Facts struct {
	Tokens int      // estimate; 0 for an entry that yields no message
	Calls  []string // ids of an assistant message's tool calls
	Result string   // id of the call a tool result answers
}

// Range is what may be cut: path[Start:], of which about Keep tokens should stay.
type Range struct {
	Path  []*session.Entry
	Start int // first entry that is not covered by an earlier summary
	Keep  int // tokens, at least 1
	// Facts reads one entry; it is asked for each entry at most once.
	Facts func(i int) (Facts, error)
}

// Cut is the decision. Entries [Start, HistoryEnd) are history, [HistoryEnd, Kept) the beginning of a
// split turn, [Kept, end) stay.
type Cut struct {
	// Crossed is false when the whole range fits the budget: there is nothing to cut.
	Crossed    bool
	Kept       int // first kept entry, metadata included; the path's length keeps nothing
	HistoryEnd int
	Split      bool
	// Boundary is the id the new compaction names: the first kept entry that survives a fork, or
	// session.KeepNothing.
	Boundary string
	// KeptTokens is the estimate of what stays.
	KeptTokens int
}

// Find decides the cut. The error is one of Range.Facts or ErrUnnamed.
func Find(r Range) (Cut, error) {
	w := &walker{r: r, facts: map[int]Facts{}}
	crossing, err := w.cross()
	if err != nil {
		return Cut{}, err
	}
	if crossing < 0 {
		first := firstPoint(r.Path, r.Start, len(r.Path))
		return Cut{Kept: first, HistoryEnd: first}, nil
	}
	point, err := w.choose(crossing)
	if err != nil {
		return Cut{}, err
	}
	kept := pullIn(r.Path, r.Start, point)
	if !yieldsMessage(r.Path, r.Start, kept) {
		// Everything would stay: free something all the same.
		if point, err = w.nextSafe(firstMessage(r.Path, r.Start) + 1); err != nil {
			return Cut{}, err
		}
		kept = point
		if p := pullIn(r.Path, r.Start, point); yieldsMessage(r.Path, r.Start, p) {
			kept = p
		}
	}
	return w.finish(point, kept)
}

// finish fills the decision in. Whether a turn is split is decided by the entry at the cut itself,
// before metadata was pulled in.
func (w *walker) finish(point, kept int) (Cut, error) {
	path := w.r.Path
	c := Cut{Crossed: true, Kept: kept, HistoryEnd: kept, Boundary: session.KeepNothing}
	if kept == len(path) {
		return c, nil
	}
	if turn := turnStart(path, w.r.Start, point); !isUser(path[point]) && turn >= 0 && turn < kept {
		if yieldsMessage(path, turn, kept) {
			c.Split, c.HistoryEnd = true, turn
		}
	}
	for i := kept; i < len(path); i++ {
		f, err := w.look(i)
		if err != nil {
			return Cut{}, err
		}
		c.KeptTokens += f.Tokens
	}
	named := kept
	for named < len(path) && droppedByFork(path[named]) {
		named++
	}
	if named == len(path) || path[named].ID == "" {
		return Cut{}, ErrUnnamed
	}
	c.Boundary = path[named].ID
	return c, nil
}

// pullIn moves a cut back over directly preceding entries that are neither messages nor compactions:
// a model change stays with the message it was made for.
func pullIn(path []*session.Entry, start, point int) int {
	if point >= len(path) {
		return point
	}
	for point > start && path[point-1].Type != session.TypeMessage && path[point-1].Type != session.TypeCompaction {
		point--
	}
	return point
}
