package devstack

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeProgram puts an executable file in place.
func fakeProgram(t *testing.T, path string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
	return path
}

func TestProgramIsLookedForInPathThenCacheThenSDK(t *testing.T) {
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	t.Setenv("PATH", filepath.Join(dir, "path"))
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))

	_, err := LookProgram(cache)
	require.ErrorIs(t, err, ErrNoProgram)

	for _, path := range []string{ // the weakest first
		filepath.Join(dir, "tmp", sdkProgram),
		filepath.Join(cache, "bin", sdkProgram),
		filepath.Join(cache, "bin", "temporal"),
		filepath.Join(dir, "path", "temporal"),
	} {
		want := fakeProgram(t, path)
		got, err := LookProgram(cache)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestCacheDirFollowsItsVariable(t *testing.T) {
	t.Setenv("RECAP_CACHE", "/some/where")
	require.Equal(t, "/some/where", CacheDir())
	t.Setenv("RECAP_CACHE", "")
	require.Equal(t, "recap", filepath.Base(CacheDir()))
}

func TestDownload(t *testing.T) {
	t.Parallel()
	offline := errors.New("no route")
	tests := map[string]struct {
		fetch func(t *testing.T) func(context.Context, string) error
		ok    bool
		err   string
	}{
		"arrives while the SDK goes on waiting for its server": {
			fetch: func(t *testing.T) func(context.Context, string) error {
				return func(ctx context.Context, bin string) error {
					fakeProgram(t, filepath.Join(bin, sdkProgram))
					<-ctx.Done()
					return ctx.Err()
				}
			}, ok: true,
		},
		"fails at once": {
			fetch: func(*testing.T) func(context.Context, string) error {
				return func(context.Context, string) error { return offline }
			}, err: "no route",
		},
		"stands still": {
			fetch: func(*testing.T) func(context.Context, string) error {
				return func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
			}, err: "nothing arrived",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			path, err := download(t.Context(), bin, tt.fetch(t), 300*time.Millisecond)
			if tt.ok {
				require.NoError(t, err)
				require.Equal(t, filepath.Join(bin, sdkProgram), path)
				return
			}
			require.ErrorContains(t, err, tt.err)
		})
	}
}

// goTool puts a stand-in for the Go toolchain into PATH; it notes its surroundings and builds script.
func goTool(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\n"+script), 0o755))
	t.Setenv("PATH", dir+":/bin:/usr/bin")
}

func TestBuildIgnoresTheUsersGoSettings(t *testing.T) {
	goTool(t, `echo "$@ flags=$GOFLAGS work=$GOWORK" >"$GOBIN/temporal"; chmod +x "$GOBIN/temporal"`)
	t.Setenv("GOFLAGS", "-mod=vendor")
	t.Setenv("GOBIN", "/nowhere")
	bin := t.TempDir()
	var told bytes.Buffer
	path, err := build(t.Context(), bin, &told)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(bin, "temporal"), path)
	made, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "install "+CLIModule+" flags= work=off\n", string(made))
	require.Contains(t, told.String(), "8 minutes")
	require.Contains(t, told.String(), CLIModule)
	rest, err := filepath.Glob(filepath.Join(bin, "build-*"))
	require.NoError(t, err)
	require.Empty(t, rest)
}

func TestBuildFailureIsOneLine(t *testing.T) {
	goTool(t, "echo go: finding; echo go: no such host >&2; exit 1")
	_, err := build(t.Context(), t.TempDir(), &bytes.Buffer{})
	require.ErrorContains(t, err, "no such host")
	require.ErrorContains(t, err, "TEMPORAL_ADDRESS")
	require.NotContains(t, err.Error(), "\n")
}

func TestBuildEndsWithItsContext(t *testing.T) {
	goTool(t, "exec sleep 1000")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := build(ctx, t.TempDir(), &bytes.Buffer{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestBuildNeedsAToolchain(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := build(t.Context(), t.TempDir(), &bytes.Buffer{})
	require.ErrorIs(t, err, ErrNoProgram)
	require.ErrorContains(t, err, "install temporal")
}

// Of two processes that need the program, one gets it and the other takes it from the cache.
func TestSecondBuilderWaitsForTheFirst(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	cache := t.TempDir()
	bin := filepath.Join(cache, "bin")
	require.NoError(t, os.MkdirAll(bin, 0o755))
	unlock, err := lockCache(t.Context(), bin, &bytes.Buffer{})
	require.NoError(t, err)

	told := &notifier{on: "waiting", heard: make(chan struct{})}
	type result struct {
		path string
		err  error
	}
	got := make(chan result, 1)
	go func() {
		path, err := FindProgram(t.Context(), cache, told)
		got <- result{path, err}
	}()
	<-told.heard
	want := fakeProgram(t, filepath.Join(bin, "temporal"))
	unlock()
	r := <-got
	require.NoError(t, r.err)
	require.Equal(t, want, r.path)
}

// notifier closes heard when a text is written to it.
type notifier struct {
	on    string
	heard chan struct{}
	done  bool
}

func (n *notifier) Write(p []byte) (int, error) {
	if !n.done && strings.Contains(string(p), n.on) {
		n.done = true
		close(n.heard)
	}
	return len(p), nil
}
