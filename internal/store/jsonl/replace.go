package jsonl

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"recap/internal/session"
	"recap/internal/store"
)

// edit is a replaced part of a file.
type edit struct {
	offset int64
	length int
	entry  *session.Entry // whose migrated body stands there, unless body is set
	body   []byte
}

// replace puts a new file in place of the session's: entries changed, entries appended, an old
// version migrated. All bytes in between stay as they are. The old file stays beside it as backup.
func (d *Driver) replace(ctx context.Context, s *snapshot, change store.Change) (w store.Written, err error) {
	if err := d.index(ctx, s, store.ScopeAll); err != nil {
		return w, readError(s.id, err)
	}
	edits, err := s.edits(change.Replace)
	if err != nil {
		return w, err
	}
	parent := ""
	if leaf := s.log.Leaf(); leaf != nil {
		if leaf.ID == "" {
			return w, fail(store.KindDamaged, s.id, nil, "its last entry (line %d) has no id, so nothing can follow it; open it once with its own agent", leaf.Line)
		}
		parent = leaf.ID
	}
	added, err := s.lines(s.state.size, parent, change.Append)
	if err != nil {
		return w, err
	}
	p, err := d.newPlace(s)
	if err != nil {
		return w, err
	}
	defer func() { err = also(err, p.close()) }()
	if err := p.write(ctx, s, edits, added); err != nil {
		return w, writeError(s.id, "writing its new version", err)
	}
	if w.Backup, err = p.backUp(s); err != nil {
		return w, writeError(s.id, "making a backup", err)
	}
	if d.seam.beforeRename != nil {
		d.seam.beforeRename()
	}
	if now, err := stateOf(s.file); err != nil || now != s.state || !d.stillThere(s.id, s.file) {
		return store.Written{}, also(also(conflict(s.id), err), p.root.Remove(filepath.Join(p.dir, w.Backup)))
	}
	if err := p.swap(); err != nil {
		return store.Written{}, writeError(s.id, "putting its new version in place", err)
	}
	if d.seam.afterRename != nil {
		d.seam.afterRename()
	}
	if now, err := stateOf(s.file); err != nil || now != s.state {
		return store.Written{}, also(also(conflict(s.id), err), p.undo(s, w.Backup))
	}
	w.Migrated = s.old != nil
	if w.Revision, err = revisionAt(p.file, p.size); err != nil {
		return w, readError(s.id, err)
	}
	return w, nil
}

// edits lists what changes, in file order: for an old file the header and every entry.
func (s *snapshot) edits(replaced map[string][]byte) ([]edit, error) {
	var edits []edit
	bodies := map[*session.Entry][]byte{}
	for id, body := range replaced {
		e := s.log.Find(id)
		if e == nil {
			return nil, fail(store.KindConflict, s.id, nil, "has no entry %s to change; read it again", id)
		}
		o, err := store.CheckObject(body)
		if err == nil {
			err = store.CheckEntry(body, id, e.ParentID)
		}
		if err == nil && o.Type != e.Type {
			err = fmt.Errorf("its type is %.40q, not %.40q", o.Type, e.Type)
		}
		if err != nil {
			return nil, fmt.Errorf("session %s: new body of entry %s: %w", s.id, id, err)
		}
		bodies[e] = body
	}
	if s.old != nil {
		header, err := session.MigrateHeader(s.head.header.Raw)
		if err != nil {
			return nil, fail(store.KindDamaged, s.id, err, "its header cannot be migrated")
		}
		edits = append(edits, edit{offset: s.head.offset, length: int(s.head.end - s.head.offset), body: header})
		for i := range s.log.Entries {
			e := &s.log.Entries[i]
			edits = append(edits, edit{offset: e.Offset, length: e.Length, entry: e, body: bodies[e]})
		}
		return edits, nil
	}
	for e, body := range bodies {
		edits = append(edits, edit{offset: e.Offset, length: e.Length, body: body})
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.offset, b.offset) })
	return edits, nil
}

// place is where a new file grows before it takes the old one's place.
type place struct {
	root      *os.Root
	rel, dir  string
	tmp       string
	file      *os.File
	size      int64
	linked    bool // the backup is the old file itself, under another name
	installed bool
}

