package model

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/contract"
)

var noon = time.Date(2026, 5, 5, 12, 0, 0, 0, time.UTC)

// response is the evidence of a whole response with this status and body.
func response(status int, body string, headers ...string) Evidence {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return Evidence{Candidate: "lab/demo", Now: noon, Phase: PhaseBody, Status: status, Header: h, ContentType: "application/json", Failure: []byte(body)}
}

// answered is the evidence of a complete answer.
func answered(change func(*Evidence)) Evidence {
	e := Evidence{
		Candidate: "lab/demo", Now: noon, Phase: PhaseStream, Status: 200, ContentType: "text/event-stream",
		Text: "## Goal\nShip it.", Finish: "stop", Terminated: true,
		Usage:       &contract.Usage{InputTokens: 900, OutputTokens: 12},
		InputTokens: 1000, InputBytes: 3600, Window: 200_000,
	}
	if change != nil {
		change(&e)
	}
	return e
}

func TestClassifyT8(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		e    Evidence
		want Error // Class, and what else is set
	}{
		{
			"1 anthropic prompt too long", response(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 214321 tokens > 200000 maximum"}}`),
			Error{Class: ClassOverflow, Type: "invalid_request_error", Used: 214321, Max: 200000},
		},
		{
			"2 openai context length", response(400, `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 131072 tokens. However, you requested 140210 tokens."}}`),
			Error{Class: ClassOverflow, Code: "context_length_exceeded", Used: 140210, Max: 131072},
		},
		{
			"3 overflow with a 403", response(403, `{"message":"Context window exceeded: 291040 tokens exceeds the limit of 256000 tokens"}`),
			Error{Class: ClassOverflow, Used: 291040, Max: 256000},
		},
		{
			"4 output cap does not fit", response(400, `{"error":{"message":"input length and max_tokens exceed context limit: 196000 + 8192 > 200000"}}`),
			Error{Class: ClassOverflow, Used: 196000, Max: 200000},
		},
		{
			"5 rate limit that speaks of context", response(429, `{"error":{"message":"Rate limit reached for tokens per minute: context of 98000 tokens too large for your tier, try again in 41s"}}`),
			Error{Class: ClassRateLimited, RetryAfter: 41 * time.Second},
		},
		{
			"6 overloaded", response(529, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`),
			Error{Class: ClassTransient, Type: "overloaded_error"},
		},
		{
			"7 body too large, few tokens", with(response(413, `{"error":{"message":"Request body too large. Max 32 MB"}}`), func(e *Evidence) { e.InputTokens, e.Window = 20_000, 200_000 }),
			Error{Class: ClassPayload},
		},
		{
			"8 foreign encrypted content", response(400, `{"error":{"code":"invalid_encrypted_content","message":"The encrypted content could not be verified."}}`),
			Error{Class: ClassInvalid, Code: "invalid_encrypted_content"},
		},
		{
			"9 our own bad pairing", response(400, `{"error":{"message":"messages.7.content.0: unexpected tool_use_id found in tool_result blocks: toolu_X"}}`),
			Error{Class: ClassInvalid},
		},
		{"10 billing with a 402", response(402, `{"error":{"message":"Your credit balance is too low"}}`), Error{Class: ClassQuota}},
		{"10 billing with a 403", response(403, `{"error":{"message":"Your credit balance is too low"}}`), Error{Class: ClassQuota}},
		{"11 retired model", response(404, `{"error":{"message":"model demo-old is retired"}}`), Error{Class: ClassInvalid}},
		{"12 silent overflow", answered(func(e *Evidence) {
			e.Text, e.Finish, e.Usage = "", "length", &contract.Usage{InputTokens: 200_000}
		}), Error{Class: ClassOverflow, Code: "length", Used: 200_000, Max: 200_000}},
		{
			"13 empty event stream", answered(func(e *Evidence) { e.Text, e.Finish, e.Terminated, e.Usage = "", "", false, nil }),
			Error{Class: ClassTransient},
		},
		{"14 a server that says canceled", response(500, `{"error":{"message":"context canceled"}}`), Error{Class: ClassTransient}},
		{"15 unsupported effort", response(400, `{"error":{"message":"Unsupported value: reasoning.effort"}}`), Error{Class: ClassInvalid}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Classify(c.e)
			require.NotNil(t, got)
			c.want.Status = c.e.Status
			kept := *got
			kept.Candidate, kept.Phase, kept.Excerpt, kept.Err, kept.Usage, kept.RequestID = "", "", "", nil, contract.Usage{}, ""
			require.Empty(t, cmp.Diff(c.want, kept))
		})
	}
}

func with(e Evidence, change func(*Evidence)) Evidence {
	change(&e)
	return e
}

// TestClassifyExactTables shows the rows of spec/providers §3.3: what each vendor says, and its class.
func TestClassifyExactTables(t *testing.T) {
	t.Parallel()
	oai := func(kind, code, message string) string {
		return `{"error":{"message":"` + message + `","type":"` + kind + `","param":null,"code":"` + code + `"}}`
	}
	ant := func(kind, message string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_9"}`
	}
	antCode := func(kind, code string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"no","details":{"error_code":"` + code + `"}}}`
	}
	router := func(code, kind string) string {
		return `{"error":{"code":` + code + `,"message":"Provider returned error","metadata":{"error_type":"` + kind + `","provider_name":"x"}}}`
	}
	lite := func(name string) string {
		return `{"error":{"message":"litellm.` + name + `: something","type":null,"param":null,"code":"500"}}`
	}
	cases := []struct {
		vendor string
		status int
		body   string
		want   Class
	}{
		{"openai", 400, oai("invalid_request_error", "context_length_exceeded", "too long"), ClassOverflow},
		{"openai", 400, oai("invalid_request_error", "", "Your input exceeds the context window of this model"), ClassOverflow},
		{"openai", 400, oai("invalid_request_error", "string_above_max_length", "x"), ClassOverflow},
		{"openai", 400, oai("invalid_request_error", "array_above_max_length", "x"), ClassOverflow},
		{"openai", 400, oai("invalid_request_error", "", "Invalid 'input': string too long."), ClassOverflow},
		{"openai", 400, oai("invalid_request_error", "unsupported_parameter", "Unsupported parameter: 'max_tokens'"), ClassInvalid},
		{"openai", 400, oai("invalid_request_error", "unsupported_value", "x"), ClassInvalid},
		{"openai", 400, oai("invalid_request_error", "missing_required_parameter", "x"), ClassInvalid},
		{"azure", 400, `{"error":{"code":"content_filter","message":"filtered","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, ClassRefused},
		{"openai", 400, oai("invalid_request_error", "content_policy_violation", "x"), ClassRefused},
		{"openai", 400, oai("invalid_request_error", "invalid_prompt", "x"), ClassRefused},
		{"openai", 400, oai("invalid_request_error", "cyber_policy_block", "x"), ClassRefused},
		{"openai", 400, oai("invalid_request_error", "invalid_image_format", "x"), ClassInvalid},
		{"openai", 400, oai("invalid_request_error", "image_too_small", "x"), ClassInvalid},
		{"openai", 401, oai("invalid_request_error", "invalid_api_key", "Incorrect API key"), ClassAuth},
		{"openai", 403, oai("x", "unsupported_country_region_territory", "x"), ClassAuth},
		{"openai", 403, oai("invalid_request_error", "", "Project does not have access to model"), ClassAuth},
		{"openai", 404, oai("invalid_request_error", "model_not_found", "no such model"), ClassInvalid},
		{"azure", 404, oai("", "DeploymentNotFound", "x"), ClassInvalid},
		{"openai", 409, oai("x", "", "conversation is locked"), ClassTransient},
		{"openai", 429, oai("tokens", "rate_limit_exceeded", "slower"), ClassRateLimited},
		{"openai", 429, oai("requests", "slow_down", "Too many requests"), ClassRateLimited},
		{"openai", 429, oai("insufficient_quota", "insufficient_quota", "You exceeded your current quota"), ClassQuota},
		{"openai", 429, oai("insufficient_quota", "x", "no"), ClassQuota},
		{"openai", 429, oai("x", "project_spend_limit_exceeded", "rate_limit"), ClassQuota},
		{"openai", 429, oai("x", "billing_hard_limit_reached", "x"), ClassQuota},
		{"openai", 429, oai("tokens", "rate_limit_exceeded", "Request too large for m on tokens per min (TPM): Limit 30000, Requested 45000."), ClassOverflow},
		{"openai", 429, oai("tokens", "rate_limit_exceeded", "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 4500."), ClassRateLimited},
		{"openai", 429, oai("x", "resource_unavailable", "flex"), ClassTransient},
		{"openai", 500, oai("server_error", "", "oops"), ClassTransient},
		{"openai", 503, oai("service_unavailable_error", "server_is_overloaded", "x"), ClassTransient},
		{"openai", 503, oai("x", "slow_down", "x"), ClassTransient},

		{"anthropic", 400, ant("invalid_request_error", "You have reached your specified API usage limits. You will regain access on 2026-06-01"), ClassQuota},
		{"anthropic", 400, ant("invalid_request_error", "You have reached your specified workspace API usage limits."), ClassQuota},
		{"anthropic", 400, ant("invalid_request_error", "Your credit balance is too low to access the API"), ClassQuota},
		{"anthropic", 402, ant("billing_error", "x"), ClassQuota},
		{"anthropic", 400, antCode("invalid_request_error", "linked_organization_suspended"), ClassQuota},
		{"anthropic", 400, ant("invalid_request_error", "Invalid signature in thinking block. The block is bound to a different conversation"), ClassInvalid},
		{"anthropic", 400, antCode("invalid_request_error", "compaction_incomplete_turn"), ClassInvalid},
		{"anthropic", 529, antCode("overloaded_error", "compaction_unavailable"), ClassTransient},
		{"anthropic", 400, antCode("invalid_request_error", "image_dimensions_too_large"), ClassInvalid},
		{"anthropic", 400, antCode("invalid_request_error", "organization_on_hold"), ClassAuth},
		{"anthropic", 401, ant("authentication_error", "invalid x-api-key"), ClassAuth},
		{"anthropic", 403, ant("permission_error", "no"), ClassAuth},
		{"anthropic", 404, ant("not_found_error", "model: nope"), ClassInvalid},
		{"anthropic", 413, ant("request_too_large", "Request exceeds the maximum size"), ClassPayload},
		{"anthropic", 429, ant("rate_limit_error", "This request would exceed your rate limit"), ClassRateLimited},
		{"anthropic", 429, antCode("rate_limit_error", "ramp_limit_exceeded"), ClassRateLimited},
		{"anthropic", 429, antCode("rate_limit_error", "enforced_spend_limit_reached"), ClassQuota},
		{"anthropic", 500, ant("api_error", "Internal server error"), ClassTransient},
		{"anthropic", 504, ant("timeout_error", "x"), ClassTransient},

		{"gemini", 400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, ClassOverflow},
		{"gemini", 400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`, ClassAuth},
		{"gemini", 400, `{"error":{"code":400,"message":"User location is not supported","status":"FAILED_PRECONDITION"}}`, ClassAuth},
		{"gemini", 429, `[{"error":{"code":429,"message":"Quota exceeded for metric","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x","violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}]}}]`, ClassQuota},
		{"gemini", 429, `[{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x","retryDelay":"34s"}]}}]`, ClassRateLimited},
		{"gemini", 503, `{"error":{"code":503,"message":"The model is overloaded","status":"UNAVAILABLE"}}`, ClassTransient},
		{"gemini", 499, `{"error":{"code":499,"status":"CANCELLED","message":"x"}}`, ClassTransient},

		{"openrouter", 200, router("502", "provider_unavailable"), ClassTransient},
		{"openrouter", 200, router("400", "context_length_exceeded"), ClassOverflow},
		{"openrouter", 200, router("402", "payment_required"), ClassQuota},
		{"openrouter", 200, router("403", "content_policy_violation"), ClassRefused},
		{"openrouter", 200, router("429", "rate_limit_exceeded"), ClassRateLimited},
		{"openrouter", 200, router("401", "authentication"), ClassAuth},
		{"openrouter", 200, router("400", "max_tokens_exceeded"), ClassTruncated},
		{"openrouter", 400, `{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}"}}}`, ClassOverflow},
		{"openrouter", 503, `{"error":{"code":503,"message":"no provider meets your routing requirements"}}`, ClassTransient},

		{"litellm", 400, lite("ContextWindowExceededError"), ClassOverflow},
		{"litellm", 400, lite("ContentPolicyViolationError"), ClassRefused},
		{"litellm", 400, `{"error":{"message":"Budget has been exceeded! Current cost: 12","type":"budget_exceeded","code":"400"}}`, ClassQuota},
		{"litellm", 403, `{"error":{"message":"key not allowed","type":"key_model_access_denied","code":"403"}}`, ClassAuth},
		{"litellm", 429, `{"error":{"message":"No deployments available for selected model, Try again in 5 seconds.","type":"None","code":"429"}}`, ClassRateLimited},
		{"litellm", 500, lite("APIConnectionError"), ClassTransient},
		{"litellm", 503, lite("ServiceUnavailableError"), ClassTransient},
		{"litellm", 400, `{"error":{"message":"litellm.BadRequestError: AnthropicException - {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 2 tokens > 1 maximum\"}}"}}`, ClassOverflow},

		{"vllm", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion).","type":"BadRequestError","code":400}`, ClassOverflow},
		{"vllm", 400, `{"error":{"message":"max_tokens must be at least 1, got -186.","type":"BadRequestError","code":400}}`, ClassOverflow},
		{"vllm", 404, `{"object":"error","message":"The model x does not exist.","type":"NotFoundError","code":404}`, ClassInvalid},
		{"vllm", 500, `{"object":"error","message":"Internal Server Error","type":"InternalServerError","code":500}`, ClassTransient},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"request (7228 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":7228,"n_ctx":4096}}`, ClassOverflow},
		{"llama.cpp", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, ClassTransient},
		{"llama.cpp", 501, `{"error":{"code":501,"message":"no embeddings","type":"not_supported_error"}}`, ClassUnsupported},
		{"llama.cpp", 500, `{"error":{"code":500,"message":"input (9000 tokens) is too large to process. increase the physical batch size","type":"server_error"}}`, ClassOverflow},
		{"llama.cpp", 500, `{"error":{"code":500,"message":"image input is not supported - hint: mmproj","type":"server_error"}}`, ClassInvalid},
		{"ollama", 404, `{"error":"model 'x' not found"}`, ClassInvalid},
		{"ollama", 400, `{"error":"the input length exceeds the context length"}`, ClassOverflow},
		{"ollama", 503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, ClassTransient},
		{"fastapi", 422, `{"detail":[{"loc":["body"],"msg":"field required","type":"value_error.missing"}]}`, ClassInvalid},
		{"fastapi", 401, `{"detail":"Not authenticated"}`, ClassAuth},
		{"errors", 400, `{"errors":[{"message":"prompt is too long"}]}`, ClassOverflow},

		{"none", 502, `<html><body>Bad gateway, too many requests</body></html>`, ClassTransient},
		{"none", 503, ``, ClassTransient},
		{"none", 408, ``, ClassTransient},
		{"none", 425, ``, ClassTransient},
		{"none", 405, ``, ClassInvalid},
		{"none", 307, ``, ClassInvalid},
		{"none", 524, `error code: 524`, ClassTransient},
		{"none", 200, `{"error":"something odd"}`, ClassTransient},
		{"none", 200, `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`, ClassInvalid},
	}
	for _, c := range cases {
		t.Run(c.vendor+" "+http.StatusText(c.status)+" "+string(c.want), func(t *testing.T) {
			t.Parallel()
			got := Classify(response(c.status, c.body))
			require.NotNil(t, got)
			require.Equal(t, c.want, got.Class, "%d %s", c.status, c.body)
			require.Equal(t, c.status, got.Status)
			require.LessOrEqual(t, len(got.Excerpt), MaxExcerpt)
		})
	}
}

func TestClassifyBedrockByHeader(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Class{
		"ThrottlingException:http://internal.amazon.com/coral/": ClassRateLimited,
		"ServiceQuotaExceededException":                         ClassQuota,
		"ModelNotReadyException":                                ClassTransient,
		"AccessDeniedException":                                 ClassAuth,
		"ResourceNotFoundException":                             ClassInvalid,
	} {
		got := Classify(response(400, `{"message":"Too many tokens, please wait before trying again."}`, "X-Amzn-ErrorType", name))
		require.Equal(t, want, got.Class, name)
	}
}

// TestClassifyOverflowTexts shows the texts of spec/sessions §4 and spec/providers §3.4, and what
// counts are read from them.
func TestClassifyOverflowTexts(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text      string
		used, max int
	}{
		{"prompt is too long: 208310 tokens > 200000 maximum", 208310, 200000},
		{"Input is too long for requested model.", 0, 0},
		{"Your input exceeds the context window of this model. Please adjust your input and try again.", 0, 0},
		{"This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens (190000 of text input, 10000 in the output).", 200000, 131072},
		{"Input of 9000 tokens is over the model's maximum context length of 8192 tokens", 0, 8192},
		{"The input length 9000 exceeds the maximum allowed input length of 8192 tokens", 0, 8192},
		{"The input (9000 tokens) is longer than the model's context length (8192 tokens).", 9000, 8192},
		{"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", 1196265, 1048575},
		{"This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 537812, 131072},
		{"Please reduce the length of the messages or completion.", 0, 0},
		{"prompt token count of 150000 exceeds the limit of 128000", 0, 128000},
		{"the request exceeds the available context size, try increasing it", 0, 0},
		{"tokens to keep from the initial prompt is greater than the context length (n_keep: 5000 >= n_ctx: 4096)", 0, 0},
		{"prompt too long; exceeded max context length by 100 tokens", 0, 0},
		{"prompt has 40,123 tokens, but the configured context size is 32,768 tokens", 40123, 32768},
		{"invalid params, context window exceeds limit (2013)", 0, 0},
		{"Your request exceeded model token limit: 262144 (requested: 300000)", 0, 0},
		{"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 40000, 32768},
		{"Range of input length should be [1, 129024]", 0, 129024},
		{"Input too long: 250000 input tokens", 250000, 0},
		{"`inputs` tokens + `max_new_tokens` must be <= 4096", 0, 0},
		{"requested input length 9000 exceeds maximum input length 8192", 9000, 8192},
		{"tokens in request more than max tokens allowed", 0, 0},
		{"Number of input tokens exceeds maximum length", 0, 0},
		{"context length exceeded", 0, 0},
		{"model_context_window_exceeded", 0, 0},
		{"token limit exceeded", 0, 0},
	}
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got := Classify(response(400, `{"error":{"message":"`+c.text+`"}}`))
			require.Equal(t, ClassOverflow, got.Class)
			require.Equal(t, []int{c.used, c.max}, []int{got.Used, got.Max})
		})
	}
	// Throttling uses the same words; it must not be taken for an overflow.
	for _, text := range []string{
		"ThrottlingException: Too many tokens, please wait before trying again.",
		"Rate limit reached: too many tokens",
		"Too many requests: token limit exceeded",
	} {
		require.Equal(t, ClassRateLimited, Classify(response(429, `{"message":"`+text+`"}`)).Class, text)
	}
}

func TestClassifySilentRefusalOfLongPrompts(t *testing.T) {
	t.Parallel()
	full := func(e *Evidence) { e.Window, e.InputTokens = 100_000, 80_000 }
	small := func(e *Evidence) { e.Window, e.InputTokens = 100_000, 10_000 }
	require.Equal(t, ClassOverflow, Classify(with(response(400, ""), full)).Class)
	require.Equal(t, ClassInvalid, Classify(with(response(400, ""), small)).Class)
	require.Equal(t, ClassOverflow, Classify(with(response(413, ""), full)).Class)
	require.Equal(t, ClassPayload, Classify(with(response(413, ""), small)).Class)
	require.Equal(t, ClassRateLimited, Classify(with(response(429, ""), full)).Class, "a 429 without body is a rate limit")
}

func TestClassifyInterruptions(t *testing.T) {
	t.Parallel()
	limit := &TimeoutError{Limit: LimitIdle, After: time.Second}
	cases := []struct {
		name  string
		e     Evidence
		class Class
		phase Phase
	}{
		{"the caller cancels", Evidence{Context: context.Canceled, Transport: context.Canceled, Phase: PhaseStream}, ClassCanceled, PhaseStream},
		{"the caller cancels a failing request", with(response(500, "x"), func(e *Evidence) { e.Context = context.Canceled }), ClassCanceled, PhaseBody},
		{"the caller's deadline", Evidence{Context: context.DeadlineExceeded, Phase: PhaseStream}, ClassTimeout, LimitTotal},
		{"a limit of ours", Evidence{Transport: &url.Error{Op: "Post", Err: limit}, Phase: PhaseStream}, ClassTimeout, LimitIdle},
		{"a failure read before the limit", with(response(400, `{"error":{"message":"prompt is too long"}}`), func(e *Evidence) { e.Transport = limit }), ClassOverflow, PhaseBody},
		{"refused", transport(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, PhaseConnect), ClassTransient, PhaseConnect},
		{"no such host", transport(&net.DNSError{Err: "no such host", IsNotFound: true}, PhaseConnect), ClassTransient, PhaseConnect},
		{"reset", transport(&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, PhaseHeaders), ClassTransient, PhaseHeaders},
		{"cut off", transport(io.ErrUnexpectedEOF, PhaseStream), ClassTransient, PhaseStream},
		{"certificate", transport(&tls.CertificateVerificationError{Err: errors.New("x")}, PhaseConnect), ClassTransient, PhaseConnect},
		{"http server behind https", transport(http.ErrSchemeMismatch, PhaseHeaders), ClassInvalid, PhaseHeaders},
		{"nothing was sent", transport(errors.New("bad parameter"), PhasePrepare), ClassInvalid, PhasePrepare},
		{"over the size cap", transport(ErrTooLarge, PhaseStream), ClassBadOutput, PhaseStream},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Classify(c.e)
			require.NotNil(t, got)
			require.Equal(t, c.class, got.Class)
			require.Equal(t, c.phase, got.Phase)
			require.Error(t, errors.Unwrap(got), "the cause is kept, unless the provider spoke") // Unwrap gives Err
		})
	}
}

func transport(err error, at Phase) Evidence {
	return Evidence{Candidate: "lab/demo", Transport: &url.Error{Op: "Post", URL: "http://127.0.0.1", Err: err}, Phase: at}
}

func TestClassesAreAllReachable(t *testing.T) {
	t.Parallel()
	seen := map[Class]bool{ClassCanceled: true, ClassTimeout: true, ClassEmpty: true, ClassBadOutput: true} // above and in answer_test
	for _, class := range exactWords {
		seen[class] = true
	}
	for _, class := range Classes {
		require.True(t, seen[class], class)
	}
}
