package modeltest

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/model"
	"recap/internal/testkit/provider"
)

// short is a limit that runs out, slack how much later a busy machine may notice.
const (
	short = 150 * time.Millisecond
	slack = 10 * time.Second
)

// limits shows that each of the four limits ends a request by itself, as ClassTimeout, in time.
func (s Subject) limits(t *testing.T) {
	t.Parallel()
	slow := provider.Step{Text: summary, Pieces: len(summary), Every: short / 5}
	cases := []struct {
		name  string
		step  provider.Step
		set   func(*model.Timeouts)
		limit model.Phase
	}{
		{"first byte, no headers", provider.Broken(provider.SilentBefore), func(l *model.Timeouts) { l.FirstByte = short }, model.LimitFirstByte},
		{"first byte, headers only", provider.Broken(provider.SilentHeaders), func(l *model.Timeouts) { l.FirstByte = short }, model.LimitFirstByte},
		{"idle", provider.Broken(provider.SilentAfter), func(l *model.Timeouts) { l.Idle = short }, model.LimitIdle},
		{"total, while it drips", slow, func(l *model.Timeouts) { l.Total = short }, model.LimitTotal},
		{"total, while it is silent", provider.Broken(provider.SilentBefore), func(l *model.Timeouts) { l.Total = short }, model.LimitTotal},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := provider.New(t, c.step)
			client := s.Client(t, p, func(cfg *model.Config) { c.set(&cfg.Timeouts) })
			begun := time.Now()
			got := fail(t, client, Call())
			took := time.Since(begun)
			require.Equal(t, model.ClassTimeout, got.Class, got.Error())
			require.Equal(t, c.limit, got.Phase)
			require.GreaterOrEqual(t, took, short)
			require.Less(t, took, short+slack)
			require.Equal(t, 1, p.Count())
		})
	}
	t.Run("a status whose body never comes", func(t *testing.T) {
		t.Parallel()
		step := provider.Status(500, "x")
		step.Fault = provider.SilentHeaders
		client := s.Client(t, provider.New(t, step), func(c *model.Config) { c.Timeouts.FirstByte = short })
		require.Equal(t, model.ClassTransient, fail(t, client, Call()).Class, "the status says what it is")
	})
	t.Run("connect", s.connectLimit)
	t.Run("signs of life count", func(t *testing.T) {
		t.Parallel()
		// 24 pings, a twentieth of the limit apart: without them, idle would run out. The limit is long, so
		// that a busy machine does not use it up between two pings.
		idle := 20 * short
		p := provider.New(t, provider.Step{Text: summary, Pieces: 1, Pings: 24, Every: idle / 20})
		client := s.Client(t, p, func(c *model.Config) { c.Timeouts.Idle = idle })
		answer, err := client.Complete(t.Context(), Call())
		require.NoError(t, err)
		require.Equal(t, summary, answer.Text)
	})
	t.Run("what follows the terminator is not waited for", func(t *testing.T) {
		t.Parallel()
		never := make(chan struct{})
		p := provider.New(t, provider.Step{Text: summary, HoldEnd: never})
		answer, err := s.Client(t, p, nil).Complete(t.Context(), Call())
		require.NoError(t, err)
		require.Equal(t, summary, answer.Text)
	})
	t.Run("cancel before the answer", func(t *testing.T) { t.Parallel(); s.cancel(t, provider.Broken(provider.SilentBefore)) })
	t.Run("cancel in the stream", func(t *testing.T) { t.Parallel(); s.cancel(t, provider.Broken(provider.SilentAfter)) })
	t.Run("the caller's deadline", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t, provider.Broken(provider.SilentBefore))
		ctx, cancel := context.WithTimeout(t.Context(), short)
		defer cancel()
		answer, err := s.Client(t, p, nil).Complete(ctx, Call())
		require.Equal(t, model.ClassTimeout, classified(t, answer, err).Class)
	})
}

// connectLimit dials a port that takes the connection but never shakes hands.
func (s Subject) connectLimit(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	client, err := s.New(model.Config{
		ID: "lab/" + Model, Model: Model, BaseURL: "https://" + silent.Addr().String(), MaxOutputTokens: 1,
		Timeouts: model.Timeouts{Connect: short, FirstByte: patience, Idle: patience, Total: patience},
	})
	require.NoError(t, err)
	begun := time.Now()
	got := fail(t, client, Call())
	require.Equal(t, []any{model.ClassTimeout, model.LimitConnect}, []any{got.Class, got.Phase}, got.Error())
	require.Less(t, time.Since(begun), short+slack)
}

// cancel cancels a request once the server has it.
func (s Subject) cancel(t *testing.T, step provider.Step) {
	p := provider.New(t, step)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := ask(ctx, s.Client(t, p, nil))
	require.True(t, p.Wait(1, patience), "the request arrives")
	cancel()
	select {
	case r := <-done:
		require.Equal(t, model.ClassCanceled, classified(t, r.answer, r.err).Class)
	case <-time.After(patience):
		require.Fail(t, "the request does not end when it is cancelled")
	}
	require.Equal(t, 1, p.Count())
}
