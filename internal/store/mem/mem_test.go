package mem

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"recap/internal/store"
	"recap/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{Open: func(*testing.T) storetest.Fixture {
		d := New()
		return storetest.Fixture{
			Driver: d,
			Raw: func(t *testing.T, id string) []byte {
				d.mu.Lock()
				defer d.mu.Unlock()
				require.Contains(t, d.sessions, id)
				return d.sessions[id].data
			},
			SetActivity: func(_ *testing.T, id string, at time.Time) {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.sessions[id].lastWrite = at
			},
		}
	}})
}

func TestCanonicalNamesOneSession(t *testing.T) {
	t.Parallel()
	d := New()
	for _, id := range []string{"abc-1", "abc-2", "abd"} {
		_, err := d.Create(t.Context(), id, storetest.Header(id), nil)
		require.NoError(t, err)
	}
	_, err := d.Canonical(t.Context(), "abc")
	require.Equal(t, store.KindNotFound, store.KindOf(err))
	got, err := d.Canonical(t.Context(), "abd")
	require.NoError(t, err)
	require.Equal(t, "abd", got)
}
