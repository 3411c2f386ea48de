// Package mem is a blob driver in memory, for tests and for commands that need no stack. It imports
// the port and zstd, nothing else of ours.
package mem

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"recap/internal/blob"
)

// Driver holds blobs and names in maps. The zero value is not usable; see New.
type Driver struct {
	codec func() (codec, error)

	mu    sync.Mutex
	blobs map[blob.Digest]*item
	names map[string]*item
}

var _ blob.Driver = (*Driver)(nil)

// item is a stored blob (data) or name (digest) with its deadline, zero while it has none.
type item struct {
	data    []byte // zstd
	digest  blob.Digest
	expires time.Time
}

// codec packs and unpacks; both halves are safe for concurrent use.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCodec() (c codec, err error) {
	if c.enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true)); err == nil {
		c.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	}
	return c, err
}

// New returns an empty store.
func New() *Driver {
	return &Driver{codec: sync.OnceValues(newCodec), blobs: map[blob.Digest]*item{}, names: map[string]*item{}}
}

// Put implements blob.Driver.
func (s *Driver) Put(ctx context.Context, data []byte) (blob.Digest, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	c, err := s.codec()
	if err != nil {
		return "", fmt.Errorf("blob store in memory: %w", err)
	}
	d := blob.Of(data)
	packed := c.enc.EncodeAll(data, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[d] = &item{data: packed}
	return d, nil
}

// Get implements blob.Driver.
func (s *Driver) Get(ctx context.Context, d blob.Digest) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	it := s.blobs[d]
	s.mu.Unlock()
	if it == nil {
		return nil, fmt.Errorf("blob %s: %w", d, blob.ErrNotFound)
	}
	c, err := s.codec()
	if err != nil {
		return nil, fmt.Errorf("blob store in memory: %w", err)
	}
	data, err := c.dec.DecodeAll(it.data, []byte{})
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w: %w", d, blob.ErrCorrupt, err)
	}
	if blob.Of(data) != d {
		return nil, fmt.Errorf("blob %s: %w", d, blob.ErrCorrupt)
	}
	return data, nil
}

// Link implements blob.Driver.
func (s *Driver) Link(ctx context.Context, name string, d blob.Digest) (blob.Digest, error) {
	return s.name(ctx, name, d, false)
}

// Relink implements blob.Driver.
func (s *Driver) Relink(ctx context.Context, name string, d blob.Digest) error {
	_, err := s.name(ctx, name, d, true)
	return err
}

func (s *Driver) name(ctx context.Context, name string, d blob.Digest, replace bool) (blob.Digest, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := blob.CheckName(name); err != nil {
		return "", err
	}
	if !d.Valid() {
		return "", fmt.Errorf("name %s: %q is no digest", name, d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if it := s.names[name]; it != nil && !replace {
		return it.digest, nil
	}
	s.names[name] = &item{digest: d}
	return d, nil
}

// Resolve implements blob.Driver.
func (s *Driver) Resolve(ctx context.Context, name string) (blob.Digest, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if it := s.names[name]; it != nil {
		return it.digest, nil
	}
	return "", fmt.Errorf("name %s: %w", name, blob.ErrNotFound)
}

// Expire implements blob.Driver. Of several deadlines the latest holds.
func (s *Driver) Expire(ctx context.Context, after time.Duration, digests []blob.Digest, names []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	at := time.Now().Add(after)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range digests {
		s.blobs[d].expireAt(at)
	}
	for _, n := range names {
		s.names[n].expireAt(at)
	}
	return nil
}

func (it *item) expireAt(at time.Time) {
	if it != nil && at.After(it.expires) {
		it.expires = at
	}
}

func (it *item) gone(now time.Time) bool { return !it.expires.IsZero() && !now.Before(it.expires) }

// Sweep implements blob.Driver.
func (s *Driver) Sweep(ctx context.Context, now time.Time) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.blobs) + len(s.names)
	maps.DeleteFunc(s.blobs, func(_ blob.Digest, it *item) bool { return it.gone(now) })
	maps.DeleteFunc(s.names, func(_ string, it *item) bool { return it.gone(now) })
	return before - len(s.blobs) - len(s.names), nil
}
