package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"recap/internal/model"
	"recap/internal/model/anthropic"
	"recap/internal/model/modeltest"
	"recap/internal/testkit/provider"
)

var subject = modeltest.Subject{New: anthropic.New, API: provider.Anthropic}

func TestConformance(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, subject)
}

func TestRequestFields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ effort, thinking, level string }{
		{"", "", ""},
		{"off", "disabled", ""},
		{"minimal", "adaptive", "low"},
		{"max", "adaptive", "max"},
	} {
		p := provider.New(t)
		call := modeltest.Call()
		call.Effort = c.effort
		_, err := subject.Client(t, p, nil).Complete(t.Context(), call)
		require.NoError(t, err)
		sent := p.Requests()[0]
		body := gjson.ParseBytes(sent.Body)
		require.Equal(t, c.thinking, body.Get("thinking.type").Str)
		require.Equal(t, c.level, body.Get("output_config.effort").Str)
		require.Equal(t, provider.Key, sent.Header.Get("X-Api-Key"))
		require.Empty(t, sent.Header.Get("Authorization"), "one credential, not two")
	}
}

func TestOutputCapIsRequired(t *testing.T) {
	t.Parallel()
	p := provider.New(t)
	call := modeltest.Call()
	call.MaxOutput = 0
	_, err := subject.Client(t, p, nil).Complete(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, 8000, p.Requests()[0].MaxTokens, "the candidate's cap")

	_, err = subject.Client(t, p, func(c *model.Config) { c.MaxOutputTokens = 0 }).Complete(t.Context(), call)
	var got *model.Error
	require.ErrorAs(t, err, &got)
	require.Equal(t, model.ClassInvalid, got.Class)
	require.Equal(t, 1, p.Count(), "nothing was sent")
}

// TestOutputCapThatDoesNotFit shows T8.4 with the server's own numbers: the input alone fits.
func TestOutputCapThatDoesNotFit(t *testing.T) {
	t.Parallel()
	p := provider.New(t)
	p.SetWindow(1000, provider.VendorAnthropic)
	_, err := subject.Client(t, p, nil).Complete(t.Context(), modeltest.Call())
	var got *model.Error
	require.ErrorAs(t, err, &got)
	require.Equal(t, model.ClassOverflow, got.Class)
	require.Equal(t, 1000, got.Max)
	require.Less(t, got.Used, got.Max)
}

func TestOAuthToken(t *testing.T) {
	t.Parallel()
	p := provider.New(t)
	const token = "sk-ant-oat01-abcdefgh"
	p.SetKey(token)
	_, err := subject.Client(t, p, func(c *model.Config) { c.Key = func() (string, error) { return token, nil } }).Complete(t.Context(), modeltest.Call())
	require.NoError(t, err)
	require.Equal(t, "Bearer "+token, p.Requests()[0].Header.Get("Authorization"))
}

func TestBaseURLWithVersion(t *testing.T) {
	t.Parallel()
	p := provider.New(t)
	client := subject.Client(t, p, func(c *model.Config) { c.BaseURL += "/v1/" })
	require.Equal(t, p.Anthropic(), client.Endpoint())
	_, err := client.Complete(t.Context(), modeltest.Call())
	require.NoError(t, err)
}

// TestEnvironmentIsNotRead shows that variables meant for the vendor's own tools change nothing.
func TestEnvironmentIsNotRead(t *testing.T) {
	elsewhere := provider.New(t)
	t.Setenv("ANTHROPIC_BASE_URL", elsewhere.Anthropic())
	t.Setenv("ANTHROPIC_API_KEY", "sk-from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-from-the-environment")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Leak: from-the-environment")
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

// TestMessagesOfTheWire shows answers as the vendor documents them, T3's among them.
func TestMessagesOfTheWire(t *testing.T) {
	t.Parallel()
	stream := func(body string) provider.Step {
		return provider.Status(200, body, "Content-Type", "text/event-stream")
	}
	for name, c := range map[string]struct {
		step provider.Step
		want model.Class
	}{
		"T3.m1":          {provider.Status(200, `{"content":[],"stop_reason":"end_turn","usage":{"input_tokens":900,"output_tokens":0}}`), model.ClassEmpty},
		"T3.m2":          {provider.Status(200, `{"content":[{"type":"thinking","thinking":"I should list the port…","signature":"c2lnLW0y"}],"stop_reason":"max_tokens","usage":{"input_tokens":900,"output_tokens":1024}}`), model.ClassEmpty},
		"T3.m3":          {provider.Status(200, `{"content":[{"type":"text","text":"## Goal\nImport atlas rows. ## Constraints\nSkip dra"}],"stop_reason":"max_tokens","usage":{"input_tokens":900,"output_tokens":1024}}`), model.ClassTruncated},
		"T3.m4":          {provider.Status(200, `{"content":[{"type":"text","text":"I'm not able to help with summarising this conversation."}],"stop_reason":"refusal","usage":{"input_tokens":900,"output_tokens":31}}`), model.ClassRefused},
		"pause":          {provider.Status(200, `{"content":[{"type":"text","text":"Hi"}],"stop_reason":"pause_turn"}`), model.ClassTruncated},
		"window":         {provider.Status(200, `{"content":[],"stop_reason":"model_context_window_exceeded","usage":{"input_tokens":9,"output_tokens":0}}`), model.ClassOverflow},
		"compaction":     {provider.Status(200, `{"content":[{"type":"compaction","content":"x","signature":"y"}],"stop_reason":"compaction"}`), model.ClassBadOutput},
		"unknown events": {stream("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\nevent: news\ndata: {\"type\":\"news\"}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"), model.ClassEmpty},
		"llama.cpp":      {provider.Status(400, `{"error":{"code":400,"message":"request (7228 tokens) exceeds the available context size (4096 tokens)","type":"exceed_context_size_error","n_prompt_tokens":7228,"n_ctx":4096}}`), model.ClassOverflow},
	} {
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
