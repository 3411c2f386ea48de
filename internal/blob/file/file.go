// Package file is the blob driver of one machine: content-addressed files under a directory, each a
// plain zstd frame (zstdcat shows it). It imports the port and zstd, nothing else of ours.
//
//	blobs/ab/abcd….zst            a blob, by its digest
//	names/compact/op1.name        what a name means: a digest in hex
//	….expires                     beside either: the deadline, Unix milliseconds
//	tmp/                          files on their way; leftovers of a crash are swept
//	lock                          see lock.go
//
// A blob or a name appears whole or not at all: it is written to tmp, synced, and renamed or linked
// into place. Instances in several processes may share a directory.
package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"

	"recap/internal/blob"
)

// Driver stores blobs under one directory. See Open.
type Driver struct {
	dir      string
	encoders sync.Pool // of *zstd.Encoder
	decoders sync.Pool // of *zstd.Decoder
}

var _ blob.Driver = (*Driver)(nil)

// Open uses dir, and makes it when it does not exist, readable by its owner only.
func Open(dir string) (*Driver, error) {
	s := &Driver{dir: dir}
	for _, sub := range []string{"blobs", "names", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("blob directory %s: %w", dir, err)
		}
	}
	return s, nil
}

// Put implements blob.Driver. What is stored already is read and compared, so that a damaged blob
// is healed by storing it again.
func (s *Driver) Put(ctx context.Context, data []byte) (blob.Digest, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	d := blob.Of(data)
	path := s.blobPath(d)
	tmp := ""
	if err := s.verify(ctx, d); err != nil {
		if !errors.Is(err, blob.ErrNotFound) && !errors.Is(err, blob.ErrCorrupt) {
			return "", err
		}
		if tmp, err = s.pack(ctx, data); err != nil {
			return "", fmt.Errorf("blob %s: %w", d, err)
		}
	}
	if err := s.place(ctx, d, path, tmp, data); err != nil {
		return "", fmt.Errorf("blob %s: %w", d, err)
	}
	return d, nil
}

// place makes sure that the blob is at path and has no deadline, under the lock that keeps Sweep
// out. tmp is its packed file, "" when the blob was there a moment ago.
func (s *Driver) place(ctx context.Context, d blob.Digest, path, tmp string, data []byte) error {
	return s.locked(shared, func() error {
		if tmp == "" {
			if _, err := os.Stat(path); err == nil {
				return clearDeadline(path)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			var err error
			if tmp, err = s.pack(ctx, data); err != nil { // swept in between
				return err
			}
		}
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
}

// Get implements blob.Driver.
func (s *Driver) Get(ctx context.Context, d blob.Digest) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.unpack(ctx, d)
}

func (s *Driver) blobPath(d blob.Digest) string {
	return filepath.Join(s.dir, "blobs", string(d[:2]), string(d)+".zst")
}

// encoder returns a pooled encoder: one holds megabytes of tables.
func (s *Driver) encoder() (*zstd.Encoder, error) {
	if e, ok := s.encoders.Get().(*zstd.Encoder); ok {
		return e, nil
	}
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true),
		zstd.WithEncoderLevel(zstd.SpeedFastest))
}

// decoder returns a pooled decoder without goroutines of its own.
func (s *Driver) decoder() (*zstd.Decoder, error) {
	if d, ok := s.decoders.Get().(*zstd.Decoder); ok {
		return d, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
}
