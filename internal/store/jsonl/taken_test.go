package jsonl

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/sample"
	"recap/internal/session"
	"recap/internal/store"
)

func TestTakenKnowsIdsOfThePartThatWasNotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, story := sample.Build(sample.Options{Seed: 5, Bytes: 4 << 20, Compactions: 1, Linear: true})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s.jsonl"), data, 0o600))
	d, err := New(dir)
	require.NoError(t, err)
	whole, err := d.Load(t.Context(), "s.jsonl", store.ScopeAll)
	require.NoError(t, err)
	defer func() { require.NoError(t, whole.Close()) }()
	entries := whole.Log().Entries
	tail := session.NewLog(whole.Log().Header, entries[len(entries)-10:], session.Report{})
	tail.Partial = true
	part := &snapshot{id: "s.jsonl", file: whole.(*snapshot).file, state: whole.(*snapshot).state, log: tail}
	for _, id := range []string{entries[0].ID, entries[len(entries)/2].ID, story.Leaf} {
		taken, err := part.Taken(id)
		require.NoError(t, err)
		require.True(t, taken, id)
	}
	require.False(t, bytes.Contains(data, []byte(`"0badc0de"`)))
	taken, err := part.Taken("0badc0de")
	require.NoError(t, err)
	require.False(t, taken)
}
