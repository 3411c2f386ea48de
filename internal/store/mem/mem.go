// Package mem is the store driver in memory, for tests and for commands that need no stack. It
// imports the port and session, nothing else of ours.
package mem

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"recap/internal/session"
	"recap/internal/store"
)

// pageSize is how many sessions a page of List holds by default.
const pageSize = 100

// Driver holds sessions in a map. See New.
type Driver struct {
	now func() time.Time

	mu       sync.Mutex
	sessions map[string]*stored
	writes   int64 // counts every write to any session: revisions never repeat
}

// stored is one session: its lines. The bytes are never changed in place, so snapshots may share them.
type stored struct {
	data      []byte
	rev       int64
	lastWrite time.Time
}

var _ store.Driver = (*Driver)(nil)

// New returns an empty store.
func New() *Driver {
	return &Driver{now: time.Now, sessions: map[string]*stored{}}
}

func (s *stored) revision() store.Revision { return store.Revision(strconv.FormatInt(s.rev, 10)) }

// snapshot is a parsed session. Its file implements session.Bodies.
type snapshot struct {
	*session.File
	stored stored
}

func (s *snapshot) Log() *session.Log        { return s.File.Log }
func (s *snapshot) Dialect() session.Dialect { return s.File.Dialect }
func (s *snapshot) Revision() store.Revision { return s.stored.revision() }
func (s *snapshot) LastWrite() time.Time     { return s.stored.lastWrite }
func (s *snapshot) Size() int64              { return int64(len(s.stored.data)) }
func (s *snapshot) Close() error             { return nil }

// Taken implements store.Snapshot: everything is read.
func (s *snapshot) Taken(id string) (bool, error) { return s.File.Log.Find(id) != nil, nil }

// Load implements store.Driver. Both scopes read everything.
func (d *Driver) Load(ctx context.Context, id string, _ store.Scope) (store.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	s, err := d.find(id)
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return s.parse(id)
}

// find copies the state of a session. The lock is held.
func (d *Driver) find(id string) (stored, error) {
	s := d.sessions[id]
	if s == nil {
		return stored{}, fail(store.KindNotFound, id, "no such session")
	}
	return *s, nil
}

func (s stored) parse(id string) (*snapshot, error) {
	f, err := session.Parse(s.data)
	if err != nil {
		return nil, &store.Error{Kind: store.KindNotSession, ID: id, Msg: "cannot be used", Err: err}
	}
	return &snapshot{File: f, stored: s}, nil
}

func fail(kind store.Kind, id, msg string) error { return &store.Error{Kind: kind, ID: id, Msg: msg} }

// Append implements store.Driver.
func (d *Driver) Append(ctx context.Context, id string, expect store.Expect, entries []store.NewEntry) (store.Written, error) {
	return d.Rewrite(ctx, id, expect, store.Change{Append: entries})
}

