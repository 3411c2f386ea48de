package modeltest

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/contract"
	"recap/internal/model"
	"recap/internal/testkit/provider"
)

const summary = "## Goal\nRename the billing job – “billing” becomes invoice-sync.\n\n## Next Steps\n1. Run the tests."

// finished is the usual finish reason of an API.
func (s Subject) finished() string {
	if s.API == provider.Anthropic {
		return "end_turn"
	}
	return "stop"
}

// answers shows what a good answer looks like, in whatever shape it comes.
func (s Subject) answers(t *testing.T) {
	t.Parallel()
	usage := &provider.Usage{Prompt: 1000, Cached: 600, CacheWrite: 50, Output: 40, Reasoning: 0}
	good := provider.Step{Text: summary, Usage: usage}
	shapes := map[string]provider.Step{
		"stream":         good,
		"one delta":      change(good, func(s *provider.Step) { s.Pieces = 1 }),
		"a byte a delta": change(good, func(s *provider.Step) { s.Pieces = len(summary) }),
		"signs of life":  change(good, func(s *provider.Step) { s.Pings = 3 }),
		"one body":       change(good, func(s *provider.Step) { s.Unary = true }),
		"reasoning":      change(good, func(s *provider.Step) { s.Reasoning = "Let me see." }),
		"leaked think":   change(good, func(s *provider.Step) { s.Text = "<think>Let me\nsee.</think>\n\n" + s.Text }),
	}
	for name, step := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := provider.New(t, step)
			got, err := s.Client(t, p, nil).Complete(t.Context(), Call())
			require.NoError(t, err)
			want := model.Answer{
				Text: summary, FinishReason: s.finished(), Model: Model, RequestID: got.RequestID,
				Usage: contract.Usage{InputTokens: 350, OutputTokens: 40, CacheReadTokens: 600, CacheWriteTokens: 50},
			}
			require.Empty(t, cmp.Diff(want, got))
			require.Equal(t, 1, p.Count())
			if !step.Unary {
				require.Equal(t, "req_test", got.RequestID)
			}
		})
	}
	t.Run("no usage", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t, provider.Step{Text: summary, NoUsage: true, Unary: true})
		got, err := s.Client(t, p, nil).Complete(t.Context(), Call())
		require.NoError(t, err)
		require.Equal(t, contract.Usage{InputTokens: 60, OutputTokens: (len(summary) + 3) / 4, Estimated: true}, got.Usage)
	})
	t.Run("the default script gives a summary", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t)
		got, err := s.Client(t, p, nil).Complete(t.Context(), Call())
		require.NoError(t, err)
		require.Contains(t, got.Text, "## Goal")
		require.Contains(t, got.Text, "jobs/billing.yaml")
	})
	t.Run("what is sent", s.whatIsSent)
	t.Run("progress", s.progress)
	t.Run("many at once", s.manyAtOnce)
}

func change(step provider.Step, f func(*provider.Step)) provider.Step {
	f(&step)
	return step
}

func (s Subject) whatIsSent(t *testing.T) {
	t.Parallel()
	p := provider.New(t)
	client := s.Client(t, p, func(c *model.Config) { c.Headers = map[string]string{"X-Team": "billing"} })
	call := Call()
	_, err := client.Complete(t.Context(), call)
	require.NoError(t, err)
	sent := p.Requests()[0]
	require.Equal(t, Model, sent.Model)
	require.Equal(t, call.Request.System, sent.System)
	require.Equal(t, call.Request.UserText(), sent.User)
	require.Equal(t, 2000, sent.MaxTokens)
	require.True(t, sent.Stream, "always streaming")
	require.Equal(t, "billing", sent.Header.Get("X-Team"))
	require.NotContains(t, string(sent.Body), "tools")
	require.NotContains(t, string(sent.Body), "effort")
	require.NotContains(t, string(sent.Body), "thinking")
	require.NotContains(t, string(sent.Body), "temperature")
	require.NotContains(t, string(sent.Body), provider.Key)
}

func (s Subject) progress(t *testing.T) {
	t.Parallel()
	p := provider.New(t, provider.Step{Text: summary, Pieces: 5})
	var seen []int
	call := Call()
	call.Progress = func(n int) { seen = append(seen, n) }
	_, err := s.Client(t, p, nil).Complete(t.Context(), call)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(seen), 5)
	require.IsNonDecreasing(t, seen)
	require.Equal(t, len(summary), seen[len(seen)-1])
}

func (s Subject) manyAtOnce(t *testing.T) {
	t.Parallel()
	p := provider.New(t)
	client := s.Client(t, p, nil)
	texts := make([]string, 16)
	var wait sync.WaitGroup
	for i := range texts {
		wait.Go(func() {
			call := Call()
			call.Request.Conversation[0].Text = strings.Repeat("A line of its own to be told apart. ", i+1)
			answer, err := client.Complete(t.Context(), call)
			if err == nil && answer.Text == provider.Summary(provider.Request{User: call.Request.UserText()}) {
				texts[i] = answer.Text
			}
		})
	}
	wait.Wait()
	for i, text := range texts {
		require.NotEmpty(t, text, "call %d got its own answer", i)
	}
	require.Equal(t, len(texts), p.Count())
}
