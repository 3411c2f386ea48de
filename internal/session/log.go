package session

import "fmt"

// Log is the readable state of one session: its entries in file order and the tree they form.
// It is immutable after NewLog and safe for concurrent use.
type Log struct {
	Header  Header
	Entries []Entry // file order
	// Partial says that entries before the first one were not read (store.ScopeLive).
	Partial bool
	Report  Report

	byID map[string]int32
	leaf int32 // index of the leaf, -1 for an empty log
}

// NewLog builds the tree over entries in file order. Of entries with one id the later one wins. The
// leaf is the last entry, or what a later `leaf` record of the OpenClaw family names: an entry, or
// nothing ("before the first entry"). A record that names an unknown entry is ignored.
func NewLog(h Header, entries []Entry, report Report) *Log {
	l := &Log{Header: h, Entries: entries, Report: report, byID: make(map[string]int32, len(entries)), leaf: -1}
	for i := range entries {
		e := &entries[i]
		if e.Type == TypeLeaf {
			if target, ok := l.byID[e.ParentID]; ok {
				l.leaf = target
			} else if e.ParentID == "" {
				l.leaf = -1
			}
			continue
		}
		if e.ID != "" {
			l.byID[e.ID] = int32(i)
		}
		l.leaf = int32(i)
	}
	return l
}

// Leaf returns the entry the next append hangs under, nil when there is none.
func (l *Log) Leaf() *Entry {
	if l.leaf < 0 {
		return nil
	}
	return &l.Entries[l.leaf]
}

// Find returns the entry of an id, nil when there is none.
func (l *Log) Find(id string) *Entry {
	if i, ok := l.byID[id]; ok {
		return &l.Entries[i]
	}
	return nil
}

// PathError says why the active path cannot be followed to a root (DESIGN §11: no operation on the
// short path).
type PathError struct {
	Cycle       bool   // parents form a cycle
	NoID        bool   // the leaf has no id, so nothing can hang under it (needs migration by its agent)
	NoParent    bool   // the entry does not say what its parent is, not even null
	ID          string // the missing parent, or the entry where the cycle closes
	Child       string // the entry that names it
	Line        int    // physical line of Child, 0 when unknown
	Unreachable int    // entries that the walk cannot reach because of it
}

func (e *PathError) Error() string {
	subject, what := "entry "+clip(e.Child), "its parent "+clip(e.ID)+" is missing"
	switch {
	case e.Cycle:
		what = "parents form a cycle at " + clip(e.ID)
	case e.NoParent:
		what = "it does not name its parent"
	case e.NoID:
		subject, what = "the last entry", "it has no id, so nothing can follow it"
	}
	return fmt.Sprintf("line %d: %s: %s; %d entries cannot be reached", e.Line, subject, what, e.Unreachable)
}

// Damage is one thing wrong with a session file.
type Damage struct {
	Kind   DamageKind `json:"kind"`
	Line   int        `json:"line"`             // physical line, 1-based
	Offset int64      `json:"offset"`           // byte offset of the line or object
	Length int        `json:"length"`           // bytes concerned
	ID     string     `json:"id,omitempty"`     // entry concerned, where it has one
	Detail string     `json:"detail,omitempty"` // no text of the session
	// Stops says that work must stop: an entry refers to what the damaged line held, or the path is broken.
	Stops bool `json:"stops,omitempty"`
}

// DamageKind names a sort of damage.
type DamageKind string

// Sorts of damage.
const (
	DamageUnparseable  DamageKind = "unparseable" // a line that is no JSON object
	DamageTornTail     DamageKind = "tornTail"    // the last line, without newline, is no JSON object
	DamageGlued        DamageKind = "glued"       // several objects on one line; all were read
	DamageDuplicateID  DamageKind = "duplicateId" // the later entry wins
	DamageMissingID    DamageKind = "missingId"   // an entry of a version 2+ file without id
	DamageParentGone   DamageKind = "parentMissing"
	DamageCycle        DamageKind = "parentCycle"
	DamageSecondHeader DamageKind = "secondHeader"
	DamageFirstKept    DamageKind = "firstKeptMissing" // a compaction's first kept entry is not on its path
	DamageOrphanResult DamageKind = "orphanResult"     // a tool result on the path without its call
	DamageDangling     DamageKind = "danglingCall"     // a tool call on the path without result (not at the leaf)
	DamageNoParent     DamageKind = "parentAbsent"     // an entry behind the first that says nothing about its parent
)

// Report is the integrity report of a session (what `session check` prints).
type Report struct {
	Version     int      `json:"version"`
	Dialect     Dialect  `json:"dialect"`
	Entries     int      `json:"entries"`
	OnPath      int      `json:"onPath"`
	Unreachable int      `json:"unreachable"` // entries no root leads to
	Roots       int      `json:"roots"`
	Branches    int      `json:"branches"` // leaves of the tree
	Compactions int      `json:"compactions"`
	Orphaned    []string `json:"orphaned,omitempty"` // recap's own entries off the active path
	Damage      []Damage `json:"damage"`
	// Complete is false when only the tail of the file was read.
	Complete bool `json:"complete"`
}
