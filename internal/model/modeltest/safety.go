package modeltest

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/model"
	"recap/internal/testkit/provider"
)

// caps shows that no answer can fill the memory.
func (s Subject) caps(t *testing.T) {
	t.Parallel()
	mega := strings.Repeat("x", 1<<20)
	stream := []string{"Content-Type", "text/event-stream"}
	for name, step := range map[string]provider.Step{
		"a body over 16 MB":       provider.Status(200, `{"x":"`+strings.Repeat(mega, 17)+`"}`),
		"a line over 8 MB":        provider.Status(200, "data: "+strings.Repeat(mega, 9)+"\n\n", stream...),
		"comments of over 16 MB":  provider.Status(200, strings.Repeat(": "+mega+"\n", 17), stream...),
		"an event of small lines": provider.Status(200, strings.Repeat("data: "+mega+"\n", 9), stream...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := provider.New(t, step)
			got := fail(t, s.Client(t, p, nil), Call())
			require.Equal(t, model.ClassBadOutput, got.Class)
			require.ErrorIs(t, got, model.ErrTooLarge)
		})
	}
	t.Run("an error over 256 KB", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t, provider.Status(503, strings.Repeat("<p>down</p>", 100_000), "Content-Type", "text/html"))
		got := fail(t, s.Client(t, p, nil), Call())
		require.Equal(t, model.ClassTransient, got.Class)
		require.LessOrEqual(t, len(got.Excerpt), model.MaxExcerpt)
	})
}

// keys shows that the key is read for each call, and that a wrong one is an operator's business.
func (s Subject) keys(t *testing.T) {
	t.Parallel()
	t.Run("rotated", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t)
		var key atomic.Value
		key.Store("old-key-123456")
		p.SetKey("new-key-123456")
		client := s.Client(t, p, func(c *model.Config) { c.Key = func() (string, error) { return key.Load().(string), nil } })
		got := fail(t, client, Call())
		require.Equal(t, model.ClassAuth, got.Class)
		require.Equal(t, http.StatusUnauthorized, got.Status)
		key.Store("new-key-123456\n") // as read from a file
		_, err := client.Complete(t.Context(), Call())
		require.NoError(t, err)
	})
	t.Run("unreadable", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t)
		missing := errors.New("LAB_KEY is not set")
		got := fail(t, s.Client(t, p, func(c *model.Config) { c.Key = func() (string, error) { return "", missing } }), Call())
		require.Equal(t, model.ClassAuth, got.Class)
		require.ErrorIs(t, got, missing)
		require.Zero(t, p.Count())
	})
	t.Run("none needed", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t)
		p.SetKey("")
		_, err := s.Client(t, p, func(c *model.Config) { c.Key = nil }).Complete(t.Context(), Call())
		require.NoError(t, err)
		require.Empty(t, p.Requests()[0].Key)
	})
	t.Run("in an error text", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t, provider.Status(400, `{"error":{"message":"bad key `+provider.Key+` or gate pass-word"}}`))
		client := s.Client(t, p, func(c *model.Config) { c.Headers = map[string]string{"X-Gate": "pass-word"} })
		require.Equal(t, "bad key [redacted] or gate [redacted]", fail(t, client, Call()).Excerpt)
	})
}

// safety shows what never leaves the process, and what is never followed.
func (s Subject) safety(t *testing.T) {
	t.Parallel()
	t.Run("redirects are not followed", func(t *testing.T) {
		t.Parallel()
		for _, status := range []int{301, 302, 303, 307, 308} {
			elsewhere := provider.New(t)
			p := provider.New(t, provider.Status(status, "", "Location", s.BaseURL(elsewhere)+"/chat/completions"))
			got := fail(t, s.Client(t, p, nil), Call())
			require.Equal(t, model.ClassInvalid, got.Class)
			require.Equal(t, status, got.Status)
			require.Zero(t, elsewhere.Count())
		}
	})
	t.Run("plain http behind https", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t)
		client := s.Client(t, p, func(c *model.Config) { c.BaseURL = strings.Replace(c.BaseURL, "http:", "https:", 1) })
		require.Equal(t, model.ClassInvalid, fail(t, client, Call()).Class)
	})
	t.Run("unknown certificate", func(t *testing.T) {
		t.Parallel()
		tls := httptest.NewUnstartedServer(http.NotFoundHandler())
		tls.Config.ErrorLog = log.New(io.Discard, "", 0) // it reports the handshake that we break off
		tls.StartTLS()
		defer tls.Close()
		client, err := s.New(model.Config{ID: "lab/" + Model, Model: Model, BaseURL: tls.URL, MaxOutputTokens: 1})
		require.NoError(t, err)
		got := fail(t, client, Call())
		require.Equal(t, []any{model.ClassTransient, model.PhaseConnect}, []any{got.Class, got.Phase})
	})
	t.Run("addresses", func(t *testing.T) {
		t.Parallel()
		for _, bad := range []string{"ftp://host", "host", "http://", "http://user:hunter22@host/v1", "https://host/v1?key=hunter22", "http://[::1", "http://ho st/hunter22"} {
			_, err := s.New(model.Config{ID: "lab/x", Model: "x", BaseURL: bad})
			require.Error(t, err, bad)
			require.NotContains(t, err.Error(), "hunter22", "no secrets of a URL in an error")
		}
		client, err := s.New(model.Config{ID: "lab/x", Model: "x", BaseURL: "https://models.example/base/"})
		require.NoError(t, err)
		require.Equal(t, "https://models.example/base", client.Endpoint())
		client, err = s.New(model.Config{ID: "lab/x", Model: "x"})
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(client.Endpoint(), "https://api."), "the vendor's own address by default")
	})
}
