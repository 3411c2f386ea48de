package jsonl

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"recap/internal/store"
)

// extension is what a session file's name ends with.
const extension = ".jsonl"

// within opens the root. What is opened through it cannot lie outside, whatever links say.
func (d *Driver) within(id string) (*os.Root, error) {
	root, err := os.OpenRoot(d.root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail(store.KindNotFound, id, nil, "no such session; the store's folder %s does not exist", d.root)
	case err != nil:
		return nil, fail(store.KindUnreadable, id, err, "the store's folder cannot be opened")
	}
	return root, nil
}

// locate resolves an id or a path to a path below the root without links, in the file system's own
// separators. The file exists.
func (d *Driver) locate(name string) (string, error) {
	if name == "" {
		return "", fail(store.KindNotFound, name, nil, "no name was given")
	}
	base, err := filepath.EvalSymlinks(d.root)
	if err != nil {
		return "", openError(name, err)
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		if !filepath.IsLocal(path) {
			return "", outside(name)
		}
		path = filepath.Join(base, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", openError(name, err)
	}
	rel, err := filepath.Rel(base, real)
	if err != nil || !filepath.IsLocal(rel) {
		return "", outside(name)
	}
	return rel, nil
}

func outside(name string) error {
	return fail(store.KindOutside, name, nil, "leads out of the store's folder; name it by its path instead, or configure a store there")
}

// open opens the session file of an id.
func (d *Driver) open(id string, flag int) (*os.File, error) {
	rel, err := d.locate(id)
	if err != nil {
		return nil, err
	}
	root, err := d.within(id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // read only
	info, err := root.Stat(rel)
	if err != nil {
		return nil, openError(id, err)
	}
	switch {
	case info.IsDir():
		return nil, fail(store.KindNotSession, id, nil, "is a folder; name a session file in it")
	case !info.Mode().IsRegular(): // opening a pipe would wait for a writer
		return nil, fail(store.KindNotSession, id, nil, "is no regular file")
	}
	f, err := root.OpenFile(rel, flag, 0)
	if err != nil {
		if flag != os.O_RDONLY {
			return nil, writeError(id, "opening it for writing", err)
		}
		return nil, openError(id, err)
	}
	return f, nil
}

// Canonical implements store.Driver. A name is an id or a path relative to the root, an absolute
// path, either without the extension, or a session's own id or the start of one (four characters at
// least), as it stands in the names of session files: <time>_<id>.jsonl.
func (d *Driver) Canonical(ctx context.Context, name string) (string, error) {
	rel, err := d.locate(name)
	if store.KindOf(err) == store.KindNotFound && name != "" {
		if withExt, extErr := d.locate(name + extension); extErr == nil {
			rel, err = withExt, nil
		} else if store.KindOf(extErr) == store.KindOutside {
			err = extErr
		}
	}
	if store.KindOf(err) == store.KindNotFound && !strings.ContainsAny(name, `/\`) {
		return d.find(ctx, name)
	}
	if err != nil {
		return "", err
	}
	return filepath.ToSlash(rel), nil
}

// find looks for the one file whose name bears the given session id, or else its beginning.
func (d *Driver) find(ctx context.Context, prefix string) (string, error) {
	const shortest = 4
	notFound := fail(store.KindNotFound, prefix, nil, "no such session in %s", d.root)
	if len(prefix) < shortest {
		return "", notFound
	}
	var exact, begins []string
	err := d.walk(ctx, "", func(id string) (more bool, err error) {
		own := sessionIDOf(id)
		switch {
		case strings.EqualFold(own, prefix):
			exact = append(exact, id)
		case len(own) > len(prefix) && strings.EqualFold(own[:len(prefix)], prefix):
			begins = append(begins, id)
		}
		return true, nil
	})
	if err != nil {
		return "", readError(prefix, err)
	}
	found := exact
	if len(exact) == 0 {
		found = begins
	}
	switch len(found) {
	case 0:
		return "", notFound
	case 1:
		return d.Canonical(ctx, found[0])
	}
	return "", fail(store.KindNotFound, prefix, nil, "%d sessions have this id or begin with it (%s, %s, …); name one by its path", len(found), found[0], found[1])
}

// sessionIDOf takes the session id from a file name: what follows the first underscore, or all of it.
func sessionIDOf(id string) string {
	name := strings.TrimSuffix(id[strings.LastIndexByte(id, '/')+1:], extension)
	if _, own, ok := strings.Cut(name, "_"); ok {
		return own
	}
	return name
}
