package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"

	"recap/internal/blob"
)

// chunk is how much is packed or unpacked between two looks at the context.
const chunk = 1 << 20

// trusted is how far the size in a frame's header is believed before the bytes are there: a damaged
// header must not ask for the whole memory.
const trusted = 512 << 20

// pack writes data as a zstd frame to a new synced file in tmp and returns its path. On an error
// nothing is left behind.
func (s *Driver) pack(ctx context.Context, data []byte) (string, error) {
	enc, err := s.encoder()
	if err != nil {
		return "", err
	}
	defer s.encoders.Put(enc)
	return s.writeTemp(func(f *os.File) error {
		enc.ResetContentSize(f, int64(len(data)))
		for rest := data; len(rest) > 0; {
			if err := ctx.Err(); err != nil {
				enc.Reset(io.Discard) // forgets the unfinished frame
				return err
			}
			n := min(chunk, len(rest))
			if _, err := enc.Write(rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return enc.Close()
	})
}

// writeTemp makes a file in tmp, filled and synced, and returns its path.
func (s *Driver) writeTemp(fill func(*os.File) error) (string, error) {
	f, err := os.CreateTemp(s.tmpDir(), "new-*")
	if err != nil {
		return "", err
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if err = also(err, f.Close()); err != nil {
		return "", also(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// verify reads the stored blob without keeping it.
func (s *Driver) verify(ctx context.Context, d blob.Digest) error {
	return s.read(ctx, d, func(int64) io.Writer { return io.Discard })
}

// unpack returns the content of a blob. One copy of it is in memory.
func (s *Driver) unpack(ctx context.Context, d blob.Digest) ([]byte, error) {
	buf := &bytes.Buffer{}
	err := s.read(ctx, d, func(size int64) io.Writer {
		buf = bytes.NewBuffer(make([]byte, 0, min(size, trusted)))
		return buf
	})
	if err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// read streams the content of a blob into the writer that into makes of its announced size (0 where
// the frame does not name it), and compares it with its digest.
func (s *Driver) read(ctx context.Context, d blob.Digest, into func(size int64) io.Writer) error {
	if !d.Valid() {
		return fmt.Errorf("blob %q: %w", d, blob.ErrNotFound)
	}
	f, err := os.Open(s.blobPath(d))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob %s: %w", d, blob.ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("blob %s: %w", d, err)
	}
	defer func() { _ = f.Close() }() // read only
	var head [zstd.HeaderMaxSize]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("blob %s: %w", d, err)
	}
	var h zstd.Header
	if err := h.Decode(head[:n]); err != nil {
		return fmt.Errorf("blob %s: no zstd frame: %w", d, blob.ErrCorrupt)
	}
	dec, err := s.decoder()
	if err != nil {
		return fmt.Errorf("blob %s: %w", d, err)
	}
	defer s.decoders.Put(dec)
	sum := sha256.New()
	if err := copyContent(ctx, dec, f, io.MultiWriter(into(int64(min(h.FrameContentSize, 1<<62))), sum)); err != nil {
		return fmt.Errorf("blob %s: %w", d, err)
	}
	if !sumIs(sum, d) {
		return fmt.Errorf("blob %s: other content: %w", d, blob.ErrCorrupt)
	}
	return nil
}

// copyContent decodes f into w, looking at ctx between chunks. What the decoder rejects is
// ErrCorrupt; a file that cannot be read is not.
func copyContent(ctx context.Context, dec *zstd.Decoder, f io.Reader, w io.Writer) error {
	src := &fileReader{r: f}
	if err := dec.Reset(src); err != nil {
		return fmt.Errorf("%w: %w", blob.ErrCorrupt, err)
	}
	defer func() { _ = dec.Reset(nil) }() // lets go of the file
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := io.CopyN(w, dec, chunk)
		switch {
		case errors.Is(err, io.EOF) && src.err == nil:
			return nil
		case src.err != nil:
			return src.err
		case err != nil:
			return fmt.Errorf("%w: %w", blob.ErrCorrupt, err)
		}
	}
}

// fileReader remembers a failure of the medium, to tell it from damaged content.
type fileReader struct {
	r   io.Reader
	err error
}

func (r *fileReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

func sumIs(h hash.Hash, d blob.Digest) bool { return hex.EncodeToString(h.Sum(nil)) == string(d) }
