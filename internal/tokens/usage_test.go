package tokens_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/session"
	"recap/internal/tokens"
)

func TestEST01OrchestrationIsNotInTheContext(t *testing.T) {
	t.Parallel()
	require.Equal(t, 700, tokens.ContextTokens(&session.Usage{Total: 1000, Orchestration: 300}))
	require.Equal(t, 1000, tokens.ContextTokens(&session.Usage{Total: 1000}))
	require.Equal(t, 1800, tokens.ContextTokens(&session.Usage{Input: 1000, Output: 500, CacheRead: 200, CacheWrite: 100}))
	require.Zero(t, tokens.ContextTokens(&session.Usage{Total: 10, Orchestration: 30}))
	require.Zero(t, tokens.ContextTokens(nil))
}

func TestEST02PromptTokens(t *testing.T) {
	t.Parallel()
	require.Equal(t, 60, tokens.PromptTokens(&session.Usage{Input: 10, CacheRead: 20, CacheWrite: 30, Output: 5, Total: 65}))
	require.Equal(t, 65, tokens.PromptTokens(&session.Usage{Output: 5, Total: 65}))
	require.Zero(t, tokens.PromptTokens(nil))
}

func TestNormalizeTakesCachedTokensOutOfTheInput(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, api, provider string
		in, want            session.Usage
	}{
		{"beside, by the total", "openai-completions", "openai", session.Usage{Input: 200, CacheRead: 800, Output: 50, Total: 1050}, session.Usage{Input: 200, CacheRead: 800, Output: 50, Total: 1050}},
		{"inside, by the total", "openai-completions", "openai", session.Usage{Input: 1000, CacheRead: 800, Output: 50, Total: 1050}, session.Usage{Input: 200, CacheRead: 800, Output: 50, Total: 1050}},
		{"inside, with reasoning beside the output", "google-generative-ai", "google", session.Usage{Input: 1000, CacheRead: 800, Output: 50, Total: 1090}, session.Usage{Input: 200, CacheRead: 800, Output: 50, Total: 1090}},
		{"no total: the documented form", "openai-completions", "openai", session.Usage{Input: 1000, CacheRead: 800, Output: 50}, session.Usage{Input: 1000, CacheRead: 800, Output: 50}},
		{"no total: Google's figures as they came", "google-vertex", "google", session.Usage{Input: 1000, CacheRead: 800, Output: 50}, session.Usage{Input: 200, CacheRead: 800, Output: 50}},
		{"Anthropic always beside", "anthropic-messages", "anthropic", session.Usage{Input: 1000, CacheRead: 800, Output: 50, Total: 1050}, session.Usage{Input: 1000, CacheRead: 800, Output: 50, Total: 1050}},
		{"negative counts", "", "", session.Usage{Input: -5, Output: 3, Total: -1}, session.Usage{Output: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, cmp.Diff(tt.want, tokens.Normalize(tt.api, tt.provider, tt.in)))
		})
	}
}

func reply(stop string, total int) session.Message {
	m := session.Message{Role: session.RoleAssistant, StopReason: stop, Content: []session.Block{{Type: session.BlockText, Text: "1234"}}}
	if total > 0 {
		m.Usage = &session.Usage{Total: total}
	}
	return m
}

func ask(text string) session.Message {
	return session.Message{Role: session.RoleUser, Content: []session.Block{{Type: session.BlockText, Text: text}}}
}

func TestCUT10LastUsableSkipsAbortedAndFailedReplies(t *testing.T) {
	t.Parallel()
	list := []session.Message{ask("a"), reply(session.StopStop, 10), reply(session.StopAborted, 20), reply(session.StopError, 30), reply(session.StopStop, 0)}
	require.Equal(t, 1, tokens.LastUsable(list))
	require.Equal(t, -1, tokens.LastUsable(list[2:]))
}

func TestCUT11DecisionTakesTheLargerSide(t *testing.T) {
	t.Parallel()
	require.Equal(t, 7, tokens.Decision(3, 7))
	require.Equal(t, 7, tokens.Decision(7, 3))
	require.Zero(t, tokens.Decision(-3, -7))
}

func TestMeasureAnchorsAtTheNewestUsage(t *testing.T) {
	t.Parallel()
	list := []session.Message{ask("12345678"), reply(session.StopStop, 500), ask("12345678"), reply(session.StopAborted, 900), ask("1234")}

	m := tokens.MeasureList(list, 0)
	require.Equal(t, tokens.Measurement{Tokens: 504, Known: true, Anchor: 1, Usage: 500, Trailing: 4}, m)

	m = tokens.MeasureList(list[2:], 0)
	require.Equal(t, tokens.Measurement{Tokens: 4, Known: true, Anchor: -1, Trailing: 4}, m)
}

func TestMeasureIsUnknownAfterACompactionUntilTheNextUsage(t *testing.T) {
	t.Parallel()
	list := []session.Message{{Role: session.RoleCompactionSummary, Summary: "12345678"}, ask("1234"), reply(session.StopStop, 90_000), ask("1234")}

	m := tokens.MeasureList(list, 3)
	require.False(t, m.Known, "the kept reply was measured before the compaction")
	require.Equal(t, 5, m.Tokens)

	m = tokens.MeasureList(append(list, reply(session.StopStop, 777)), 3)
	require.True(t, m.Known)
	require.Equal(t, 777, m.Tokens)
}

func TestMeasureLooksNoFurtherThanItMust(t *testing.T) {
	t.Parallel()
	looked := 0
	last := reply(session.StopStop, 50)
	_, err := tokens.Measure(160_000, 0, func(i int) (*session.Message, error) {
		looked++
		if i == 159_990 {
			return &last, nil
		}
		return nil, nil
	})
	require.NoError(t, err)
	require.Equal(t, 10, looked)
}
