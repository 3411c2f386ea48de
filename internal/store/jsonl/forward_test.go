package jsonl

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
	"recap/internal/store"
	"recap/internal/store/storetest"
)

// TestForwardReadsTheSameBodies reads the bodies of a session of several read-ahead blocks forward,
// backward and at random.
func TestForwardReadsTheSameBodies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := append(storetest.Header("s"), '\n')
	for _, e := range storetest.Chain(6000) {
		data = append(append(data, e...), '\n')
	}
	require.Greater(t, len(data), 2*readAhead)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s.jsonl"), data, 0o600))
	d, err := New(dir)
	require.NoError(t, err)
	snap, err := d.Load(t.Context(), "s.jsonl", store.ScopeAll)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, snap.Close()) })

	entries := snap.Log().Entries
	order := map[string][]int{"forward": nil, "backward": nil, "random": rand.New(rand.NewPCG(1, 2)).Perm(len(entries))}
	for i := range entries {
		order["forward"] = append(order["forward"], i)
		order["backward"] = append(order["backward"], len(entries)-1-i)
	}
	for name, indices := range order {
		ahead := session.Forward(snap)
		for _, i := range indices {
			want, err := snap.Body(&entries[i])
			require.NoError(t, err)
			got, err := ahead.Body(&entries[i])
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "%s: entry %d", name, i)
		}
	}
	outside := entries[0]
	outside.Offset = int64(len(data))
	_, err = session.Forward(snap).Body(&outside)
	require.Error(t, err)
}
