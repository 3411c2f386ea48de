package jsonl

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"recap/internal/store"
)

// tailDigest is how many of the last bytes of a file its revision covers.
const tailDigest = 4096

// state identifies what is stored in a file at one moment: which file it is, its size, when it was
// last written, and the digest of its last bytes. Any write by anybody changes one of them.
type state struct {
	dev, inode uint64
	size       int64
	written    time.Time
	tail       string // digest
}

// stateOf reads the state of an open file.
func stateOf(f *os.File) (state, error) {
	info, err := f.Stat()
	if err != nil {
		return state{}, err
	}
	return stateAt(f, info, info.Size())
}

// stateAt is stateOf as if the file ended at size.
func stateAt(f *os.File, info os.FileInfo, size int64) (state, error) {
	st := state{size: size, written: info.ModTime()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		st.dev, st.inode = uint64(sys.Dev), sys.Ino // Dev differs between systems
	}
	buf := make([]byte, min(size, tailDigest))
	if err := readFull(f, buf, size-int64(len(buf))); err != nil {
		return state{}, err
	}
	sum := sha256.Sum256(buf)
	st.tail = hex.EncodeToString(sum[:8])
	return st, nil
}

func (s state) revision() store.Revision {
	return store.Revision(fmt.Sprintf("%x-%x-%d-%x-%s", s.dev, s.inode, s.size, s.written.UnixNano(), s.tail))
}

// readFull fills b from the offset or fails: with io.ErrUnexpectedEOF where the file is shorter.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == io.EOF { // ReaderAt returns it bare
		return io.ErrUnexpectedEOF
	}
	return err
}
