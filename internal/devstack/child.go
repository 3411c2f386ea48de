package devstack

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// child is a server process that must not outlive this one.
type child struct {
	address, ui string
	pid         int
	logPath     string
	exited      chan struct{}
	exit        error // set before exited closes
	wanted      atomic.Bool
}

// stopGrace is how long a server may take to end by itself before it is killed.
const stopGrace = 10 * time.Second

// startChild runs a program in dir with its output in a log file. It has its own process group, so
// an interrupt from the terminal reaches only us and we decide when the servers go.
func startChild(program string, args []string, dir, logPath string, inherit *os.File) (*child, error) {
	logFile, err := os.Create(logPath)
	if err != nil {
		return nil, fmt.Errorf("embedded Temporal: %w", err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, logFile, logFile
	cmd.Env = withoutTemporal(os.Environ())
	cmd.ExtraFiles = []*os.File{inherit}
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = time.Second

	c := &child{logPath: logPath, exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ends the child when the thread that started it ends, so this goroutine keeps its
		// thread until the child is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			c.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		c.exit = cmd.Wait()
		close(c.exited)
	}()
	err = <-started
	if closeErr := logFile.Close(); err == nil && closeErr != nil {
		err = errors.Join(closeErr, c.stop())
	}
	if err != nil {
		return nil, fmt.Errorf("embedded Temporal: start %s: %w", program, err)
	}
	return c, nil
}

// stop asks the process group to end, and ends it if it does not. The process is gone afterwards.
func (c *child) stop() error {
	c.wanted.Store(true)
	select {
	case <-c.exited:
		return nil
	default:
	}
	if err := signalGroup(c.pid, syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-c.exited:
		return nil
	case <-timer.C:
	}
	if err := signalGroup(c.pid, syscall.SIGKILL); err != nil {
		return err
	}
	<-c.exited
	return nil
}

// err says how the process ended; only after exited is closed.
func (c *child) err() error {
	if c.exit == nil {
		return errors.New("exit status 0")
	}
	return c.exit
}

func signalGroup(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(-pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("embedded Temporal: signal process group %d: %w", pid, err)
	}
	return nil
}

// withoutTemporal drops what would point the child at another server or profile.
func withoutTemporal(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, v := range env {
		if !strings.HasPrefix(v, "TEMPORAL_") {
			kept = append(kept, v)
		}
	}
	return kept
}
