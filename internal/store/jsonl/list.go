package jsonl

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"recap/internal/store"
)

// pageSize is how many sessions a page of List holds by default.
const pageSize = 100

// List implements store.Driver: the session files below the root, in the order of their ids. Of each
// file it reads the header and the last few kilobytes, which the revision needs. Files that are no
// sessions are left out, so are links and what may not be read. The cursor is the last id of the page before.
func (d *Driver) List(ctx context.Context, filter store.Filter, cursor string) (store.Page, error) {
	limit := filter.Limit
	if limit <= 0 {
		limit = pageSize
	}
	var page store.Page
	root, err := d.within(d.root)
	if store.KindOf(err) == store.KindNotFound {
		return page, nil // a store nobody wrote to yet
	}
	if err != nil {
		return page, err
	}
	defer func() { _ = root.Close() }() // read only
	err = d.walk(ctx, cursor, func(id string) (more bool, err error) {
		info, ok := inspect(root, id)
		if !ok || (!filter.OlderThan.IsZero() && !info.LastActivity.Before(filter.OlderThan)) {
			return true, nil
		}
		if len(page.Sessions) == limit { // there is one more
			page.Next = page.Sessions[limit-1].ID
			return false, nil
		}
		page.Sessions = append(page.Sessions, info)
		return true, nil
	})
	if err != nil {
		return store.Page{}, readError(d.root, err)
	}
	return page, nil
}

// inspect describes a session file; ok = false when it is none.
func inspect(root *os.Root, id string) (info store.Info, ok bool) {
	f, err := root.Open(id)
	if err != nil {
		return info, false
	}
	defer func() { _ = f.Close() }() // read only
	st, err := stateOf(f)
	if err != nil {
		return info, false
	}
	if _, err := readHead(f, st.size); err != nil {
		return info, false
	}
	return store.Info{ID: id, Revision: st.revision(), Size: st.size, LastActivity: st.written}, true
}

// walk calls visit with the id of every regular file below the root whose name has the extension,
// in the order of the ids, beginning after the given one. It ends early when visit says so.
func (d *Driver) walk(ctx context.Context, after string, visit func(id string) (more bool, err error)) error {
	_, err := d.walkDir(ctx, "", after, visit)
	return err
}

func (d *Driver) walkDir(ctx context.Context, dir, after string, visit func(id string) (bool, error)) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	entries, err := os.ReadDir(path.Join(d.root, dir))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission) && dir != "":
		return true, nil // removed meanwhile, or somebody else's
	case err != nil:
		return false, err
	}
	key := func(e fs.DirEntry) string { // as the ids below it compare
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(key(a), key(b)) })
	for _, e := range entries {
		id := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			if below := id + "/"; below <= after && !strings.HasPrefix(after, below) {
				continue
			}
			more, err = d.walkDir(ctx, id, after, visit)
		case e.Type().IsRegular() && strings.HasSuffix(id, extension) && id > after:
			more, err = visit(id)
		default:
			continue
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
