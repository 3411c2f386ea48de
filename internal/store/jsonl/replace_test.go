package jsonl

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
	"recap/internal/store"
	"recap/internal/store/storetest"
)

// v1 is a version 1 file with what such files have: no ids, a compaction with a numeric pointer,
// fields in the header that migration leaves alone; and with CRLF, blank, damaged and glued lines.
const v1 = `{"type":"session","id":"old","timestamp":"2025-11-01T10:00:00.000Z","cwd":"/srv/demo","provider":"p","modelId":"m","thinkingLevel":"off"}
{"type":"message","timestamp":"2025-11-01T10:00:01.000Z","message":{"role":"user","content":"one \u00e9","zzz":1e999}}` + "\r\n" + `
{broken
{"type":"message","timestamp":"2025-11-01T10:00:02.000Z","message":{"role":"hookMessage","customType":"note","content":"two","display":true}}{"type":"message","timestamp":"2025-11-01T10:00:03.000Z","message":{"role":"user","content":"three"}}
{"type":"compaction","timestamp":"2025-11-01T10:00:04.000Z","summary":"so far","firstKeptEntryIndex":2,"tokensBefore":10}
{"type":"unheard_of","timestamp":"2025-11-01T10:00:05.000Z", "x" : [ 1 ,2 ] }`

func dirNames(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestOldFileIsMigratedWithTheFirstAppend: one step, one backup, and every byte that is not an id, a
// parent, a pointer, a renamed role or the version stays.
func TestOldFileIsMigratedWithTheFirstAppend(t *testing.T) {
	t.Parallel()
	d, id := file(t, v1)
	path := filepath.Join(d.root, id)
	require.NoError(t, os.Chmod(path, 0o640))
	before := load(t, d, id, store.ScopeLive)
	require.False(t, before.Log().Partial, "ids depend on line numbers")
	leaf := before.Log().Leaf().ID

	w, err := d.Append(t.Context(), id, store.Expect{Revision: before.Revision()}, []store.NewEntry{storetest.NewUser("ours", "x")})
	require.NoError(t, err)
	require.True(t, w.Migrated)
	require.Equal(t, "s.jsonl.recap-backup-1", w.Backup)
	require.Equal(t, v1, content(t, d, w.Backup))
	require.ElementsMatch(t, []string{id, w.Backup}, dirNames(t, d.root))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())

	s := load(t, d, id, store.ScopeAll)
	require.Equal(t, w.Revision, s.Revision())
	require.Equal(t, session.CurrentVersion, s.Log().Header.Version)
	require.Equal(t, leaf, s.Log().Leaf().ParentID)
	require.Equal(t, len(before.Log().Entries)+1, len(pathIDs(t, s)))
	after := strings.Split(content(t, d, id), "\n")
	old := strings.Split(v1, "\n")
	require.Len(t, after, len(old)+2, "one line of ours and the newline the file lacked")
	for _, n := range []int{2, 3} {
		require.Equal(t, old[n], after[n], "line %d", n+1)
	}
	require.True(t, strings.HasSuffix(after[1], "}\r"))
	require.Contains(t, after[1], `"content":"one \u00e9","zzz":1e999`)
	require.Contains(t, after[0], `"provider":"p","modelId":"m","thinkingLevel":"off"`)
	require.Contains(t, after[6], `"x" : [ 1 ,2 ]`)
	require.Contains(t, after[4], `"role":"custom"`)
	require.NotContains(t, after[5], "firstKeptEntryIndex")
	require.Contains(t, after[5], `"firstKeptEntryId":"`+before.Log().Entries[1].ID+`"`)
	for i := range before.Log().Entries {
		a, err := before.Body(&before.Log().Entries[i])
		require.NoError(t, err, "the snapshot reads the old file still")
		b, err := s.Body(&s.Log().Entries[i])
		require.NoError(t, err)
		require.Equal(t, string(a), string(b))
	}

	// The next append is a plain one.
	w, err = d.Append(t.Context(), id, store.Expect{Revision: w.Revision}, []store.NewEntry{storetest.NewUser("more", "x")})
	require.NoError(t, err)
	require.Equal(t, store.Written{Revision: w.Revision}, w)
}

