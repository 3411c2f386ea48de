package jsonl

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/store"
	"recap/internal/store/storetest"
)

// withoutPrivilege runs f as a user who owns nothing. The superuser's rights are dropped for the
// thread alone that f runs on.
func withoutPrivilege(t *testing.T, d *Driver, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	require.NoError(t, os.Chmod(filepath.Dir(d.root), 0o755)) // the test's own folder
	const nobody = 65534
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, syscall.Setfsuid(nobody))
	defer func() { require.NoError(t, syscall.Setfsuid(0)) }()
	f()
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	d, id := file(t, messages(2))
	require.NoError(t, os.Chmod(filepath.Join(d.root, id), 0o000))
	require.NoError(t, os.Chmod(d.root, 0o755))
	withoutPrivilege(t, d, func() {
		_, err := d.Load(t.Context(), id, store.ScopeAll)
		require.Equal(t, store.KindUnreadable, store.KindOf(err), "%v", err)
		page, err := d.List(t.Context(), store.Filter{}, "")
		require.NoError(t, err)
		require.Empty(t, page.Sessions, "the others are listed without it")
	})
}

func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	before := messages(2)
	d, id := file(t, before)
	rev := revisionOf(t, d, id)
	require.NoError(t, os.Chmod(filepath.Join(d.root, id), 0o444))
	require.NoError(t, os.Chmod(d.root, 0o755))
	withoutPrivilege(t, d, func() {
		_, err := d.Append(t.Context(), id, rev, []store.NewEntry{storetest.NewUser("ours", "x")})
		require.Equal(t, store.KindReadOnly, store.KindOf(err), "%v", err)
		require.Len(t, pathIDs(t, load(t, d, id, store.ScopeAll)), 2, "it can be read")
	})
	require.Equal(t, before, content(t, d, id))
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	d, id := file(t, v1)
	rev := revisionOf(t, d, id)
	require.NoError(t, os.Chmod(filepath.Join(d.root, id), 0o666))
	require.NoError(t, os.Chmod(d.root, 0o555))
	t.Cleanup(func() { require.NoError(t, os.Chmod(d.root, 0o755)) })
	withoutPrivilege(t, d, func() {
		_, err := d.Append(t.Context(), id, rev, []store.NewEntry{storetest.NewUser("ours", "x")})
		require.Equal(t, store.KindReadOnly, store.KindOf(err), "%v", err)
		_, err = d.Create(t.Context(), "new", storetest.Header("new"), nil)
		require.Equal(t, store.KindReadOnly, store.KindOf(err), "%v", err)
	})
	require.Equal(t, v1, content(t, d, id))
	require.Equal(t, []string{id}, dirNames(t, d.root))
}
