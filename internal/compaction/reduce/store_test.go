package reduce_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/compaction/reduce"
	"recap/internal/session"
	"recap/internal/store"
	"recap/internal/store/jsonl"
)

// TestPRP01ARewrittenSessionIsTheLiveContext makes decisions through a store, as a commit does.
func TestPRP01ARewrittenSessionIsTheLiveContext(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := newScript()
	everything(s)
	keep := s.user("kept from here")
	s.compacted(keep)
	everything(s)
	require.NoError(t, os.WriteFile(filepath.Join(root, "s.jsonl"), s.buf.Bytes(), 0o600))
	driver, err := jsonl.New(root)
	require.NoError(t, err)
	snap, err := driver.Load(t.Context(), "s.jsonl", store.ScopeLive)
	require.NoError(t, err)
	defer func() { require.NoError(t, snap.Close()) }()

	path, err := snap.Log().Path()
	require.NoError(t, err)
	tail, err := reduce.Read(reduce.Source{Path: path, Bodies: snap, Partial: snap.Log().Partial, Now: started})
	require.NoError(t, err)
	var all []reduce.Decision
	for _, name := range []string{"stale", "dedup", "bound", "shake", "truncate", "images"} {
		p := must(t)(passes[name](tail))
		all = append(all, reduce.Point(p.Decisions, "1")...)
		tail, err = tail.After(reduce.Pass{Decisions: reduce.Point(p.Decisions, "1")})
		require.NoError(t, err)
	}
	require.NotEmpty(t, all)
	before, err := session.BuildContext(snap.Log(), snap, session.ContextOptions{Raw: true})
	require.NoError(t, err)
	live, err := reduce.Live(before.Messages, all)
	require.NoError(t, err)
	changed, err := reduce.Replacements(snap.Log(), snap, all)
	require.NoError(t, err)
	_, err = driver.Rewrite(t.Context(), "s.jsonl", store.Expect{Revision: snap.Revision()}, store.Change{Replace: changed})
	require.NoError(t, err)

	resumed, err := driver.Load(t.Context(), "s.jsonl", store.ScopeLive)
	require.NoError(t, err)
	defer func() { require.NoError(t, resumed.Close()) }()
	got, err := session.BuildContext(resumed.Log(), resumed, session.ContextOptions{Raw: true})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(live, got.Messages))
}
