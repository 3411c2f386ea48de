package devstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
)

// CLIModule is what is built when no temporal program is found. v1.5.1 is the newest version that
// go install accepts.
const CLIModule = "github.com/temporalio/cli/cmd/temporal@v1.5.1"

// CacheDir is recap's cache: RECAP_CACHE, else recap in the user's cache folder, else in the folder
// for temporary files. Programs are in its bin folder.
func CacheDir() string {
	if dir := os.Getenv("RECAP_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "recap")
}

// ErrNoProgram says that no temporal program is at hand.
var ErrNoProgram = errors.New("no temporal program is installed")

// LookProgram finds a temporal program on this machine: in PATH, then in recap's cache, then where
// the Temporal SDK keeps its download. It downloads and builds nothing; without one the error is
// ErrNoProgram.
func LookProgram(cacheDir string) (string, error) {
	if path, err := exec.LookPath("temporal"); err == nil {
		return filepath.Abs(path)
	}
	bin := filepath.Join(cacheDir, "bin")
	for _, path := range []string{
		filepath.Join(bin, "temporal"), filepath.Join(bin, sdkProgram), filepath.Join(os.TempDir(), sdkProgram),
	} {
		if executable(path) {
			return filepath.Abs(path)
		}
	}
	return "", ErrNoProgram
}

// sdkProgram is the name under which the SDK keeps the program it downloads.
const sdkProgram = "temporal-cli-go-sdk-" + temporal.SDKVersion

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// FindProgram finds a temporal program, or gets one: it takes the SDK's own download, and where that
// cannot be had builds the program with the Go toolchain, which takes minutes, once. What a person
// waits for is told on progress.
func FindProgram(ctx context.Context, cacheDir string, progress io.Writer) (string, error) {
	path, err := LookProgram(cacheDir)
	if !errors.Is(err, ErrNoProgram) {
		return path, err
	}
	bin := filepath.Join(cacheDir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", fmt.Errorf("temporal program: cache: %w", err)
	}
	unlock, err := lockCache(ctx, bin, progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if path, err := LookProgram(cacheDir); err == nil { // somebody else was faster
		return path, nil
	}
	say(progress, "No temporal program in PATH or in %s; downloading the one the Temporal SDK uses.", bin)
	path, err = download(ctx, bin, fetchSDK, stall)
	if err == nil {
		return path, nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("temporal program: %w", context.Cause(ctx))
	}
	say(progress, "The download is not to be had (%v).", err)
	return build(ctx, bin, progress)
}

// stall is how long a download may stand still before it counts as failed.
const stall = 10 * time.Second

// fetchSDK lets the SDK download its program into bin. It starts the program with --help besides,
// which does nothing, and then waits for a server until ctx ends.
func fetchSDK(ctx context.Context, bin string) error {
	_, err := testsuite.StartDevServer(ctx, testsuite.DevServerOptions{
		CachedDownload: testsuite.CachedDownload{DestDir: bin}, ExtraArgs: []string{"--help"}, Stdout: io.Discard, Stderr: io.Discard,
	})
	return err
}

// download runs fetch until the program is there or nothing has arrived for a while.
func download(ctx context.Context, bin string, fetch func(context.Context, string) error, stall time.Duration) (string, error) {
	path := filepath.Join(bin, sdkProgram)
	ctx, cancel := context.WithCancel(ctx)
	var failure error // read only after ended is closed
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		failure = fetch(ctx, bin)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last, since := int64(-1), time.Now()
	for {
		if executable(path) { // it is renamed into place when it is whole
			return path, nil
		}
		if size := arrived(bin); size != last {
			last, since = size, time.Now()
		}
		if time.Since(since) > stall {
			return "", fmt.Errorf("nothing arrived for %s", stall)
		}
		select {
		case <-ended:
			if executable(path) {
				return path, nil
			}
			return "", failure
		case <-tick.C:
		}
	}
}

// arrived sums the sizes of unfinished downloads.
func arrived(bin string) int64 {
	parts, err := filepath.Glob(filepath.Join(bin, "temporal-cli-downloading-*"))
	if err != nil {
		return 0
	}
	total := int64(len(parts))
	for _, p := range parts {
		if info, err := os.Stat(p); err == nil {
			total += info.Size()
		}
	}
	return total
}

func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format+"\n", args...) // a terminal that is gone must not stop the start
}
