package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/config"
	"recap/internal/sample"
	"recap/internal/store"
)

// A command on NATS names sessions of the stores that are served, by id or path, and nothing else on
// the worker's disk.
func TestCommandsReachServedSessionsOnly(t *testing.T) {
	t.Parallel()
	inside, outside := t.TempDir(), t.TempDir()
	for _, dir := range []string{inside, outside} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "s.jsonl"), sample.Generate(sample.Options{Entries: 4}), 0o600))
	}
	cfg := config.Default()
	cfg.Stores = map[string]config.Store{"local": {Driver: "jsonl", Root: inside}}
	resolve := resolver(cfg, nil, func() []string { return []string{"local"} })

	byID, err := resolve(t.Context(), "s")
	require.NoError(t, err)
	byPath, err := resolve(t.Context(), filepath.Join(inside, "s.jsonl"))
	require.NoError(t, err)
	require.Equal(t, byID, byPath)
	require.Equal(t, "local", byID.Store)

	_, err = resolve(t.Context(), filepath.Join(outside, "s.jsonl"))
	require.Equal(t, store.KindOutside, store.KindOf(err))
	_, err = resolve(t.Context(), "/etc/passwd")
	require.Error(t, err)
	_, err = resolve(t.Context(), "absent")
	require.Equal(t, store.KindNotFound, store.KindOf(err))
}

// A command must not wait for ever for a stack that has ended.
func TestWaitingEndsWithTheStack(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.DataDir = t.TempDir() // nothing runs on it
	gone := make(chan struct{})
	close(gone)
	for name, l := range map[string]*link{"own": {ownStack: true, gone: gone}, "another's": {attached: true, cfg: cfg}} {
		alive, stop := l.whileAlive(t.Context())
		<-alive.Done()
		require.ErrorIs(t, context.Cause(alive), errStackEnded, name)
		stop()
	}
	ctx := t.Context()
	alive, stop := (&link{}).whileAlive(ctx)
	require.Equal(t, ctx, alive, "a server of the caller's own may come back")
	stop()
}
