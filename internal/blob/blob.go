// Package blob is the port to content-addressed storage of plans, requests, answers, summaries and
// receipts. Drivers live in sub-packages (file, mem) and pass the suite in blobtest. The package
// imports nothing else of ours.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"
)

// Digest is the SHA-256 of a blob's content, as lower-case hex. It is the same on every driver.
type Digest string

// Of computes the digest of data.
func Of(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest(hex.EncodeToString(sum[:]))
}

var (
	// ErrNotFound says that no blob or name of that key is stored (any more).
	ErrNotFound = errors.New("blob not found")
	// ErrCorrupt says that the stored bytes do not have the digest they are stored under.
	ErrCorrupt = errors.New("blob is corrupt")
)

// Retention of blobs, set by the terminal step of an operation (DESIGN §6).
const (
	RetainWork    = 7 * 24 * time.Hour  // plans, requests, answers
	RetainReceipt = 90 * 24 * time.Hour // receipts
)

// Driver stores blobs and names for them. All methods are safe for concurrent use, also across
// processes. Stored values are compressed with zstd.
type Driver interface {
	// Put stores data durably and returns its digest. Storing the same data again is a no-op that
	// clears an expiry.
	Put(ctx context.Context, data []byte) (Digest, error)
	// Get returns the content, verified against its digest, or ErrNotFound or ErrCorrupt.
	Get(ctx context.Context, d Digest) ([]byte, error)
	// Link names a blob. The first writer wins: when the name exists, its digest is returned and
	// nothing changes. Names are slash-separated printable ASCII.
	Link(ctx context.Context, name string, d Digest) (Digest, error)
	// Relink names a blob, whatever the name meant before.
	Relink(ctx context.Context, name string, d Digest) error
	// Resolve returns the digest of a name, or ErrNotFound.
	Resolve(ctx context.Context, name string) (Digest, error)
	// Expire lets the blobs and names vanish after the given time from now. Unknown ones are ignored.
	Expire(ctx context.Context, after time.Duration, digests []Digest, names []string) error
	// Sweep removes what has expired at now, for drivers whose medium does not do that itself, and
	// returns how many blobs and names went.
	Sweep(ctx context.Context, now time.Time) (int, error)
}
