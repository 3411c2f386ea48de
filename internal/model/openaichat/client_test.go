package openaichat_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"recap/internal/model"
	"recap/internal/model/modeltest"
	"recap/internal/model/openaichat"
	"recap/internal/testkit/provider"
)

var subject = modeltest.Subject{New: openaichat.New, API: provider.OpenAI}

func TestConformance(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, subject)
}

func TestRequestFields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field, effort  string
		want, unwanted string
		level          string
	}{
		{"", "", "max_completion_tokens", "max_tokens", ""},
		{"max_tokens", "", "max_tokens", "max_completion_tokens", ""},
		{"", "off", "max_completion_tokens", "max_tokens", "none"},
		{"", "xhigh", "max_completion_tokens", "max_tokens", "xhigh"},
	} {
		p := provider.New(t)
		call := modeltest.Call()
		call.Effort = c.effort
		_, err := subject.Client(t, p, func(cfg *model.Config) { cfg.MaxTokensField = c.field }).Complete(t.Context(), call)
		require.NoError(t, err)
		body := gjson.ParseBytes(p.Requests()[0].Body)
		require.Equal(t, int64(2000), body.Get(c.want).Int())
		require.False(t, body.Get(c.unwanted).Exists())
		require.Equal(t, c.level, body.Get("reasoning_effort").Str)
		require.True(t, body.Get("stream_options.include_usage").Bool())
		require.Equal(t, int64(2), body.Get("messages.#").Int())
	}
	_, err := openaichat.New(model.Config{ID: "lab/x", MaxTokensField: "maxTokens"})
	require.ErrorContains(t, err, "maxTokensField")
}

// TestEnvironmentIsNotRead shows that variables meant for the vendor's own tools change nothing.
func TestEnvironmentIsNotRead(t *testing.T) {
	elsewhere := provider.New(t)
	t.Setenv("OPENAI_BASE_URL", elsewhere.OpenAI())
	t.Setenv("OPENAI_API_KEY", "sk-from-the-environment")
	t.Setenv("OPENAI_ORG_ID", "org-from-the-environment")
	t.Setenv("OPENAI_PROJECT_ID", "proj-from-the-environment")
	p := provider.New(t)
	p.SetKey("")
	_, err := subject.Client(t, p, func(c *model.Config) { c.Key = nil }).Complete(t.Context(), modeltest.Call())
	require.NoError(t, err)
	require.Zero(t, elsewhere.Count())
	for name, values := range p.Requests()[0].Header {
		for _, v := range values {
			require.NotContains(t, v, "from-the-environment", name)
		}
	}
}

// TestOtherServersShapes shows variants of the format that other servers send.
func TestOtherServersShapes(t *testing.T) {
	t.Parallel()
	stream := func(body string) provider.Step {
		return provider.Status(200, body, "Content-Type", "text/event-stream; charset=utf-8")
	}
	const end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	good := map[string]provider.Step{
		"no space, CRLF, comments": stream(": OPENROUTER PROCESSING\r\n\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\r\n\r\n: x\r\n" + end),
		"null usage and fields":    stream("data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":null,\"refusal\":null}}],\"usage\":null,\"error\":null}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n" + end),
		"other reasoning field":    stream("data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"hm\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n" + end),
		"second choice ignored":    stream("data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"No\"}},{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n" + end),
		"no blank line at the end": stream("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]"),
		"byte order mark":          stream("\xef\xbb\xbfdata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n" + end),
		"empty tool calls":         provider.Status(200, `{"choices":[{"message":{"role":"assistant","content":"Hi","tool_calls":[]},"finish_reason":"stop"}]}`),
		"problem type of JSON":     provider.Status(200, `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`, "Content-Type", "application/vnd.x+json"),
	}
	for name, step := range good {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := subject.Client(t, provider.New(t, step), nil).Complete(t.Context(), modeltest.Call())
			require.NoError(t, err)
			require.Equal(t, "Hi", answer.Text)
		})
	}
	bad := map[string]struct {
		step provider.Step
		want model.Class
	}{
		"zero deltas":       {stream("data: [DONE]\n\n"), model.ClassEmpty},
		"no choices":        {provider.Status(200, `{"choices":[]}`), model.ClassEmpty},
		"old function call": {provider.Status(200, `{"choices":[{"message":{"content":"","function_call":{"name":"x","arguments":"{}"}},"finish_reason":"function_call"}]}`), model.ClassBadOutput},
		"openrouter cut":    {stream("data: {\"error\":{\"code\":502,\"message\":\"upstream\"},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n"), model.ClassTransient},
		"old vllm":          {provider.Status(200, `{"object":"error","message":"This model's maximum context length is 10 tokens. However, you requested 20 tokens","code":400}`), model.ClassOverflow},
	}
	for name, c := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := subject.Client(t, provider.New(t, c.step), nil).Complete(t.Context(), modeltest.Call())
			var got *model.Error
			require.ErrorAs(t, err, &got)
			require.Equal(t, c.want, got.Class, err)
		})
	}
}

func BenchmarkAnswer(b *testing.B) { modeltest.Bench(b, subject) }
