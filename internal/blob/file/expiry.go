package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"recap/internal/blob"
)

const deadlineSuffix = ".expires"

// leftover is the age from which a file in tmp is taken for the remains of a crash.
const leftover = 24 * time.Hour

// Expire implements blob.Driver. Of several deadlines the latest holds, so that one operation cannot
// shorten the life of what another one still shows.
func (s *Driver) Expire(ctx context.Context, after time.Duration, digests []blob.Digest, names []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var paths []string
	for _, d := range digests {
		if d.Valid() {
			paths = append(paths, s.blobPath(d))
		}
	}
	for _, n := range names {
		if blob.CheckName(n) == nil {
			paths = append(paths, s.namePath(n))
		}
	}
	at := time.Now().Add(after)
	return s.locked(exclusive, func() error { // two may set the same deadline
		for _, p := range paths {
			if _, err := os.Stat(p); err != nil {
				continue
			}
			if old, ok := deadline(p); ok && !at.After(old) {
				continue
			}
			if err := s.setDeadline(p, at); err != nil {
				return fmt.Errorf("expiry of %s: %w", filepath.Base(p), err)
			}
		}
		return nil
	})
}

// setDeadline replaces the deadline of the file at path. It is not synced: a deadline lost in a
// power cut keeps a file too long, no more.
func (s *Driver) setDeadline(path string, at time.Time) error {
	f, err := os.CreateTemp(s.tmpDir(), "expires-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatInt(at.UnixMilli(), 10))
	if err = also(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path+deadlineSuffix)
	}
	if err != nil {
		return also(err, os.Remove(f.Name()))
	}
	return nil
}

// deadline reads the deadline of the file at path, ok = false when it has none that can be read.
func deadline(path string) (at time.Time, ok bool) {
	b, err := os.ReadFile(path + deadlineSuffix)
	if err != nil {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(ms), true
}

func clearDeadline(path string) error {
	if err := os.Remove(path + deadlineSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Sweep implements blob.Driver. It also removes what crashed writers left in tmp.
func (s *Driver) Sweep(ctx context.Context, now time.Time) (int, error) {
	gone := 0
	for _, tree := range []string{"blobs", "names"} {
		root := filepath.Join(s.dir, tree)
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil // another sweep was faster
			}
			if err != nil || e.IsDir() || !strings.HasSuffix(path, deadlineSuffix) {
				return err
			}
			n, err := s.sweepOne(strings.TrimSuffix(path, deadlineSuffix), root, now)
			gone += n
			return err
		})
		if err != nil {
			return gone, fmt.Errorf("sweeping %s: %w", s.dir, err)
		}
	}
	if err := s.sweepTemp(now); err != nil {
		return gone, fmt.Errorf("sweeping %s: %w", s.dir, err)
	}
	return gone, nil
}

// sweepOne removes the file at path when its deadline has passed. It looks again under the lock:
// since the walk saw the deadline, a Put may have cleared it.
func (s *Driver) sweepOne(path, root string, now time.Time) (gone int, err error) {
	if at, ok := deadline(path); !ok || now.Before(at) {
		return 0, nil
	}
	err = s.locked(exclusive, func() error {
		if at, ok := deadline(path); !ok || now.Before(at) {
			return nil
		}
		switch err := os.Remove(path); {
		case err == nil:
			gone = 1
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := clearDeadline(path); err != nil {
			return err
		}
		for dir := filepath.Dir(path); dir != root; dir = filepath.Dir(dir) {
			if os.Remove(dir) != nil { // not empty
				break
			}
		}
		return nil
	})
	return gone, err
}

func (s *Driver) sweepTemp(now time.Time) error {
	entries, err := os.ReadDir(s.tmpDir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < leftover {
			continue
		}
		if err := os.Remove(filepath.Join(s.tmpDir(), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (s *Driver) tmpDir() string { return filepath.Join(s.dir, "tmp") }