func TestVersion2KeepsItsIDs(t *testing.T) {
	t.Parallel()
	v2 := `{"type":"session","version":2,"id":"s","timestamp":"t","cwd":"/"}
{"type":"message","id":"a","parentId":null,"message":{"role":"hookMessage","customType":"c","content":"x","display":true}}
`
	d, id := file(t, v2)
	w := appendOne(t, d, id)
	require.True(t, w.Migrated)
	was, is := strings.Split(strings.NewReplacer(`"version":2`, `"version":3`, "hookMessage", "custom").Replace(v2), "\n"), strings.Split(content(t, d, id), "\n")
	require.Equal(t, was[0], is[0])
	require.JSONEq(t, was[1], is[1])
	require.Equal(t, string(storetest.User("ours", "a", "x")), is[2])
}

func TestReadingAnOldFileChangesNothing(t *testing.T) {
	t.Parallel()
	d, id := file(t, v1)
	a, b := load(t, d, id, store.ScopeAll), load(t, d, id, store.ScopeLive)
	require.Equal(t, pathIDs(t, a), pathIDs(t, b), "ids are derived, not minted")
	require.Equal(t, v1, content(t, d, id))
	require.Equal(t, []string{id}, dirNames(t, d.root))
}

func TestBackupsAreNumbered(t *testing.T) {
	t.Parallel()
	d, id := file(t, messages(3))
	require.NoError(t, os.WriteFile(filepath.Join(d.root, id+".recap-backup-1"), []byte("somebody's"), 0o600))
	for _, want := range []string{id + ".recap-backup-2", id + ".recap-backup-3"} {
		before := content(t, d, id)
		w, err := d.Rewrite(t.Context(), id, revisionOf(t, d, id), store.Change{Replace: map[string][]byte{"m0002": storetest.User("m0002", "m0001", want)}})
		require.NoError(t, err)
		require.False(t, w.Migrated)
		require.Equal(t, want, w.Backup)
		require.Equal(t, before, content(t, d, w.Backup))
	}
	require.Equal(t, "somebody's", content(t, d, id+".recap-backup-1"))
	page, err := d.List(t.Context(), store.Filter{}, "")
	require.NoError(t, err)
	require.Len(t, page.Sessions, 1, "backups are no sessions")
}

// TestRewriteKeepsOddBytes: between the changed entries nothing changes.
func TestRewriteKeepsOddBytes(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(messages(3), "\n")
	before := "\ufeff" + lines[0] + "{broken\n" + strings.TrimSuffix(lines[1], "\n") + lines[2] + "\r\n" + lines[3] + `{"torn`
	d, id := file(t, before)
	changed := string(storetest.User("m0002", "m0001", "changed"))
	_, err := d.Rewrite(t.Context(), id, revisionOf(t, d, id), store.Change{
		Replace: map[string][]byte{"m0002": []byte(changed)}, Append: []store.NewEntry{storetest.NewUser("ours", "x")},
	})
	require.NoError(t, err)
	want := strings.Replace(before, strings.TrimSuffix(lines[2], "\n"), changed, 1) + "\n" + string(storetest.User("ours", "m0003", "x")) + "\n"
	require.Equal(t, want, content(t, d, id))
}

