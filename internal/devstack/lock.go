package devstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// InUseError says that another stack runs on the data folder.
type InUseError struct {
	DataDir string
	Info    Info // zero when the other stack has not told its addresses yet
}

func (e *InUseError) Error() string {
	if e.Info.PID == 0 {
		return fmt.Sprintf("data folder %s is in use by another embedded stack that is just starting or stopping: "+
			"try again, or choose another dataDir", e.DataDir)
	}
	return fmt.Sprintf("data folder %s is in use by the embedded stack of process %d (Temporal %s, NATS %s): "+
		"use that one, stop it, or choose another dataDir", e.DataDir, e.Info.PID, e.Info.TemporalAddress, e.Info.NATSURL)
}

// ErrNotRunning says that no stack runs on a data folder.
var ErrNotRunning = errors.New("no embedded stack is running")

// handover is how long Start waits for a lock that nobody alive should hold: the child of a process
// that was killed goes a moment after it.
const handover = 5 * time.Second

const lockRetry = 50 * time.Millisecond

// lock is an advisory lock on the data folder. The Temporal child inherits it, so that the folder
// stays locked as long as a server uses the database, even if this process is killed.
type lock struct{ file *os.File }

func acquire(ctx context.Context, dir string) (*lock, error) {
	path := filepath.Join(dir, "stack.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("embedded stack: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, handover)
	defer cancel()
	tick := time.NewTicker(lockRetry)
	defer tick.Stop()
	for {
		err := flock(f, unix.LOCK_EX)
		if err == nil {
			return &lock{file: f}, nil
		}
		info, alive := readInfo(dir)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("embedded stack: lock %s: %w", path, err), f.Close())
		}
		if alive {
			return nil, errors.Join(&InUseError{DataDir: dir, Info: info}, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(&InUseError{DataDir: dir, Info: info}, f.Close())
		case <-tick.C:
		}
	}
}

func (l *lock) release() error {
	if l == nil {
		return nil
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("embedded stack: release the lock: %w", err)
	}
	return nil
}

// flock tries to lock without waiting; an interrupted call is made again.
func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func infoPath(dir string) string { return filepath.Join(dir, "stack.json") }

// writeInfo leaves the stack's addresses in the data folder, for Attach.
func (s *Stack) writeInfo() error {
	data, err := json.MarshalIndent(s.Info, "", "  ")
	if err != nil {
		return fmt.Errorf("embedded stack: %w", err)
	}
	temp := infoPath(s.DataDir) + ".new"
	if err := os.WriteFile(temp, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("embedded stack: %w", err)
	}
	if err := os.Rename(temp, infoPath(s.DataDir)); err != nil {
		return fmt.Errorf("embedded stack: %w", err)
	}
	return nil
}

// readInfo reads the addresses left in the data folder and whether their process is alive.
func readInfo(dir string) (Info, bool) {
	var info Info
	data, err := os.ReadFile(infoPath(dir))
	if err != nil || json.Unmarshal(data, &info) != nil || info.PID <= 0 {
		return Info{}, false
	}
	err = unix.Kill(info.PID, 0)
	return info, err == nil || errors.Is(err, unix.EPERM)
}

// Attach finds the stack that runs on a data folder. A file left by a stack that is gone is
// ignored; without a running stack the error is ErrNotRunning.
func Attach(dataDir string) (Info, error) {
	notRunning := fmt.Errorf("%w on data folder %s", ErrNotRunning, dataDir)
	f, err := os.Open(filepath.Join(dataDir, "stack.lock"))
	if errors.Is(err, os.ErrNotExist) {
		return Info{}, notRunning
	}
	if err != nil {
		return Info{}, fmt.Errorf("embedded stack: %w", err)
	}
	locked := flock(f, unix.LOCK_SH)
	if err := f.Close(); err != nil {
		return Info{}, fmt.Errorf("embedded stack: %w", err)
	}
	info, alive := readInfo(dataDir)
	if locked == nil || !alive {
		return Info{}, notRunning
	}
	return info, nil
}
