package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"recap/internal/blob"
)

// Link implements blob.Driver. The first writer wins across processes: link(2) makes the name or
// finds it made.
func (s *Driver) Link(ctx context.Context, name string, d blob.Digest) (blob.Digest, error) {
	path, tmp, err := s.prepareName(ctx, name, d)
	if err != nil {
		return "", err
	}
	won := d
	err = s.locked(shared, func() error {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		switch err := os.Link(tmp, path); {
		case errors.Is(err, fs.ErrExist):
			won, err = readName(path)
			return err
		case err != nil:
			return err
		}
		return syncDirs(filepath.Dir(path), s.dir)
	})
	if err = also(err, os.Remove(tmp)); err != nil {
		return "", fmt.Errorf("name %s: %w", name, err)
	}
	return won, nil
}

// Relink implements blob.Driver.
func (s *Driver) Relink(ctx context.Context, name string, d blob.Digest) error {
	path, tmp, err := s.prepareName(ctx, name, d)
	if err != nil {
		return err
	}
	err = s.locked(shared, func() error {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return also(err, os.Remove(tmp))
		}
		if err := os.Rename(tmp, path); err != nil {
			return also(err, os.Remove(tmp))
		}
		if err := clearDeadline(path); err != nil {
			return err
		}
		return syncDirs(filepath.Dir(path), s.dir)
	})
	if err != nil {
		return fmt.Errorf("name %s: %w", name, err)
	}
	return nil
}

// Resolve implements blob.Driver.
func (s *Driver) Resolve(ctx context.Context, name string) (blob.Digest, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := blob.CheckName(name); err != nil {
		return "", fmt.Errorf("%w: %w", blob.ErrNotFound, err)
	}
	d, err := readName(s.namePath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("name %s: %w", name, blob.ErrNotFound)
	}
	if err != nil {
		return "", fmt.Errorf("name %s: %w", name, err)
	}
	return d, nil
}

// prepareName writes the file of a name to tmp and says where it belongs.
func (s *Driver) prepareName(ctx context.Context, name string, d blob.Digest) (path, tmp string, err error) {
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	if err := blob.CheckName(name); err != nil {
		return "", "", err
	}
	if !d.Valid() {
		return "", "", fmt.Errorf("name %s: %q is no digest", name, d)
	}
	tmp, err = s.writeTemp(func(f *os.File) error {
		_, err := f.WriteString(string(d) + "\n")
		return err
	})
	if err != nil {
		return "", "", fmt.Errorf("name %s: %w", name, err)
	}
	return s.namePath(name), tmp, nil
}

func readName(path string) (blob.Digest, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	d := blob.Digest(strings.TrimSuffix(string(b), "\n"))
	if !d.Valid() {
		return "", fmt.Errorf("%s holds no digest: %w", path, blob.ErrCorrupt)
	}
	return d, nil
}

// namePath maps a name to a file below names. Segments become directories without a dot in their
// name, the last one a file with one, so a name can be the parent of another; what is not a
// lower-case letter, a digit, '-' or '_' is percent-encoded, so names that differ in case differ on
// every file system; a segment too long for a file name keeps its start and gets its digest.
func (s *Driver) namePath(name string) string {
	segs := strings.Split(name, "/")
	for i := range segs {
		segs[i] = encodeSegment(segs[i])
	}
	return filepath.Join(s.dir, "names", filepath.Join(segs...)) + ".name"
}

func encodeSegment(seg string) string {
	const longest, kept = 200, 100
	var b strings.Builder
	for i := range len(seg) {
		switch c := seg[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	if b.Len() <= longest {
		return b.String()
	}
	sum := sha256.Sum256([]byte(seg))
	return b.String()[:kept] + "~" + hex.EncodeToString(sum[:])
}
