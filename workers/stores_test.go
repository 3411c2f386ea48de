package workers

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/config"
	"recap/internal/sample"
	"recap/internal/store"
)

func openTestStores(t *testing.T) (*Stores, string) {
	t.Helper()
	root := t.TempDir()
	file := filepath.Join(t.TempDir(), "recap.yaml")
	require.NoError(t, os.WriteFile(file, []byte("tenant: acme\nstores: {local: {driver: jsonl, root: "+root+"}}\n"), 0o600))
	cfg, err := config.Load(config.Sources{File: file, LookupEnv: func(string) (string, bool) { return "", false }})
	require.NoError(t, err)
	s, err := OpenStores(cfg)
	require.NoError(t, err)
	return s, root
}

func writeSession(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, sample.Generate(sample.Options{Entries: 10}), 0o600))
}

func TestASessionIsOneSessionHoweverItIsNamed(t *testing.T) {
	t.Parallel()
	s, root := openTestStores(t)
	path := filepath.Join(root, "project", "work.jsonl")
	writeSession(t, path)
	link := filepath.Join(t.TempDir(), "link.jsonl")
	require.NoError(t, os.Symlink(path, link))
	byID, _, err := s.Resolve("project/work.jsonl")
	require.NoError(t, err)
	for _, name := range []string{path, link} {
		ref, _, err := s.Resolve(name)
		require.NoError(t, err)
		require.Equal(t, byID, ref)
	}
	require.Equal(t, "acme/local/project/work.jsonl", byID.String())
}

func TestAPathOutsideOfTheStoresGetsAStoreOfItsFolder(t *testing.T) {
	t.Parallel()
	s, _ := openTestStores(t)
	folder := t.TempDir()
	one, two := filepath.Join(folder, "one.jsonl"), filepath.Join(folder, "two.jsonl")
	writeSession(t, one)
	writeSession(t, two)
	first, _, err := s.Resolve(one)
	require.NoError(t, err)
	second, _, err := s.Resolve(two)
	require.NoError(t, err)
	require.Equal(t, first.Store, second.Store)
	require.Contains(t, first.Store, "path-")
	require.Equal(t, "one.jsonl", first.ID)
	require.NotContains(t, first.String(), folder, "no path in ids")
}

func TestUnknownSessionsAndStoresAreTyped(t *testing.T) {
	t.Parallel()
	s, _ := openTestStores(t)
	for _, name := range []string{"nothing", "/no/such/file.jsonl", "./missing.jsonl"} {
		_, _, err := s.Resolve(name)
		require.Equal(t, store.KindNotFound, store.KindOf(err), "%s: %v", name, err)
	}
	_, err := s.Driver("elsewhere")
	var unknown *UnknownStoreError
	require.ErrorAs(t, err, &unknown)
}

func TestResolveIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	s, _ := openTestStores(t)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	writeSession(t, path)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, _, err := s.Resolve(path)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
