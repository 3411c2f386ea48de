package wire

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/model"
)

// ignore is a decoder that takes anything.
type ignore struct{}

func (ignore) Event(string, []byte) (Verdict, error) { return More, nil }
func (ignore) Whole([]byte) (Verdict, error)         { return Done, nil }

func post(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	require.NoError(t, err)
	return r
}

func TestExchangeSendsOnce(t *testing.T) {
	t.Parallel()
	var count atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		count.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer server.Close()
	x := NewTransport().Begin(t.Context(), model.Timeouts{})
	defer x.End()
	_, err := x.Do(post(t, server.URL))
	require.NoError(t, err)
	_, err = x.Do(post(t, server.URL))
	require.ErrorIs(t, err, errSentTwice)
	require.Equal(t, int32(1), count.Load())
	require.Equal(t, http.StatusInternalServerError, x.Evidence().Status, "the second try changes nothing")
}

// TestKeptConnectionIsNotReplayed shows that a request which dies on a reused connection is not sent
// again behind our back: net/http would do so for a request with an idempotency key.
func TestKeptConnectionIsNotReplayed(t *testing.T) {
	t.Parallel()
	var count atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if count.Add(1) == 1 {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}))
	defer server.Close()
	transport := NewTransport()
	send := func() model.Evidence {
		x := transport.Begin(t.Context(), model.Timeouts{})
		defer x.End()
		r := post(t, server.URL)
		r.Header.Set("Idempotency-Key", "1")
		response, err := x.Do(r)
		if err == nil {
			_ = response.Body.Close()
		}
		x.Read(ignore{})
		return x.Evidence()
	}
	require.NoError(t, send().Transport)
	broken := send()
	require.Error(t, broken.Transport)
	require.Equal(t, model.PhaseHeaders, broken.Phase)
	require.Equal(t, int32(2), count.Load())
}

func TestRefusedBeforeSending(t *testing.T) {
	t.Parallel()
	x := NewTransport().Begin(t.Context(), model.Timeouts{})
	defer x.End()
	x.Refused(io.ErrNoProgress)
	x.Read(ignore{})
	got := model.Classify(x.Evidence())
	require.Equal(t, []any{model.ClassInvalid, model.PhasePrepare}, []any{got.Class, got.Phase})
	require.ErrorIs(t, got, io.ErrNoProgress)
}