// newPlace makes an empty hidden file beside the session, which no agent takes for one.
func (d *Driver) newPlace(s *snapshot) (*place, error) {
	rel, err := d.locate(s.id)
	if err != nil {
		return nil, err
	}
	p := &place{rel: rel, dir: filepath.Dir(rel)}
	if p.root, err = d.within(s.id); err != nil {
		return nil, err
	}
	if p.tmp, p.file, err = hiddenFile(p.root, rel); err != nil {
		return nil, also(writeError(s.id, "making a file beside it", err), p.root.Close())
	}
	return p, nil
}

// hiddenFile makes a new file beside rel.
func hiddenFile(root *os.Root, rel string) (string, *os.File, error) {
	for n := 0; ; n++ {
		name := filepath.Join(filepath.Dir(rel), fmt.Sprintf(".%s.recap-%d-%d", filepath.Base(rel), os.Getpid(), n))
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return name, f, err
		}
	}
}

// close lets go of the place and removes what was not put in place.
func (p *place) close() error {
	err := p.file.Close()
	if !p.installed {
		err = also(err, p.root.Remove(p.tmp))
	}
	return also(err, p.root.Close())
}

// write fills the new file: the old one with its edits, then what is added.
func (p *place) write(ctx context.Context, s *snapshot, edits []edit, added []byte) error {
	w := bufio.NewWriterSize(p.file, 1<<20)
	at := int64(0)
	for _, e := range edits {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := copyRange(w, s.file, at, e.offset); err != nil {
			return err
		}
		body := e.body
		if body == nil {
			var err error
			if body, err = s.Body(e.entry); err != nil {
				return err
			}
		}
		if _, err := w.Write(body); err != nil {
			return err
		}
		at = e.offset + int64(e.length)
	}
	if err := copyRange(w, s.file, at, s.state.size); err != nil {
		return err
	}
	if _, err := w.Write(added); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := keepOwner(s.file, p.file); err != nil {
		return err
	}
	var err error
	if p.size, err = p.file.Seek(0, io.SeekCurrent); err != nil {
		return err
	}
	return p.file.Sync()
}

func copyRange(w io.Writer, f io.ReaderAt, from, to int64) error {
	n, err := io.Copy(w, io.NewSectionReader(f, from, to-from))
	if err == nil && n < to-from {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// keepOwner gives the new file the permissions and, where that is allowed, the owner of the old one.
func keepOwner(old, renewed *os.File) error {
	info, err := old.Stat()
	if err != nil {
		return err
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := renewed.Chown(int(sys.Uid), int(sys.Gid)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return renewed.Chmod(info.Mode().Perm())
}

// backUp gives the old file a second name beside it, the first free <name>.recap-backup-<n>, so that
// it stays, byte for byte, when the new one takes its name. Where the file system has no second
// names, it is copied.
func (p *place) backUp(s *snapshot) (string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.recap-backup-%d", filepath.Base(p.rel), n)
		path := filepath.Join(p.dir, name)
		err := p.root.Link(p.rel, path)
		switch {
		case err == nil:
			p.linked = true
			return name, syncDir(p.root, p.dir)
		case errors.Is(err, fs.ErrExist):
			continue
		case !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.ENOTSUP) && !errors.Is(err, syscall.EMLINK):
			return "", err
		}
		err = p.copyTo(path, s)
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// copyTo writes the old file's bytes to a new file.
func (p *place) copyTo(path string, s *snapshot) error {
	f, err := p.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = copyRange(f, s.file, 0, s.state.size)
	if err == nil {
		err = keepOwner(s.file, f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = also(err, f.Close()); err != nil {
		return also(err, p.root.Remove(path))
	}
	return syncDir(p.root, p.dir)
}

// swap puts the new file in place.
func (p *place) swap() error {
	if err := p.root.Rename(p.tmp, p.rel); err != nil {
		return err
	}
	p.installed = true
	return syncDir(p.root, p.dir)
}

// undo puts the old file back, to which somebody wrote in the moment of the swap: nothing of theirs
// may be lost. Ours can be written again.
func (p *place) undo(s *snapshot, backup string) error {
	if p.linked {
		return also(p.root.Rename(filepath.Join(p.dir, backup), p.rel), syncDir(p.root, p.dir))
	}
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	tmp, f, err := hiddenFile(p.root, p.rel)
	if err != nil {
		return err
	}
	err = copyRange(f, s.file, 0, info.Size())
	if err == nil {
		err = keepOwner(s.file, f)
	}
	if err = also(also(err, f.Sync()), f.Close()); err != nil {
		return also(err, p.root.Remove(tmp))
	}
	return also(p.root.Rename(tmp, p.rel), syncDir(p.root, p.dir))
}
