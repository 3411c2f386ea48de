package model

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/contract"
)

func TestAnswerNeedsPositiveEvidence(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(*Evidence)
		want   Class // "" = a finished answer
	}{
		{"complete", nil, ""},
		{"anthropic's word for done", func(e *Evidence) { e.Finish = "end_turn" }, ""},
		{"upper case", func(e *Evidence) { e.Finish = "STOP" }, ""},
		{"no usage", func(e *Evidence) { e.Usage = nil }, ""},
		{"reasoning beside text", func(e *Evidence) { e.Reasoning = true }, ""},
		{"cut at the cap", func(e *Evidence) { e.Finish = "length" }, ClassTruncated},
		{"cut at the cap, other word", func(e *Evidence) { e.Finish = "max_tokens" }, ClassTruncated},
		{"cut by the window", func(e *Evidence) { e.Finish = "model_context_window_exceeded" }, ClassTruncated},
		{"window, no text", func(e *Evidence) { e.Finish, e.Text = "model_context_window_exceeded", "" }, ClassOverflow},
		{"no terminator", func(e *Evidence) { e.Terminated = false }, ClassTruncated},
		{"no finish reason", func(e *Evidence) { e.Finish = "" }, ClassTruncated},
		{"neither", func(e *Evidence) { e.Finish, e.Terminated = "", false }, ClassTruncated},
		{"unknown finish reason", func(e *Evidence) { e.Finish = "resting" }, ClassBadOutput},
		{"empty", func(e *Evidence) { e.Text = "" }, ClassEmpty},
		{"white space", func(e *Evidence) { e.Text = " \n\t\u00a0" }, ClassEmpty},
		{"only reasoning", func(e *Evidence) { e.Text, e.Reasoning = "", true }, ClassEmpty},
		{"reasoning ate the cap", func(e *Evidence) { e.Text, e.Reasoning, e.Finish = "", true, "length" }, ClassEmpty},
		{"zero deltas and a terminator", func(e *Evidence) { e.Text, e.Finish, e.Usage = "", "", nil }, ClassEmpty},
		{"tool call", func(e *Evidence) { e.ToolCall, e.Finish = true, "tool_calls" }, ClassBadOutput},
		{"tool call beside text", func(e *Evidence) { e.ToolCall = true }, ClassBadOutput},
		{"tool call written as text", func(e *Evidence) { e.Text = "<tool_calls>\n<invoke name=\"bash\">" }, ClassBadOutput},
		{"tool call quoted in a summary", func(e *Evidence) { e.Text = "## Goal\nIt wrote <tool_calls> as text." }, ""},
		{"refusal", func(e *Evidence) { e.Finish = "refusal" }, ClassRefused},
		{"refusal field", func(e *Evidence) { e.Refusal = true }, ClassRefused},
		{"content filter", func(e *Evidence) { e.Finish = "content_filter" }, ClassRefused},
		{"upstream error", func(e *Evidence) { e.Finish = "error" }, ClassTransient},
		{"undecodable", func(e *Evidence) { e.Undecoded = true }, ClassTransient},
		{"prompt over the window", func(e *Evidence) { e.Usage = &contract.Usage{InputTokens: 150_000, CacheReadTokens: 60_000} }, ClassOverflow},
		{"input cut without a word", func(e *Evidence) { e.InputBytes, e.InputTokens, e.Usage.InputTokens = 28_856, 9000, 1024 }, ClassOverflow},
		{"whole messages dropped", func(e *Evidence) { e.InputBytes, e.InputTokens, e.Usage.InputTokens = 28_856, 9000, 21 }, ClassOverflow},
		{"input cut to half a window", func(e *Evidence) {
			e.InputBytes, e.InputTokens, e.Window, e.Usage.InputTokens = 14_000, 4000, 4096, 2050
		}, ClassOverflow},
		{"a cached prompt is not cut", func(e *Evidence) {
			e.InputBytes, e.InputTokens, e.Usage = 28_856, 9000, &contract.Usage{InputTokens: 21, CacheReadTokens: 7193}
		}, ""},
		{"a short prompt proves nothing", func(e *Evidence) { e.InputBytes, e.InputTokens, e.Usage.InputTokens = 3000, 900, 21 }, ""},
		{"a dense prompt is not cut", func(e *Evidence) { e.InputBytes, e.InputTokens, e.Usage.InputTokens = 28_856, 9000, 4200 }, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := answered(c.change)
			answer, err := Finish(e)
			if c.want == "" {
				require.NoError(t, err)
				require.Equal(t, e.Text, answer.Text)
				return
			}
			var got *Error
			require.True(t, errors.As(err, &got))
			require.Equal(t, c.want, got.Class)
			require.Zero(t, answer)
			require.NotContains(t, err.Error(), "Ship it", "no text of an answer in an error")
		})
	}
}

func TestT3AnswersAreDistinguishable(t *testing.T) {
	t.Parallel()
	reason := map[string]bool{}
	for _, change := range []func(*Evidence){
		func(e *Evidence) { e.Text, e.Finish = "", "end_turn" },
		func(e *Evidence) { e.Text, e.Finish, e.Reasoning = "", "max_tokens", true },
		func(e *Evidence) { e.Finish = "max_tokens" },
		func(e *Evidence) { e.Finish = "refusal" },
		func(e *Evidence) { e.Text = "<tool_calls>" },
	} {
		reason[Classify(answered(change)).Error()] = true
	}
	require.Len(t, reason, 5)
}

func TestFinishEstimatesMissingUsage(t *testing.T) {
	t.Parallel()
	got, err := Finish(answered(func(e *Evidence) { e.Usage, e.Text, e.Model = nil, "12345", "demo" }))
	require.NoError(t, err)
	want := Answer{
		Text: "12345", FinishReason: "stop", Model: "demo",
		Usage: contract.Usage{InputTokens: 1000, OutputTokens: 2, Estimated: true},
	}
	require.Empty(t, cmp.Diff(want, got))
}

func TestFinishKeepsUsageOfFailures(t *testing.T) {
	t.Parallel()
	_, err := Finish(answered(func(e *Evidence) { e.Finish = "length" }))
	var got *Error
	require.True(t, errors.As(err, &got))
	require.Equal(t, contract.Usage{InputTokens: 900, OutputTokens: 12}, got.Usage, "a bad answer is paid for as well")
}

func TestStripThinking(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, out string
		found   bool
	}{
		{"plain", "plain", false},
		{"<think>a</think>b", "b", true},
		{" \n<THINK>\na\n</Think>\n\n b ", "b ", true},
		{"<think>a</think>\n<think>c</think>b", "b", true},
		{"<thinking>a</thinking>b", "b", true},
		{"<think>never closed", "", true},
		{"<think></think>", "", true},
		{"<think>a</think>", "", true},
		{"text <think>a</think>", "text <think>a</think>", false},
		{"<thinker>a", "<thinker>a", false},
		{"", "", false},
	} {
		out, found := StripThinking(c.in)
		require.Equal(t, c.out, out, c.in)
		require.Equal(t, c.found, found, c.in)
	}
	_, err := Finish(answered(func(e *Evidence) { e.Text = "<think>a</think>\n" }))
	require.ErrorIs(t, err, errOnlyReasoning)
}

func TestStripThinkingIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"<think>", "</think>", "a", " ", "\n", "<THINKING>", "</thinking>"})).Draw(t, "parts")
		text := strings.Join(parts, "")
		once, _ := StripThinking(text)
		twice, again := StripThinking(once)
		if again || once != twice || !strings.HasSuffix(text, once) {
			t.Fatalf("%q → %q → %q", text, once, twice)
		}
	})
}
