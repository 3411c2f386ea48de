package devstack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sayEvery is how often a person is told that a build or a wait goes on.
const sayEvery = 15 * time.Second

// build makes the temporal program with go install and puts it into bin when it is whole.
func build(ctx context.Context, bin string, progress io.Writer) (string, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("temporal program: %w, and there is no Go toolchain to build it with: "+
			"install temporal or set TEMPORAL_ADDRESS", ErrNoProgram)
	}
	dir, err := os.MkdirTemp(bin, "build-")
	if err != nil {
		return "", fmt.Errorf("temporal program: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // only rubbish is left if this fails

	say(progress, "Building the Temporal development server: go install %s", CLIModule)
	say(progress, "This happens once and takes about 8 minutes on 2 cores; the program is kept in %s.", bin)
	var out bytes.Buffer
	cmd := installCommand(ctx, tool, dir)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := runTelling(cmd, progress, "still building"); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("temporal program: building it was interrupted: %w", context.Cause(ctx))
		}
		return "", fmt.Errorf("temporal program: go install %s failed: %w: %s; install temporal or set TEMPORAL_ADDRESS",
			CLIModule, err, lastLine(out.String()))
	}
	path := filepath.Join(bin, "temporal")
	if err := os.Rename(filepath.Join(dir, "temporal"), path); err != nil {
		return "", fmt.Errorf("temporal program: %w", err)
	}
	return filepath.Abs(path)
}

// installCommand builds into dir whatever the user's Go settings are: flags and a workspace meant
// for their module would break the build of another one, and a cross-compiled server would not run.
func installCommand(ctx context.Context, tool, dir string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, tool, "install", CLIModule)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "GOWORK=off", "GO111MODULE=on", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return signalGroup(cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// runTelling runs a command and says now and then how long it has been running.
func runTelling(cmd *exec.Cmd, progress io.Writer, what string) error {
	ended := make(chan error, 1)
	start := time.Now()
	go func() {
		runtime.LockOSThread() // see startChild
		defer runtime.UnlockOSThread()
		ended <- cmd.Run()
	}()
	tick := time.NewTicker(sayEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			say(progress, "… %s, %s", what, time.Since(start).Round(time.Second))
		}
	}
}

// lockCache makes sure that one process at a time gets a program. The others wait and say so.
func lockCache(ctx context.Context, bin string, progress io.Writer) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(bin, "temporal.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("temporal program: cache: %w", err)
	}
	start, told := time.Now(), time.Time{}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := flock(f, unix.LOCK_EX)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing is what unlocks; there is nothing to lose
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("temporal program: lock the cache: %w", err), f.Close())
		}
		if time.Since(told) > sayEvery {
			told = time.Now()
			say(progress, "… waiting for another process that is getting the temporal program, %s", time.Since(start).Round(time.Second))
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("temporal program: %w", context.Cause(ctx)), f.Close())
		case <-tick.C:
		}
	}
}

func lastLine(out string) string {
	out = strings.TrimSpace(out)
	return out[strings.LastIndexByte(out, '\n')+1:]
}