// TestForeignWriteDuringAReplacement: whatever somebody else writes before or in the moment of the
// swap is kept, ours is refused, and nothing is left over.
func TestForeignWriteDuringAReplacement(t *testing.T) {
	t.Parallel()
	theirs := string(storetest.User("theirs", "m0003", "x")) + "\n"
	for name, seamOf := range map[string]func(d *Driver, f func()){
		"before the swap": func(d *Driver, f func()) { d.seam.beforeRename = f },
		"in its moment":   func(d *Driver, f func()) { d.seam.afterRename = f },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := messages(3)
			d, id := file(t, before)
			agent, err := os.OpenFile(filepath.Join(d.root, id), os.O_WRONLY|os.O_APPEND, 0) // opened before, as a slow writer has it
			require.NoError(t, err)
			seamOf(d, func() {
				_, err := agent.WriteString(theirs)
				require.NoError(t, err)
			})
			_, err = d.Rewrite(t.Context(), id, revisionOf(t, d, id), store.Change{Replace: map[string][]byte{"m0002": storetest.User("m0002", "m0001", "X")}})
			require.Equal(t, store.KindConflict, store.KindOf(err), "%v", err)
			require.NoError(t, agent.Close())
			require.Equal(t, before+theirs, content(t, d, id))
			require.Equal(t, []string{id}, dirNames(t, d.root))
		})
	}
}

// TestSessionReplacedDuringAReplacement: an agent that rewrites its whole file meanwhile wins.
func TestSessionReplacedDuringAReplacement(t *testing.T) {
	t.Parallel()
	d, id := file(t, v1)
	path := filepath.Join(d.root, id)
	other := messages(1)
	d.seam.beforeRename = func() {
		require.NoError(t, os.WriteFile(path+".agent", []byte(other), 0o600))
		require.NoError(t, os.Rename(path+".agent", path))
	}
	_, err := d.Append(t.Context(), id, revisionOf(t, d, id), []store.NewEntry{storetest.NewUser("ours", "x")})
	require.Equal(t, store.KindConflict, store.KindOf(err), "%v", err)
	require.Equal(t, other, content(t, d, id))
	require.Equal(t, []string{id}, dirNames(t, d.root))
}

// TestWaiterTakesTheNewFile: a worker that waited for the lock while the file was replaced locks the
// new one, and finds that its state is stale.
func TestWaiterTakesTheNewFile(t *testing.T) {
	t.Parallel()
	d, id := file(t, messages(3))
	rev := revisionOf(t, d, id)
	second := open(t, d.root)
	done := make(chan error, 1)
	d.seam.beforeRename = func() {
		go func() {
			_, err := second.Append(t.Context(), id, rev, []store.NewEntry{storetest.NewUser("second", "x")})
			done <- err
		}()
	}
	_, err := d.Rewrite(t.Context(), id, rev, store.Change{Replace: map[string][]byte{"m0002": storetest.User("m0002", "m0001", "X")}})
	require.NoError(t, err)
	require.Equal(t, store.KindConflict, store.KindOf(<-done))
	require.Len(t, pathIDs(t, load(t, d, id, store.ScopeAll)), 3)
}

// TestBackupWithoutSecondNames: where links are not to be had, the backup is a copy, and undoing
// works too.
func TestBackupWithoutSecondNames(t *testing.T) {
	t.Parallel()
	before := messages(3)
	d, id := file(t, before)
	f, err := d.openLocked(t.Context(), id)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	s := &snapshot{id: id, file: f}
	s.state, err = stateOf(f)
	require.NoError(t, err)
	p, err := d.newPlace(s)
	require.NoError(t, err)
	require.NoError(t, p.copyTo("copy", s))
	require.ErrorIs(t, p.copyTo("copy", s), os.ErrExist, "nothing is overwritten")
	require.Equal(t, before, content(t, d, "copy"))
	require.NoError(t, p.swap())
	require.Empty(t, content(t, d, id))
	require.NoError(t, p.undo(s, "copy"))
	require.Equal(t, before, content(t, d, id))
	require.NoError(t, p.close())
	require.ElementsMatch(t, []string{id, "copy"}, dirNames(t, d.root))
}

// TestFailedMigrationLeavesNothing: an old file that cannot be replaced stays as it is.
func TestFailedMigrationLeavesNothing(t *testing.T) {
	t.Parallel()
	d, id := file(t, v1)
	_, err := d.Append(t.Context(), id, revisionOf(t, d, id), []store.NewEntry{{ID: "x", Build: func(string) ([]byte, error) {
		return nil, syscall.EINVAL
	}}})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.Equal(t, v1, content(t, d, id))
	require.Equal(t, []string{id}, dirNames(t, d.root))
}
