package modeltest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/model"
	"recap/internal/testkit/provider"
)

// failures shows each fault of spec/providers §1.2: its class, where it was found, one request.
func (s Subject) failures(t *testing.T) {
	t.Parallel()
	half := provider.Step{Text: summary, Unary: true, Fault: provider.HalfBody}
	cases := []struct {
		name  string
		step  provider.Step
		class model.Class
		phase model.Phase
	}{
		{"reset before headers", provider.Broken(provider.DieBefore), model.ClassTransient, model.PhaseHeaders},
		{"reset in the stream", provider.Broken(provider.CutAfter), model.ClassTransient, model.PhaseStream},
		{"stream ends early", provider.Broken(provider.EndAfter), model.ClassTruncated, model.PhaseValidate},
		{"no terminator", provider.Step{Text: summary, NoTerminator: true}, model.ClassTruncated, model.PhaseValidate},
		{"no finish reason", provider.Step{Text: summary, NoFinish: true}, model.ClassTruncated, model.PhaseValidate},
		{"no finish reason in one body", provider.Step{Text: summary, NoFinish: true, Unary: true}, model.ClassTruncated, model.PhaseValidate},
		{"body shorter than promised", half, model.ClassTransient, model.PhaseBody},
		{"nothing but headers of a stream", provider.Status(200, "", "Content-Type", "text/event-stream"), model.ClassTransient, model.PhaseValidate},
		{"empty body", provider.Status(200, ""), model.ClassTransient, model.PhaseDecode},
		{"page with 200", provider.Page(200), model.ClassTransient, model.PhaseDecode},
		{"page with 502", provider.Page(502), model.ClassTransient, model.PhaseBody},
		{"no content type", provider.Status(200, summary, "Content-Type", "text/plain"), model.ClassTransient, model.PhaseDecode},
		{"cut JSON", provider.Status(200, `{"id":"x","choices":[{"message":{"con`), model.ClassTransient, model.PhaseDecode},
		{"other JSON", provider.Status(200, `{"status":"ok"}`), model.ClassTransient, model.PhaseDecode},
		{"cut JSON in the stream", provider.Status(200, "data: {\"choices\":[{\"del\n\n", "Content-Type", "text/event-stream"), model.ClassTransient, model.PhaseDecode},
		{"error in a 200", provider.ErrorIn200(`{"error":{"code":502,"message":"Provider returned error"}}`), model.ClassTransient, model.PhaseStream},
		{"overflow in a 200", provider.ErrorIn200(`{"error":{"code":400,"message":"prompt is too long: 9 tokens > 8 maximum"}}`), model.ClassOverflow, model.PhaseStream},
		{"error event", provider.ErrorEvent(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), model.ClassTransient, model.PhaseStream},
		{"rate limit event", provider.ErrorEvent(`{"error":{"type":"rate_limit_error","message":"slower"}}`), model.ClassRateLimited, model.PhaseStream},
		{"invalid event", provider.ErrorEvent(`{"error":{"type":"invalid_request_error","message":"no"}}`), model.ClassInvalid, model.PhaseStream},
		{"empty", provider.Step{}, model.ClassEmpty, model.PhaseValidate},
		{"white space", provider.Text(" \n"), model.ClassEmpty, model.PhaseValidate},
		{"thinking only", provider.Thinking(), model.ClassEmpty, model.PhaseValidate},
		{"leaked thinking only", provider.Text("<think>Let me see.</think>\n"), model.ClassEmpty, model.PhaseValidate},
		{"tool call", provider.ToolCall(), model.ClassBadOutput, model.PhaseValidate},
		{"tool call in one body", provider.Step{ToolCall: true, Unary: true}, model.ClassBadOutput, model.PhaseValidate},
		{"refusal", provider.Refusal(), model.ClassRefused, model.PhaseValidate},
		{"content filter", provider.Step{Text: "## Go", Finish: "content_filter"}, model.ClassRefused, model.PhaseValidate},
		{"cut off", provider.Length("## Goal\nRename the"), model.ClassTruncated, model.PhaseValidate},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := provider.New(t, c.step)
			got := fail(t, s.Client(t, p, nil), Call())
			require.Equal(t, c.class, got.Class, got.Error())
			require.Equal(t, c.phase, got.Phase)
			require.Equal(t, 1, p.Count(), "never retried")
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t)
		client := s.Client(t, p, nil)
		p.Close()
		got := fail(t, client, Call())
		require.Equal(t, []any{model.ClassTransient, model.PhaseConnect}, []any{got.Class, got.Phase})
	})
	t.Run("usage of a bad answer", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t, provider.Step{Text: "## G", Finish: "length", Usage: &provider.Usage{Prompt: 900, Output: 1024}})
		got := fail(t, s.Client(t, p, nil), Call())
		require.Equal(t, []int{900, 1024}, []int{got.Usage.InputTokens, got.Usage.OutputTokens})
	})
}

