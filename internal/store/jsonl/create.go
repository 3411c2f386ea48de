package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"recap/internal/session"
	"recap/internal/store"
)

// Create implements store.Driver. With an empty id the file is named as agents name theirs,
// <time>_<session id>.jsonl, in the root; an id without the extension gets it. A session that exists
// is a conflict.
func (d *Driver) Create(ctx context.Context, id string, header []byte, entries [][]byte) (string, error) {
	data, h, err := store.Join(header, entries)
	if err != nil {
		return "", fmt.Errorf("session %s to create: %w", id, err)
	}
	if id == "" {
		id = fileName(h)
	} else if !strings.HasSuffix(id, extension) {
		id += extension
	}
	rel := filepath.FromSlash(id)
	if !filepath.IsLocal(rel) {
		return "", outside(id)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(d.root, 0o700); err != nil {
		return "", writeError(id, "making the store's folder", err)
	}
	if err := d.insideUpwards(filepath.Dir(rel)); err != nil {
		return "", err
	}
	root, err := d.within(id)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // everything written through it was synced
	if err := createIn(root, rel, data); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return "", fail(store.KindConflict, id, nil, "exists already")
		}
		return "", writeError(id, "creating it", err)
	}
	return d.Canonical(ctx, id)
}

// insideUpwards checks that the nearest folder of dir's that exists is not a link out of the root.
func (d *Driver) insideUpwards(dir string) error {
	for ; dir != "."; dir = filepath.Dir(dir) {
		if _, err := d.locate(dir); store.KindOf(err) != store.KindNotFound {
			return err
		}
	}
	return nil
}

// createIn makes the file appear at rel, whole and durable, or not at all.
func createIn(root *os.Root, rel string, data []byte) error {
	dir := filepath.Dir(rel)
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, f, err := hiddenFile(root, rel)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = also(err, f.Close()); err == nil {
		err = root.Link(tmp, rel) // unlike a rename it fails where something is
	}
	if err = also(err, root.Remove(tmp)); err != nil {
		return err
	}
	for ; ; dir = filepath.Dir(dir) {
		if err := syncDir(root, dir); err != nil || dir == "." {
			return err
		}
	}
}

// fileName names a file as pi does.
func fileName(h session.Header) string {
	name := strings.NewReplacer(":", "-", ".", "-").Replace(h.Timestamp) + "_" + h.ID
	return strings.Map(func(r rune) rune {
		if r <= ' ' || strings.ContainsRune(`/\:*?"<>|`, r) || r == 0x7f {
			return '-'
		}
		return r
	}, name) + extension
}
