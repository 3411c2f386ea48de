package modeltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/transcript"
	"recap/internal/model"
	"recap/internal/testkit/provider"
)

// Subject is an adapter under test.
type Subject struct {
	New func(model.Config) (model.Client, error)
	API provider.API
}

// Run runs the whole suite.
func Run(t *testing.T, s Subject) {
	t.Run("Answers", s.answers)
	t.Run("Failures", s.failures)
	t.Run("Statuses", s.statuses)
	t.Run("BadAnswersT3", s.chainOfBadAnswers)
	t.Run("Overflow", s.overflow)
	t.Run("Limits", s.limits)
	t.Run("Caps", s.caps)
	t.Run("Keys", s.keys)
	t.Run("Safety", s.safety)
}

// Model is the name of the model that the suite asks for.
const Model = "demo-large"

// patience is how long a test waits for what must happen, on a busy machine.
const patience = 30 * time.Second

// BaseURL is where a server speaks the subject's API.
func (s Subject) BaseURL(p *provider.Server) string {
	if s.API == provider.Anthropic {
		return p.Anthropic()
	}
	return p.OpenAI()
}

// Config is a working configuration for a server.
func (s Subject) Config(p *provider.Server) model.Config {
	return model.Config{
		ID: "lab/" + Model, Model: Model, BaseURL: s.BaseURL(p),
		Key:           func() (string, error) { return provider.Key, nil },
		ContextWindow: 200_000, MaxOutputTokens: 8000,
		Timeouts: model.Timeouts{Connect: patience, FirstByte: patience, Idle: patience, Total: patience},
	}
}

// Client builds a client for a server, with its configuration changed.
func (s Subject) Client(t *testing.T, p *provider.Server, change func(*model.Config)) model.Client {
	t.Helper()
	cfg := s.Config(p)
	if change != nil {
		change(&cfg)
	}
	client, err := s.New(cfg)
	require.NoError(t, err)
	return client
}

// Call is a small summary request.
func Call() model.Call {
	return model.Call{
		Request: transcript.Request{
			System:       "You write hand-over notes.",
			Conversation: []transcript.Block{{Role: transcript.User, Text: "Rename the billing job to invoice-sync in jobs/billing.yaml."}},
			Instruction:  "Summarise the conversation.",
		},
		MaxOutput: 2000, InputTokens: 60,
	}
}

// fail asks once and returns the classified error.
func fail(t *testing.T, client model.Client, call model.Call) *model.Error {
	t.Helper()
	answer, err := client.Complete(t.Context(), call)
	return classified(t, answer, err)
}

func classified(t *testing.T, answer model.Answer, err error) *model.Error {
	t.Helper()
	require.Error(t, err)
	require.Zero(t, answer)
	var got *model.Error
	require.True(t, errors.As(err, &got), "every failure is a *model.Error, not %T: %v", err, err)
	require.Equal(t, "lab/"+Model, got.Candidate)
	require.NotContains(t, got.Error(), provider.Key)
	return got
}

// ask asks in the background.
func ask(ctx context.Context, client model.Client) <-chan result {
	done := make(chan result, 1)
	go func() {
		answer, err := client.Complete(ctx, Call())
		done <- result{answer, err}
	}()
	return done
}

type result struct {
	answer model.Answer
	err    error
}
