//go:build unix

package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// How a section is locked: sections that put something in place share the lock, sections that take
// something away have it alone. Both last for a few system calls; content is written outside.
const (
	shared    = syscall.LOCK_SH
	exclusive = syscall.LOCK_EX
)

// locked runs a section under the lock of the directory. The lock belongs to the open file, so it
// also keeps goroutines of one process apart, and it is released when a process dies.
func (s *Driver) locked(how int, section func() error) (err error) {
	f, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = also(err, f.Close()) }()
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err == nil {
			return section()
		}
		if !errors.Is(err, syscall.EINTR) {
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}

// syncDirs makes renames in dir durable, and the existence of the directories between it and root.
func syncDirs(dir, root string) error {
	for {
		f, err := os.Open(dir)
		if err != nil {
			return err
		}
		if err := also(f.Sync(), f.Close()); err != nil {
			return err
		}
		if dir == root || dir == filepath.Dir(dir) {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// also adds a failure of tidying up to an error, on the same line.
func also(err, more error) error {
	switch {
	case more == nil:
		return err
	case err == nil:
		return more
	}
	return fmt.Errorf("%w; also: %w", err, more)
}