// Rewrite implements store.Driver. It keeps no backup: snapshots of the old state stay whole.
func (d *Driver) Rewrite(ctx context.Context, id string, expect store.Expect, change store.Change) (store.Written, error) {
	if err := ctx.Err(); err != nil {
		return store.Written{}, err
	}
	d.mu.Lock()
	s, err := d.find(id)
	d.mu.Unlock()
	if err != nil {
		return store.Written{}, err
	}
	if s.revision() != expect.Revision {
		return store.Written{}, conflict(id)
	}
	data, err := s.changed(id, change)
	if err != nil {
		return store.Written{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now, err := d.find(id)
	if err != nil {
		return store.Written{}, err
	}
	if now.rev != s.rev {
		return store.Written{}, conflict(id)
	}
	if len(data) == len(s.data) && bytes.Equal(data, s.data) {
		return store.Written{Revision: s.revision()}, nil
	}
	return store.Written{Revision: d.put(id, data)}, nil
}

func conflict(id string) error {
	return fail(store.KindConflict, id, "was written by somebody else meanwhile; read it again")
}

// put stores a session's new state. The lock is held.
func (d *Driver) put(id string, data []byte) store.Revision {
	d.writes++
	s := &stored{data: data[:len(data):len(data)], rev: d.writes, lastWrite: d.now()}
	d.sessions[id] = s
	return s.revision()
}

// changed returns the session's new bytes. Build functions are called without the lock.
func (s stored) changed(id string, change store.Change) ([]byte, error) {
	snap, err := s.parse(id)
	if err != nil {
		return nil, err
	}
	log := snap.File.Log
	parent := ""
	if leaf := log.Leaf(); leaf != nil {
		parent = leaf.ID
	}
	var data []byte
	at := int64(0)
	replaced := slices.SortedFunc(maps.Keys(change.Replace), func(a, b string) int {
		return cmp.Compare(offsetOf(log, a), offsetOf(log, b))
	})
	for _, rid := range replaced {
		e, body := log.Find(rid), change.Replace[rid]
		if e == nil {
			return nil, fail(store.KindConflict, id, fmt.Sprintf("has no entry %s to change; read it again", rid))
		}
		o, err := store.CheckObject(body)
		if err == nil {
			err = store.CheckEntry(body, rid, e.ParentID)
		}
		if err == nil && o.Type != e.Type {
			err = fmt.Errorf("its type is %.40q, not %.40q", o.Type, e.Type)
		}
		if err != nil {
			return nil, fmt.Errorf("session %s: new body of entry %s: %w", id, rid, err)
		}
		data = append(append(data, s.data[at:e.Offset]...), body...)
		at = e.Offset + int64(e.Length)
	}
	data = append(data, s.data[at:]...)
	for _, e := range change.Append {
		obj, err := e.Build(parent)
		if err == nil {
			err = store.CheckEntry(obj, e.ID, parent)
		}
		if err != nil {
			return nil, fmt.Errorf("session %s: entry %s to append: %w", id, e.ID, err)
		}
		data = append(append(data, obj...), '\n')
		parent = e.ID
	}
	return data, nil
}

func offsetOf(l *session.Log, id string) int64 {
	if e := l.Find(id); e != nil {
		return e.Offset
	}
	return -1
}

// Create implements store.Driver. With an empty id the session's own id is taken.
func (d *Driver) Create(ctx context.Context, id string, header []byte, entries [][]byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	data, h, err := store.Join(header, entries)
	if err != nil {
		return "", fmt.Errorf("session %s to create: %w", id, err)
	}
	if id == "" {
		id = h.ID
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sessions[id] != nil {
		return "", fail(store.KindConflict, id, "exists already")
	}
	d.put(id, data)
	return id, nil
}

// List implements store.Driver.
func (d *Driver) List(ctx context.Context, filter store.Filter, cursor string) (store.Page, error) {
	if err := ctx.Err(); err != nil {
		return store.Page{}, err
	}
	limit := filter.Limit
	if limit <= 0 {
		limit = pageSize
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var page store.Page
	for _, id := range slices.Sorted(maps.Keys(d.sessions)) {
		s := d.sessions[id]
		if id <= cursor || (!filter.OlderThan.IsZero() && !s.lastWrite.Before(filter.OlderThan)) {
			continue
		}
		if len(page.Sessions) == limit {
			page.Next = page.Sessions[limit-1].ID
			break
		}
		page.Sessions = append(page.Sessions, store.Info{
			ID: id, Revision: s.revision(), Size: int64(len(s.data)), LastActivity: s.lastWrite,
		})
	}
	return page, nil
}

// Canonical implements store.Driver: a name is an id, or the beginning of exactly one.
func (d *Driver) Canonical(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sessions[name] != nil {
		return name, nil
	}
	found := ""
	for id := range d.sessions {
		if name != "" && strings.HasPrefix(id, name) {
			if found != "" {
				return "", fail(store.KindNotFound, name, "several sessions begin with this; name one in full")
			}
			found = id
		}
	}
	if found == "" {
		return "", fail(store.KindNotFound, name, "no such session")
	}
	return found, nil
}