// statuses shows T8 and the status fallback over the wire.
func (s Subject) statuses(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		status int
		body   string
		header []string
		class  model.Class
		wait   time.Duration
	}{
		{"T8.1", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 214321 tokens > 200000 maximum"}}`, nil, model.ClassOverflow, 0},
		{"T8.2", 400, `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 131072 tokens. However, you requested 140210 tokens."}}`, nil, model.ClassOverflow, 0},
		{"T8.3", 403, `{"message":"Context window exceeded: 291040 tokens exceeds the limit of 256000 tokens"}`, nil, model.ClassOverflow, 0},
		{"T8.4", 400, `{"error":{"message":"input length and max_tokens exceed context limit: 196000 + 8192 > 200000"}}`, nil, model.ClassOverflow, 0},
		{"T8.5", 429, `{"error":{"message":"Rate limit reached for tokens per minute: context of 98000 tokens too large for your tier, try again in 41s"}}`, nil, model.ClassRateLimited, 41 * time.Second},
		{"T8.6", 529, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, nil, model.ClassTransient, 0},
		{"T8.7", 413, `{"error":{"message":"Request body too large. Max 32 MB"}}`, nil, model.ClassPayload, 0},
		{"T8.8", 400, `{"error":{"code":"invalid_encrypted_content","message":"The encrypted content could not be verified."}}`, nil, model.ClassInvalid, 0},
		{"T8.9", 400, `{"error":{"message":"messages.7.content.0: unexpected tool_use_id found in tool_result blocks: toolu_X"}}`, nil, model.ClassInvalid, 0},
		{"T8.10", 402, `{"error":{"message":"Your credit balance is too low"}}`, nil, model.ClassQuota, 0},
		{"T8.11", 404, `{"error":{"message":"model demo-old is retired"}}`, nil, model.ClassInvalid, 0},
		{"T8.14", 500, `{"error":{"message":"context canceled"}}`, nil, model.ClassTransient, 0},
		{"T8.15", 400, `{"error":{"message":"Unsupported value: reasoning.effort"}}`, nil, model.ClassInvalid, 0},
		{"error as a string", 404, `{"error":"model 'x' not found"}`, nil, model.ClassInvalid, 0},
		{"error as an array", 429, `[{"error":{"code":429,"details":[{"retryDelay":"34s"}]}}]`, nil, model.ClassRateLimited, 34 * time.Second},
		{"no body", 503, ``, []string{"Retry-After", "7"}, model.ClassTransient, 7 * time.Second},
		{"milliseconds", 429, `{}`, []string{"Retry-After-Ms", "1500"}, model.ClassRateLimited, 1500 * time.Millisecond},
		{"used-up limit", 429, `{}`, []string{"X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "6m0s"}, model.ClassRateLimited, 6 * time.Minute},
		{"should retry", 500, `{}`, []string{"X-Should-Retry", "true"}, model.ClassTransient, 0},
		{"conflict", 409, `{}`, nil, model.ClassTransient, 0},
		{"forbidden", 403, `{}`, nil, model.ClassAuth, 0},
		{"not implemented", 501, `{}`, nil, model.ClassUnsupported, 0},
		{"quota", 429, `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"You exceeded your current quota"}}`, nil, model.ClassQuota, 0},
		{"policy", 400, `{"error":{"code":"content_policy_violation","message":"no"}}`, nil, model.ClassRefused, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := provider.New(t, provider.Status(c.status, c.body, append(c.header, "X-Request-Id", "req_42")...))
			got := fail(t, s.Client(t, p, nil), Call())
			require.Equal(t, c.class, got.Class, got.Error())
			require.Equal(t, c.status, got.Status)
			require.Equal(t, c.wait, got.RetryAfter)
			require.Equal(t, "req_42", got.RequestID)
			require.Equal(t, 1, p.Count(), "never retried")
		})
	}
}

// chainOfBadAnswers is T3: five answers that are none, told apart, and a good one.
func (s Subject) chainOfBadAnswers(t *testing.T) {
	t.Parallel()
	usage := &provider.Usage{Prompt: 900, Output: 31}
	good := "## Goal\nGOOD-SUMMARY-Z: port 6543, never status=draft. \"I can't push\" was said; `rm -rf build` was run."
	bad := []provider.Step{
		{Usage: &provider.Usage{Prompt: 900}},
		{Reasoning: "I should list the port…", Finish: "length", Usage: &provider.Usage{Prompt: 900, Output: 1024}},
		{Text: "## Goal\nImport atlas rows. ## Constraints\nSkip dra", Finish: "length", Usage: usage},
		{Text: "I'm not able to help with summarising this conversation.", Finish: "content_filter", Usage: usage},
		{Text: "<tool_calls>\n<invoke name=\"bash\">\n<parameter name=\"command\">cat README.md</parameter>\n</invoke>\n</tool_calls>", Usage: usage},
	}
	classes := []model.Class{model.ClassEmpty, model.ClassEmpty, model.ClassTruncated, model.ClassRefused, model.ClassBadOutput}
	for _, unary := range []bool{false, true} {
		steps := make([]any, 0, len(bad)+1)
		for _, step := range append(bad, provider.Step{Text: good, Usage: usage}) {
			step.Unary = unary
			steps = append(steps, step)
		}
		p := provider.New(t, steps...)
		client := s.Client(t, p, nil)
		reasons := map[string]bool{}
		for i, class := range classes {
			got := fail(t, client, Call())
			require.Equal(t, class, got.Class, "m%d: %v", i+1, got)
			require.Equal(t, 900, got.Usage.InputTokens, "each attempt is paid for")
			reasons[got.Error()] = true
		}
		require.Len(t, reasons, len(classes), "the reasons can be told apart")
		answer, err := client.Complete(t.Context(), Call())
		require.NoError(t, err)
		require.Equal(t, good, answer.Text)
		require.Equal(t, len(classes)+1, p.Count())
	}
}

// overflow shows that a prompt over the window is recognised in every vendor's words, and when no
// word is said.
func (s Subject) overflow(t *testing.T) {
	t.Parallel()
	for _, vendor := range provider.Vendors {
		t.Run(string(vendor), func(t *testing.T) {
			t.Parallel()
			p := provider.New(t)
			p.SetWindow(20, vendor)
			got := fail(t, s.Client(t, p, nil), Call())
			require.Equal(t, model.ClassOverflow, got.Class, got.Error())
			require.Equal(t, 1, p.Count())
			if got.Max != 0 {
				require.Equal(t, 20, got.Max)
			}
		})
	}
	t.Run("cut without a word", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t, provider.CutInput(1024, provider.Text(summary)))
		call := Call()
		for range 500 {
			call.Request.Conversation = append(call.Request.Conversation, call.Request.Conversation[0])
		}
		call.InputTokens = 9000
		got := fail(t, s.Client(t, p, nil), call)
		require.Equal(t, model.ClassOverflow, got.Class, got.Error())
		require.Equal(t, 1024, got.Max, "what the server did read")
	})
	t.Run("T8.12", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t, provider.Step{Finish: "length", Usage: &provider.Usage{Prompt: 4096}})
		client := s.Client(t, p, func(c *model.Config) { c.ContextWindow = 4096 })
		require.Equal(t, model.ClassOverflow, fail(t, client, Call()).Class)
	})
	t.Run("T8.13", func(t *testing.T) {
		t.Parallel()
		p := provider.New(t, provider.Status(http.StatusOK, "", "Content-Type", "text/event-stream"))
		require.Equal(t, model.ClassTransient, fail(t, s.Client(t, p, nil), Call()).Class)
	})
}
