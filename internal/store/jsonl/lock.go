//go:build unix

package jsonl

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"recap/internal/store"
)

// lockPoll is how often a lock that another worker holds is asked for again.
const lockPoll = 5 * time.Millisecond

// openLocked opens a session for writing and takes the lock that keeps recap's workers apart. The
// lock is on the session file itself, so nothing is left beside it, and it goes when the file is
// closed or its process dies. Agents do not know it; what they write is found by other means.
func (d *Driver) openLocked(ctx context.Context, id string) (*os.File, error) {
	wait, cancel := context.WithTimeout(ctx, d.busyWait)
	defer cancel()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := d.open(id, os.O_RDWR|os.O_APPEND)
		if err != nil {
			return nil, err
		}
		if err := lock(wait, f); err != nil {
			_ = f.Close() // nothing was written
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case wait.Err() != nil:
				return nil, fail(store.KindBusy, id, nil, "another recap worker is writing to it; try again")
			}
			return nil, fail(store.KindIO, id, err, "cannot be locked")
		}
		if d.stillThere(id, f) {
			return f, nil
		}
		_ = f.Close() // replaced while we waited: take the new one
	}
}

// lock waits for the exclusive lock of an open file as long as ctx lasts.
func lock(ctx context.Context, f *os.File) error {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		var got error
		if err := control(f, func(fd int) { got = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) }); err != nil {
			return err
		}
		switch {
		case got == nil:
			return nil
		case !errors.Is(got, unix.EWOULDBLOCK) && !errors.Is(got, unix.EINTR):
			return os.NewSyscallError("flock", got)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// stillThere reports whether the id still leads to the open file.
func (d *Driver) stillThere(id string, f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	rel, err := d.locate(id)
	if err != nil {
		return false
	}
	root, err := d.within(id)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // read only
	there, err := root.Stat(rel)
	return err == nil && os.SameFile(mine, there)
}

// control runs a system call on an open file.
func control(f *os.File, call func(fd int)) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Control(func(fd uintptr) { call(int(fd)) })
}

// writeOnce is one write(2): what it does not take is not tried again, because by then somebody
// else's line may stand there.
func writeOnce(f *os.File, b []byte) (n int, err error) {
	if cerr := control(f, func(fd int) { n, err = unix.Write(fd, b) }); cerr != nil {
		return 0, cerr
	}
	return max(n, 0), err
}
