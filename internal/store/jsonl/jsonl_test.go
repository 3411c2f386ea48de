package jsonl

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"recap/internal/store"
	"recap/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a driver that reads even short files from their end where it may, in small pieces.
func open(t testing.TB, root string) *Driver {
	t.Helper()
	d, err := New(root)
	require.NoError(t, err)
	d.smallFile, d.tailBlock, d.batch = 512, 256, 1000
	return d
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{Open: func(t *testing.T) storetest.Fixture {
		root := t.TempDir()
		return storetest.Fixture{
			Driver: open(t, root),
			Second: open(t, root),
			Raw: func(t *testing.T, id string) []byte {
				b, err := os.ReadFile(filepath.Join(root, id))
				require.NoError(t, err)
				return b
			},
			SetActivity: func(t *testing.T, id string, at time.Time) {
				require.NoError(t, os.Chtimes(filepath.Join(root, id), at, at))
			},
		}
	}})
}

func load(t testing.TB, d *Driver, id string, scope store.Scope) *snapshot {
	t.Helper()
	s, err := d.Load(t.Context(), id, scope)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s.(*snapshot)
}
