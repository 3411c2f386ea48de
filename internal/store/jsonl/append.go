package jsonl

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"recap/internal/session"
	"recap/internal/store"
)

// maxReappends bounds how often entries are appended again because somebody else's line landed
// before them.
const maxReappends = 5

// Append implements store.Driver.
func (d *Driver) Append(ctx context.Context, id string, expect store.Expect, entries []store.NewEntry) (store.Written, error) {
	return d.change(ctx, id, expect, store.Change{Append: entries})
}

// Rewrite implements store.Driver. A new file takes the old one's place; the old one stays beside it.
func (d *Driver) Rewrite(ctx context.Context, id string, expect store.Expect, change store.Change) (store.Written, error) {
	return d.change(ctx, id, expect, change)
}

// change locks the session, checks that it is as expected, and writes.
func (d *Driver) change(ctx context.Context, id string, expect store.Expect, change store.Change) (w store.Written, err error) {
	f, err := d.openLocked(ctx, id)
	if err != nil {
		return w, err
	}
	defer func() {
		if cerr := f.Close(); cerr != nil && err == nil {
			err = writeError(id, "closing it", cerr)
		}
	}()
	s := &snapshot{id: id, file: f, batch: d.batch}
	if s.state, err = stateOf(f); err != nil {
		return w, readError(id, err)
	}
	if s.state.revision() != expect.Revision {
		return w, conflict(id)
	}
	if s.head, err = readHead(f, s.state.size); err != nil {
		return w, readError(id, err)
	}
	switch {
	case len(change.Replace) == 0 && len(change.Append) == 0 &&
		(!change.Migrate || s.head.header.Version >= session.CurrentVersion):
		w.Revision = s.state.revision()
		return w, nil
	case len(change.Replace) > 0 || s.head.header.Version < session.CurrentVersion || expect.Backup:
		return d.replace(ctx, s, change)
	}
	return d.append(ctx, s, change.Append)
}

func conflict(id string) error {
	return fail(store.KindConflict, id, nil, "was written by somebody else meanwhile; read it again")
}

// append writes entries at the end of a file of the current version. Until the write it can be
// cancelled, not after.
func (d *Driver) append(ctx context.Context, s *snapshot, entries []store.NewEntry) (w store.Written, err error) {
	parent, err := s.leafBefore(ctx, s.state.size, d.tailBlock)
	if err != nil {
		return w, readError(s.id, err)
	}
	size := s.state.size
	for try := 0; ; try++ {
		data, err := s.lines(size, parent, entries)
		if err != nil {
			return w, err
		}
		if err := ctx.Err(); err != nil && try == 0 {
			return w, err
		}
		if d.seam.beforeWrite != nil {
			d.seam.beforeWrite()
		}
		at, err := d.write(s, size, data)
		if err != nil {
			return w, err
		}
		if w.Revision, err = revisionAt(s.file, at+int64(len(data))); err != nil {
			return w, readError(s.id, err)
		}
		if at == size || try == maxReappends {
			return w, nil
		}
		// Somebody else's bytes lie between the state this was based on and our lines.
		leaf, err := s.leafBefore(context.WithoutCancel(ctx), at, d.tailBlock)
		if err != nil {
			return w, readError(s.id, err)
		}
		own, err := startsLine(s.file, at, data)
		if err != nil {
			return w, readError(s.id, err)
		}
		if leaf == parent && own {
			return w, nil
		}
		w.Reappended = true
		parent, size = leaf, at+int64(len(data))
	}
}

// lines builds the entries as lines that follow a file of the given size.
func (s *snapshot) lines(size int64, parent string, entries []store.NewEntry) ([]byte, error) {
	var data []byte
	if size > 0 {
		last := make([]byte, 1)
		if err := readFull(s.file, last, size-1); err != nil {
			return nil, readError(s.id, err)
		}
		if last[0] != '\n' {
			data = append(data, '\n')
		}
	}
	for _, e := range entries {
		obj, err := e.Build(parent)
		if err == nil {
			err = store.CheckEntry(obj, e.ID, parent)
		}
		if err != nil {
			return nil, fmt.Errorf("session %s: entry %s to append: %w", s.id, e.ID, err)
		}
		data = append(append(data, obj...), '\n')
		parent = e.ID
	}
	return data, nil
}

