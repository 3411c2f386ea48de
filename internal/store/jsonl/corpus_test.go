package jsonl

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"recap/internal/session"
	"recap/internal/store"
	"recap/internal/store/storetest"
	"recap/internal/testkit/repo"
)

// corpus returns the folder of real session files. It is not part of the repository.
func corpus(t testing.TB) string {
	t.Helper()
	return repo.Corpus(t)
}

func corpusFiles(t testing.TB, families ...string) (paths []string) {
	t.Helper()
	for _, family := range families {
		found, err := filepath.Glob(filepath.Join(corpus(t), family, "*.jsonl"))
		require.NoError(t, err)
		require.NotEmpty(t, found, family)
		paths = append(paths, found...)
	}
	return paths
}

// copyIn puts a copy of a file into a fresh store and returns its driver, id and content.
func copyIn(t testing.TB, path string) (*Driver, string, []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	d := open(t, t.TempDir())
	id := filepath.Base(path)
	require.NoError(t, os.WriteFile(filepath.Join(d.root, id), data, 0o600))
	return d, id, data
}

// TestIndexIsThatOfTheWholeFile compares the parallel index of every real file with the parser that
// holds the file in memory.
func TestIndexIsThatOfTheWholeFile(t *testing.T) {
	t.Parallel()
	for _, path := range corpusFiles(t, "pi", "openclaw") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			d, id, data := copyIn(t, path)
			s := load(t, d, id, store.ScopeAll)
			want, err := session.Parse(data)
			require.NoError(t, err)
			if diff := cmp.Diff(want.Log, s.Log(), cmpopts.IgnoreUnexported(session.Log{})); diff != "" {
				t.Fatal(diff)
			}
			require.Equal(t, want.Log.Leaf(), s.Log().Leaf())
			for i := range want.Log.Entries {
				e := &want.Log.Entries[i]
				a, err := want.Body(e)
				require.NoError(t, err)
				b, err := s.Body(e)
				require.NoError(t, err)
				require.Equal(t, string(a), string(b))
			}
		})
	}
}

// TestTailIsTheEndOfTheWholeIndex reads every real file from its end: where that sufficed, the
// entries are the last ones of the full index, and the active path is the same from the first kept
// entry on.
func TestTailIsTheEndOfTheWholeIndex(t *testing.T) {
	t.Parallel()
	partial := 0
	for _, path := range corpusFiles(t, "pi", "openclaw") {
		d, id, _ := copyIn(t, path)
		all := load(t, d, id, store.ScopeAll)
		live := load(t, d, id, store.ScopeLive)
		require.Equal(t, all.Log().Leaf().ID, live.Log().Leaf().ID, id)
		require.Equal(t, all.Dialect(), live.Dialect(), id)
		if !live.Log().Partial {
			continue
		}
		partial++
		require.GreaterOrEqual(t, all.head.header.Version, session.CurrentVersion, id)
		got, want := live.Log().Entries, all.Log().Entries
		tail := want[len(want)-len(got):]
		require.Empty(t, cmp.Diff(tail, got, cmpopts.IgnoreFields(session.Entry{}, "Line")), id)
		requireSameContext(t, all, live)
	}
	require.Positive(t, partial, "no file was read from its end")
}

func requireSameContext(t *testing.T, all, live *snapshot) {
	t.Helper()
	whole, err := session.BuildContext(all.Log(), all, session.ContextOptions{})
	require.NoError(t, err)
	tail, err := session.BuildContext(live.Log(), live, session.ContextOptions{})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(whole.Messages, tail.Messages), all.id)
	require.Equal(t, whole.CompactionID, tail.CompactionID, all.id)
}

// TestForeignTranscriptsAreRefused loads transcripts of other agents.
func TestForeignTranscriptsAreRefused(t *testing.T) {
	t.Parallel()
	for _, path := range corpusFiles(t, "claude", "codex") {
		d, id, data := copyIn(t, path)
		_, err := d.Load(t.Context(), id, store.ScopeAll)
		require.Equal(t, store.KindNotSession, store.KindOf(err), "%s: %v", id, err)
		_, err = d.Append(t.Context(), id, store.Expect{}, []store.NewEntry{storetest.NewUser("x", "x")})
		require.Error(t, err, id)
		after, err := os.ReadFile(filepath.Join(d.root, id))
		require.NoError(t, err)
		require.Equal(t, data, after, id)
	}
}

// TestAppendToRealFiles appends an entry to every real file: it becomes the leaf, under the old leaf,
// and existing bytes stay (promise G1). Old files are migrated, with their bytes in the backup.
func TestAppendToRealFiles(t *testing.T) {
	t.Parallel()
	for _, path := range corpusFiles(t, "pi", "openclaw") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			d, id, data := copyIn(t, path)
			before := load(t, d, id, store.ScopeAll)
			w, err := d.Append(t.Context(), id, store.Expect{Revision: before.Revision()}, []store.NewEntry{storetest.NewUser("feed0001", "hi")})
			require.NoError(t, err)
			after, err := os.ReadFile(filepath.Join(d.root, id))
			require.NoError(t, err)
			s := load(t, d, id, store.ScopeAll)
			leaf := s.Log().Leaf()
			require.Equal(t, "feed0001", leaf.ID)
			require.Equal(t, before.Log().Leaf().ID, leaf.ParentID)
			require.Equal(t, w.Revision, s.Revision())
			if before.head.header.Version == session.CurrentVersion {
				require.True(t, bytes.HasPrefix(after, data))
				require.Empty(t, w.Backup)
				return
			}
			require.True(t, w.Migrated)
			backup, err := os.ReadFile(filepath.Join(d.root, w.Backup))
			require.NoError(t, err)
			require.Equal(t, data, backup)
			require.Equal(t, session.CurrentVersion, s.Log().Header.Version)
			n := len(before.Log().Entries)
			require.Empty(t, cmp.Diff(before.Log().Entries, s.Log().Entries[:n], cmpopts.IgnoreFields(session.Entry{}, "Offset", "Length")))
			require.Equal(t, strings.Count(string(data), "\n"), strings.Count(strings.TrimSuffix(string(after), "\n"), "\n"), "no line was added or lost but ours")
			for i := range n {
				was, err := before.Body(&before.Log().Entries[i])
				require.NoError(t, err)
				is, err := s.Body(&s.Log().Entries[i])
				require.NoError(t, err)
				require.Equal(t, string(was), string(is))
			}
		})
	}
}
