package file

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"recap/internal/blob"
	"recap/internal/blob/blobtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string) *Driver {
	t.Helper()
	s, err := Open(dir)
	require.NoError(t, err)
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blobtest.Fixture {
		dir := t.TempDir()
		s := open(t, dir)
		return blobtest.Fixture{
			Driver: s,
			Second: open(t, dir),
			Damage: func(t *testing.T, d blob.Digest, how blobtest.Damage) {
				stored, err := os.ReadFile(s.blobPath(d))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(s.blobPath(d), how(stored), 0o600))
			},
		}
	})
}

func TestNamesStayInTheirTree(t *testing.T) {
	t.Parallel()
	outer := t.TempDir()
	s := open(t, filepath.Join(outer, "store"))
	d, err := s.Put(t.Context(), []byte("x"))
	require.NoError(t, err)
	for _, n := range []string{"../../escaped", "..", "a/../../../../escaped"} {
		_, err := s.Link(t.Context(), n, d)
		require.NoError(t, err)
	}
	entries, err := os.ReadDir(outer)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.ElementsMatch(t, []string{"blobs", "names", "tmp", "lock"}, children(t, s.dir))
}

func children(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestNothingIsLeftInTmp(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for range 2 {
		d, err := s.Put(t.Context(), []byte("x"))
		require.NoError(t, err)
		_, err = s.Link(t.Context(), "n", d)
		require.NoError(t, err)
		require.NoError(t, s.Relink(t.Context(), "n", d))
		require.NoError(t, s.Expire(t.Context(), time.Hour, []blob.Digest{d}, []string{"n"}))
	}
	require.Empty(t, children(t, s.tmpDir()))
}

func TestSweepLeavesNoEmptyFolders(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	d, err := s.Put(t.Context(), []byte("x"))
	require.NoError(t, err)
	_, err = s.Link(t.Context(), "a/b/c", d)
	require.NoError(t, err)
	require.NoError(t, s.Expire(t.Context(), 0, []blob.Digest{d}, []string{"a/b/c"}))
	n, err := s.Sweep(t.Context(), time.Now().Add(time.Second))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Empty(t, children(t, filepath.Join(s.dir, "names")))
	require.Empty(t, children(t, filepath.Join(s.dir, "blobs")))
}

func TestSweepRemovesLeftoversOfCrashes(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	require.NoError(t, os.WriteFile(filepath.Join(s.tmpDir(), "new-1"), []byte("half"), 0o600))
	_, err := s.Sweep(t.Context(), time.Now())
	require.NoError(t, err)
	require.Len(t, children(t, s.tmpDir()), 1, "it may still be on its way")
	_, err = s.Sweep(t.Context(), time.Now().Add(2*leftover))
	require.NoError(t, err)
	require.Empty(t, children(t, s.tmpDir()))
}

func TestUnreadableDeadlineKeepsTheBlob(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	d, err := s.Put(t.Context(), []byte("x"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.blobPath(d)+deadlineSuffix, nil, 0o600))
	n, err := s.Sweep(t.Context(), time.Now().Add(1000*time.Hour))
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = s.Get(t.Context(), d)
	require.NoError(t, err)
}

func TestFilesAreForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "store"))
	d, err := s.Put(t.Context(), []byte("a transcript"))
	require.NoError(t, err)
	_, err = s.Link(t.Context(), "a/b", d)
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, path)
		return nil
	}))
}

func TestOpenOnAFileFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := Open(path)
	require.ErrorContains(t, err, path)
}

// TestBigBlobsAreNotCopied puts and gets 150 MB and looks at what was allocated meanwhile.
func TestBigBlobsAreNotCopied(t *testing.T) {
	if testing.Short() {
		t.Skip("150 MB")
	}
	s := open(t, t.TempDir())
	const size = 150 << 20
	data := bytes.Repeat([]byte("{\"role\":\"user\",\"text\":\"lorem ipsum\"}\n"), size/36)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := s.Put(t.Context(), data)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), "Put streams")
	runtime.ReadMemStats(&before)
	got, err := s.Get(t.Context(), d)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size+64<<20), "Get makes one copy")
	require.True(t, bytes.Equal(data, got))
}

func BenchmarkPut(b *testing.B) {
	s := open(b, b.TempDir())
	data := bytes.Repeat([]byte("plan "), 4000)
	b.SetBytes(int64(len(data)))
	for i := range b.N {
		copy(data, []byte{byte(i), byte(i >> 8), byte(i >> 16), byte(i >> 24)})
		_, err := s.Put(b.Context(), data)
		require.NoError(b, err)
	}
}