// write appends data in one write and makes it durable. It returns the offset the data got.
func (d *Driver) write(s *snapshot, size int64, data []byte) (at int64, err error) {
	if err := reserve(s.file, size, len(data)); err != nil {
		return 0, writeError(s.id, "appending to it", err)
	}
	once := writeOnce
	if d.seam.write != nil {
		once = d.seam.write
	}
	n, err := once(s.file, data)
	if n == 0 && err != nil {
		return 0, writeError(s.id, "appending to it", err)
	}
	end, serr := s.file.Seek(0, io.SeekCurrent) // after an append: the end of what was written
	if serr != nil {
		return 0, writeError(s.id, "appending to it", serr)
	}
	at = end - int64(n)
	if n < len(data) {
		if err == nil { // only a full disk, a quota or a size limit makes a write short
			err = fail(store.KindNoSpace, s.id, nil, "appending to it: no space left; free some and retry")
		}
		return 0, also(writeError(s.id, "appending to it", err), d.blank(s, at, data[:n]))
	}
	if err := s.file.Sync(); err != nil {
		return 0, writeError(s.id, "making the entry durable", err)
	}
	return at, nil
}

// blank turns the beginning of a line of ours into a blank line. The bytes are overwritten where they
// are, which needs no space, takes nothing from anybody whose line landed after them, and keeps the
// next line from being glued to them.
func (d *Driver) blank(s *snapshot, at int64, written []byte) error {
	f, err := d.open(s.id, os.O_RDWR) // not for appending: such a file writes at its end only
	if err != nil {
		return err
	}
	if same, serr := sameFile(f, s.file); serr != nil || !same {
		return also(serr, f.Close())
	}
	blanks := make([]byte, len(written))
	for i := range blanks {
		blanks[i] = ' '
		if written[i] == '\n' || i == len(blanks)-1 {
			blanks[i] = '\n'
		}
	}
	_, err = f.WriteAt(blanks, at)
	return also(err, f.Close())
}

// leafBefore returns the id that an entry at the given offset hangs under, "" for a root.
func (s *snapshot) leafBefore(ctx context.Context, end int64, block int64) (string, error) {
	t := newTail(end)
	for t.from > s.head.end && t.leaf == "" && !t.whole {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := t.readBlock(s, block); err != nil {
			return "", err
		}
		block = min(2*block, maxTailBlock)
	}
	if !t.whole {
		return t.leaf, nil
	}
	all := &snapshot{id: s.id, file: s.file, batch: s.batch, head: s.head, state: s.state}
	all.state.size = end
	if err := all.indexAll(ctx, nil); err != nil {
		return "", err
	}
	leaf := all.log.Leaf()
	if leaf == nil {
		return "", nil
	}
	if leaf.ID == "" {
		return "", fail(store.KindDamaged, s.id, nil, "its last entry (line %d) has no id, so nothing can follow it; open it once with its own agent", leaf.Line)
	}
	return leaf.ID, nil
}

// startsLine reports whether data, which lies at an offset, starts a line of its own.
func startsLine(f *os.File, at int64, data []byte) (bool, error) {
	if at == 0 || data[0] == '\n' {
		return true, nil
	}
	before := make([]byte, 1)
	if err := readFull(f, before, at-1); err != nil {
		return false, err
	}
	return before[0] == '\n', nil
}

// revisionAt is the revision of the file as long as it ends at size.
func revisionAt(f *os.File, size int64) (store.Revision, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	st, err := stateAt(f, info, size)
	return st.revision(), err
}

func sameFile(a, b *os.File) (bool, error) {
	ai, err := a.Stat()
	if err != nil {
		return false, err
	}
	bi, err := b.Stat()
	if err != nil {
		return false, err
	}
	return os.SameFile(ai, bi), nil
}

// syncDir makes a change of a folder's names durable.
func syncDir(root *os.Root, dir string) error {
	f, err := root.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return also(f.Sync(), f.Close())
}
