package compaction

import (
	"slices"

	"recap/internal/session"
)

// Done is the entry of an operation that is in the session already.
type Done struct {
	EntryID          string
	FirstKeptEntryID string
	TokensBefore     *int
}

// FindOperation looks for the entry of an operation by the mark it carries, nil when there is none.
// An entry that an agent's append left off the path does not count: FindOrphan finds it. Only bodies
// of compactions are read.
func FindOperation(l *session.Log, b session.Bodies, operation string) (*Done, error) {
	for i := len(l.Entries) - 1; i >= 0; i-- {
		e := &l.Entries[i]
		c, ok, err := recapEntry(e, b)
		if err != nil {
			return nil, err
		}
		if !ok || c.Recap.Operation != operation {
			continue
		}
		if orphan, err := newOrphanage(l); err != nil || !orphan.holds(l, e, c) {
			return &Done{EntryID: e.ID, FirstKeptEntryID: c.FirstKeptEntryID, TokensBefore: c.TokensBefore}, nil // a broken path has no orphans
		}
	}
	return nil, nil
}

// FindOrphan returns the newest entry of recap that an agent's append left off the active path and
// that can be put back: its parent and its boundary are on the path, nothing was compacted after its
// parent, and nothing hangs under it. "" when there is none. Only bodies of compactions off the path
// are read.
func FindOrphan(l *session.Log, b session.Bodies) (string, error) {
	if !slices.ContainsFunc(l.Entries, func(e session.Entry) bool { return e.Type == session.TypeCompaction }) {
		return "", nil
	}
	o, err := newOrphanage(l)
	if err != nil {
		return "", nil // a broken path has no orphans; who plans meets the error itself
	}
	for i := len(l.Entries) - 1; i >= 0; i-- {
		e := &l.Entries[i]
		if e.Type != session.TypeCompaction || o.at(e.ID) >= 0 {
			continue
		}
		c, ok, err := recapEntry(e, b)
		if err != nil {
			return "", err
		}
		if ok && o.holds(l, e, c) {
			return e.ID, nil
		}
	}
	return "", nil
}

// Again is what an orphaned entry is built from once more.
func Again(old session.Compaction) session.NewCompaction {
	n := session.NewCompaction{
		Summary: old.Summary, FirstKeptEntryID: old.FirstKeptEntryID, TokensBefore: old.TokensBefore,
		Details: old.Details, PreserveData: old.PreserveData,
		CustomInstructions: old.CustomInstructions, FromExtension: old.FromExtension,
	}
	if old.TokensBefore != nil {
		n.Estimate = *old.TokensBefore
	}
	return n
}

// recapEntry reads a compaction entry that recap wrote. One whose body cannot be decoded is not ours:
// recap writes whole objects.
func recapEntry(e *session.Entry, b session.Bodies) (session.Compaction, bool, error) {
	if e.Type != session.TypeCompaction {
		return session.Compaction{}, false, nil
	}
	body, err := b.Body(e)
	if err != nil {
		return session.Compaction{}, false, err
	}
	c, err := session.DecodeCompaction(body)
	return c, err == nil && c.Recap != nil, nil
}

// orphanage knows the active path and what hangs where.
type orphanage struct {
	path  []*session.Entry
	index map[string]int
	// compacted is the index of the newest compaction on the path, -1 for none.
	compacted int
}

func newOrphanage(l *session.Log) (*orphanage, error) {
	path, err := l.Path()
	if err != nil {
		return nil, err
	}
	o := &orphanage{path: path, index: make(map[string]int, len(path)), compacted: -1}
	for i, e := range path {
		o.index[e.ID] = i
		if e.Type == session.TypeCompaction {
			o.compacted = i
		}
	}
	return o, nil
}

func (o *orphanage) at(id string) int {
	if i, ok := o.index[id]; ok {
		return i
	}
	return -1
}

// holds reports whether the entry is an orphan that can be put back.
func (o *orphanage) holds(l *session.Log, e *session.Entry, c session.Compaction) bool {
	parent := o.at(e.ParentID)
	if o.at(e.ID) >= 0 || parent < 0 || parent == len(o.path)-1 || o.compacted > parent {
		return false
	}
	if kept := o.at(c.FirstKeptEntryID); c.FirstKeptEntryID != session.KeepNothing && (kept < 0 || kept > parent) {
		return false
	}
	return !slices.ContainsFunc(l.Entries, func(x session.Entry) bool { return x.ParentID == e.ID })
}
