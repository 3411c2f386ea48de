package jsonl

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve asks the file system for room for n bytes after the end of the file, without changing what
// can be read: a full disk is noticed before a byte is written. File systems that cannot do that are
// found out by the write itself.
func reserve(f *os.File, size int64, n int) error {
	var err error
	if cerr := control(f, func(fd int) { err = unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, size, int64(n)) }); cerr != nil {
		return cerr
	}
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) {
		return err
	}
	return nil
}
