// Package store is the port to session storage. Drivers live in sub-packages (jsonl, mem) and all
// pass the suite in storetest. The package may import session and contract, nothing else of ours.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recap/internal/session"
)

// Kind classifies what a driver can fail with; match with errors.As on *Error, never by text.
type Kind string

// Failure kinds of a store.
const (
	KindNotFound   Kind = "notFound"   // no such session
	KindNotSession Kind = "notSession" // exists, but is not a session this driver reads
	KindConflict   Kind = "conflict"   // Expect no longer holds
	KindDamaged    Kind = "damaged"    // the path to the leaf is broken or cyclic
	KindReadOnly   Kind = "readOnly"   // permission denied while writing
	KindUnreadable Kind = "unreadable" // permission or I/O while reading
	KindNoSpace    Kind = "noSpace"    // disk full
	KindIO         Kind = "io"         // any other I/O failure
	KindOutside    Kind = "outside"    // the id leads out of the store's root
	KindBusy       Kind = "busy"       // another recap worker holds the session's lock
)

// Error is a failure of a driver on one session: one line that says what failed, on what, and what
// to do.
type Error struct {
	Kind Kind
	ID   string // session id in the store
	Msg  string
	Err  error // cause, may be nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("session %s: %s: %v", e.ID, e.Msg, e.Err)
	}
	return fmt.Sprintf("session %s: %s", e.ID, e.Msg)
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of a store error, or "" for any other.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// Scope says how much of a session Load must read.
type Scope int

const (
	// ScopeLive reads at least what the live context and the next compaction need: from the newest
	// compaction's first kept entry (and the compactions its file lists build on) to the end. A driver
	// may read more. Entries before are absent from the Log, which then says Partial.
	ScopeLive Scope = iota
	// ScopeAll indexes every entry; integrity checks need it.
	ScopeAll
)

// Revision identifies the stored state of a session: it changes with every write, by whomever.
type Revision string

// Snapshot is a session as read at one moment. Bodies are read from the state the snapshot was
// taken of, also when the session grows meanwhile. Close it after use.
type Snapshot interface {
	session.Bodies
	Log() *session.Log
	Revision() Revision
	Dialect() session.Dialect
	// LastWrite is when the session was last written by anyone (for the quiet rule, DESIGN §6).
	LastWrite() time.Time
	Size() int64 // bytes
	// Taken reports whether an entry of the session may have this id, the part that was not read
	// included. It may say so of an id that only stands somewhere in a text, never the other way: an
	// id that is used twice can close the tree to a cycle.
	Taken(id string) (bool, error)
	Close() error
}

// Expect is the state a write is based on.
type Expect struct {
	Revision Revision // the write is refused with KindConflict when the session has another one
	// Backup asks for a copy of the session as it was, where the driver would not leave one anyway:
	// for a session that is damaged and is written to all the same.
	Backup bool
}

// NewEntry is an entry to append. Build makes its JSON object once its place is known: parentID is
// the leaf it will hang under ("" for a root). Append may call it twice.
type NewEntry struct {
	ID    string
	Build func(parentID string) ([]byte, error)
}

// Change is an in-place rewrite: new bodies for existing entries, and entries to append. All or
// nothing, with a backup.
type Change struct {
	Replace map[string][]byte // entry id → new object
	Append  []NewEntry
	// Migrate brings a session of an old version to the current one, also where nothing else changes.
	Migrate bool
}

// Written says what an Append or Rewrite did.
type Written struct {
	Revision Revision
	Migrated bool   // the file was of version 1 or 2 and was migrated, with a backup
	Backup   string // where the backup lies, relative to the session, "" if none
	// Reappended says that a foreign line landed between the state the write was based on and the
	// line written, so the entry was appended once more under that line.
	Reappended bool
}

// Filter selects sessions to list.
type Filter struct {
	OlderThan time.Time // last activity before; zero = no limit
	Limit     int       // 0 = the driver's page size
}

// Info describes a session without reading its bodies.
type Info struct {
	ID           string
	Revision     Revision
	Size         int64
	LastActivity time.Time
}

// Page is one page of a listing; Next is "" on the last one.
type Page struct {
	Sessions []Info
	Next     string
}

// Driver is the storage seam (DESIGN §6). Every driver passes storetest. All methods are safe for
// concurrent use and return *Error for what they can name.
type Driver interface {
	// Load reads the session. Damage is reported in Log().Report, not hidden and not an error, as
	// long as the first record is a session header.
	Load(ctx context.Context, id string, scope Scope) (Snapshot, error)
	// Append adds entries, atomically and durably, or refuses. The first entry hangs under the
	// present leaf, the next under the first. Existing bytes never change (promise G1), except for
	// the migration of a version 1 or 2 file, which is one step with the append and leaves a backup.
	Append(ctx context.Context, id string, expect Expect, entries []NewEntry) (Written, error)
	// Rewrite replaces bodies and appends entries, all or nothing.
	Rewrite(ctx context.Context, id string, expect Expect, change Change) (Written, error)
	// Create makes a new session from header and entry objects and returns its id.
	Create(ctx context.Context, id string, header []byte, entries [][]byte) (string, error)
	// List pages through the sessions of the store in id order.
	List(ctx context.Context, filter Filter, cursor string) (Page, error)
	// Canonical resolves a caller's name for a session (an id, or a path) to its id in this store.
	Canonical(ctx context.Context, name string) (string, error)
}
