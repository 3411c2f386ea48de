// Package jsonl is the store driver for the session files of agents: the pi JSONL format, versions 1
// to 3, and its variants (spec/sessions §1). A session is a file below the store's root, its id the
// path relative to it. It imports the port, session, gjson, and x/sys for locks; nothing else of ours.
//
// A load keeps an index of the file (id, parent, type, offset, length) and the open file; bodies are
// read from disk when asked for. An append is one write at the end, under a lock that only recap's
// own workers know, and durable when it returns. Nothing else in a file ever changes, except by
// Rewrite and by the migration of an old file, which put a new file in place of the old one and
// leave the old one beside it as a backup.
package jsonl

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"recap/internal/session"
	"recap/internal/store"
)

// Driver reads and writes the session files below one directory. It holds no open file between
// calls. See New.
type Driver struct {
	root string // absolute; links are resolved at use, because it may not exist yet

	busyWait  time.Duration // how long to wait for the lock of another worker
	smallFile int64         // files up to this size are always read whole
	tailBlock int64         // first block of a read from the end
	batch     int           // bytes of a full read that one worker parses at a time
	seam      seam          // where tests come in between
}

var _ store.Driver = (*Driver)(nil)

// seam lets a test come in between two steps, or fail a write as a full disk would. A nil field does
// nothing.
type seam struct {
	beforeWrite  func()                                  // the state was checked; the line is not written yet
	write        func(f *os.File, b []byte) (int, error) // in place of one write(2)
	beforeRename func()
	afterRename  func()
}

// New returns the driver of the sessions below root, which need not exist yet. "~/" at its start is
// the home directory.
func New(root string) (*Driver, error) {
	if root == "~" || (len(root) > 1 && root[:2] == "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("store root %s: %w", root, err)
		}
		root = filepath.Join(home, root[1:])
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("store root %s: %w", root, err)
	}
	return &Driver{root: abs, busyWait: 5 * time.Second, smallFile: 1 << 20, tailBlock: 256 << 10, batch: 1 << 20}, nil
}

// Root is the store's directory, as it was configured, absolute.
func (d *Driver) Root() string { return d.root }

// Load implements store.Driver. With ScopeLive a large file of version 3 is read from its end; see
// tail.go for when that suffices.
func (d *Driver) Load(ctx context.Context, id string, scope store.Scope) (store.Snapshot, error) {
	f, err := d.open(id, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	s, err := d.read(ctx, f, id, scope)
	if err != nil {
		_ = f.Close() // read only
		return nil, err
	}
	return s, nil
}

// read takes a snapshot of the open file.
func (d *Driver) read(ctx context.Context, f *os.File, id string, scope store.Scope) (*snapshot, error) {
	const tries = 3
	for try := 1; ; try++ {
		st, err := stateOf(f)
		if err != nil {
			return nil, readError(id, err)
		}
		s := &snapshot{id: id, file: f, batch: d.batch, state: st}
		s.head, err = readHead(f, st.size)
		if err == nil {
			err = d.index(ctx, s, scope)
		}
		switch {
		case err == nil:
			return s, nil
		case isShort(err) && try < tries: // rewritten in place while it was read
			continue
		}
		return nil, readError(id, err)
	}
}

// index fills the snapshot's log.
func (d *Driver) index(ctx context.Context, s *snapshot, scope store.Scope) error {
	if s.head.header.Version < session.CurrentVersion {
		return s.indexOld(ctx)
	}
	var short *tail
	if scope == store.ScopeLive && s.state.size > d.smallFile {
		var err error
		if short, err = s.indexTail(ctx, d.tailBlock); short == nil || err != nil {
			return err
		}
	}
	return s.indexAll(ctx, short)
}
