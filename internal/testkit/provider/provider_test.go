package provider_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"recap/internal/testkit/provider"
)

// start starts a server without New's check for malformed requests, which these tests send.
func start(t *testing.T, script provider.Script) *provider.Server {
	t.Helper()
	p, err := provider.Start(script)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

type answer struct {
	status int
	header http.Header
	body   string
}

func send(t *testing.T, p *provider.Server, path, body string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	if path == anthropicPath {
		r.Header.Set("X-Api-Key", provider.Key)
		r.Header.Set("Anthropic-Version", "2023-06-01")
	} else {
		r.Header.Set("Authorization", "Bearer "+provider.Key)
	}
	return do(t, r)
}

func do(t *testing.T, r *http.Request) answer {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answer{response.StatusCode, response.Header, string(b)}
}

const (
	openaiPath    = "/v1/chat/completions"
	anthropicPath = "/v1/messages"
	user          = `{"role":"user","content":"Hi there"}`
	call          = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
	result        = `{"role":"tool","tool_call_id":"c1","content":"a.go"}`
	use           = `{"role":"assistant","content":[{"type":"tool_use","id":"u1","name":"ls","input":{}}]}`
	used          = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"u1","content":"a.go"}]}`
)

func TestStrictOpenAI(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	body := func(messages, more string) string { return `{"model":"m","messages":[` + messages + `]` + more + `}` }
	for name, c := range map[string]struct {
		body string
		says string // "" = accepted
	}{
		"plain":                  {body(user, ""), ""},
		"system first":           {body(`{"role":"system","content":"x"},`+user, `,"stream":true,"stream_options":{"include_usage":true}`), ""},
		"parts":                  {body(`{"role":"user","content":[{"type":"text","text":"Hi"}]}`, ""), ""},
		"a whole tool turn":      {body(user+","+call+","+result, ""), ""},
		"no JSON":                {`{"model":`, "parse"},
		"an array":               {`[]`, "parse"},
		"no model":               {`{"messages":[` + user + `]}`, "model"},
		"no messages":            {body("", ""), "at least one message"},
		"unknown field":          {body(user, `,"max_output_tokens":5`), "Unknown parameter: 'max_output_tokens'"},
		"two caps":               {body(user, `,"max_tokens":5,"max_completion_tokens":5`), "cannot both"},
		"no room":                {body(user, `,"max_tokens":0`), "at least 1"},
		"two choices":            {body(user, `,"n":2`), "one choice"},
		"stream options, unary":  {body(user, `,"stream_options":{}`), "only allowed when"},
		"effort":                 {body(user, `,"reasoning_effort":"hard"`), "reasoning_effort"},
		"unknown role":           {body(`{"role":"narrator","content":"x"}`, ""), "narrator"},
		"late system":            {body(user+`,{"role":"system","content":"x"},`+user, ""), "after the conversation"},
		"empty content":          {body(`{"role":"user","content":""}`, ""), "must not be empty"},
		"assistant last":         {body(user+`,{"role":"assistant","content":"x"}`, ""), "last message"},
		"unanswered call":        {body(user+","+call+","+user, ""), "must be followed by tool messages"},
		"unanswered at the end":  {body(user+","+call, ""), "no results"},
		"orphan result":          {body(user+","+result, ""), "preceding"},
		"answered twice":         {body(user+","+call+","+result+","+result, ""), "preceding"},
		"arguments are no JSON":  {body(user+","+strings.Replace(call, `"{}"`, `"{"`, 1)+","+result, ""), "JSON arguments"},
		"assistant says nothing": {body(user+`,{"role":"assistant","content":""},`+user, ""), "needs content"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := send(t, p, openaiPath, c.body)
			if c.says == "" {
				require.Equal(t, 200, got.status, got.body)
				return
			}
			require.Equal(t, 400, got.status)
			require.Contains(t, gjson.Get(got.body, "error.message").Str, c.says)
			require.Equal(t, "invalid_request_error", gjson.Get(got.body, "error.type").Str)
		})
	}
}

func TestStrictAnthropic(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	body := func(messages, more string) string {
		return `{"model":"m","max_tokens":2000,"messages":[` + messages + `]` + more + `}`
	}
	for name, c := range map[string]struct {
		body string
		says string
	}{
		"plain":                   {body(user, `,"system":"x","stream":true`), ""},
		"blocks":                  {body(`{"role":"user","content":[{"type":"text","text":"Hi"}]}`, `,"system":[{"type":"text","text":"x"}]`), ""},
		"a whole tool turn":       {body(user+","+use+","+used, ""), ""},
		"thinking":                {body(user, `,"thinking":{"type":"enabled","budget_tokens":1024}`), ""},
		"no cap":                  {`{"model":"m","messages":[` + user + `]}`, "max_tokens: Field required"},
		"unknown field":           {body(user, `,"reasoning_effort":"low"`), "Unknown parameter"},
		"empty system":            {body(user, `,"system":""`), "non-empty"},
		"empty text":              {body(`{"role":"user","content":[{"type":"text","text":""}]}`, ""), "non-empty"},
		"empty content":           {body(`{"role":"user","content":[]}`, ""), "non-empty"},
		"system role":             {body(`{"role":"system","content":"x"},`+user, ""), "'user' or 'assistant'"},
		"assistant first":         {body(`{"role":"assistant","content":"x"},`+user, ""), "first message"},
		"prefill":                 {body(user+`,{"role":"assistant","content":"## Goal"}`, ""), "prefill"},
		"budget too small":        {body(user, `,"thinking":{"type":"enabled","budget_tokens":10}`), "budget_tokens"},
		"budget over the cap":     {body(user, `,"thinking":{"type":"enabled","budget_tokens":2000}`), "budget_tokens"},
		"unknown thinking":        {body(user, `,"thinking":{"type":"deep"}`), "thinking.type"},
		"effort of the other API": {body(user, `,"output_config":{"effort":"minimal"}`), "effort"},
		"unanswered use":          {body(user+","+use+","+user, ""), "without `tool_result`"},
		"unanswered at the end":   {body(user+","+use, ""), "no `tool_result`"},
		"orphan result":           {body(used, ""), "unexpected `tool_use_id`"},
		"result not first": {
			body(user+","+use+`,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"u1","content":"y"}]}`, ""),
			"unexpected `tool_use_id`",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := send(t, p, anthropicPath, c.body)
			if c.says == "" {
				require.Equal(t, 200, got.status, got.body)
				return
			}
			require.Equal(t, 400, got.status)
			require.Equal(t, "error", gjson.Get(got.body, "type").Str)
			require.Contains(t, gjson.Get(got.body, "error.message").Str, c.says)
		})
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	for _, path := range []string{openaiPath, anthropicPath} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+path, strings.NewReader(`{}`))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer wrong-key")
		require.Equal(t, 401, do(t, r).status)
	}
	require.Equal(t, 2, p.Count(), "refused requests count as well")
}

func TestWindow(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	long := `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"` + strings.Repeat("word ", 200) + `"}]}`
	p.SetWindow(100, provider.VendorAnthropic)
	got := send(t, p, anthropicPath, long)
	require.Equal(t, 400, got.status)
	require.Contains(t, got.body, "prompt is too long: 250 tokens > 100 maximum")
	p.SetWindow(255, provider.VendorAnthropic)
	require.Contains(t, send(t, p, anthropicPath, long).body, "250 + 10 > 255")
	p.SetWindow(0, "")
	require.Equal(t, 200, send(t, p, anthropicPath, long).status)
	for _, vendor := range provider.Vendors {
		require.True(t, gjson.Valid(provider.Overflow(vendor, 2, 1).Body), vendor)
	}
}

func TestScriptsRunInOrderThenGoodSummaries(t *testing.T) {
	t.Parallel()
	p := provider.New(t, provider.Status(529, "{}"), func(r provider.Request) provider.Step { return provider.Text("for " + r.Model) })
	body := `{"model":"m1","messages":[` + user + `]}`
	require.Equal(t, 529, send(t, p, openaiPath, body).status)
	require.Contains(t, send(t, p, openaiPath, body).body, "for m1")
	require.Contains(t, send(t, p, openaiPath, strings.Replace(body, "m1", "m2", 1)).body, "## Goal")
	require.Equal(t, 3, p.Count())
	require.Equal(t, 2, p.CountModel("m1"))
	last := p.Requests()[2]
	require.Equal(t, []any{3, "m2", "Hi there", 2}, []any{last.N, last.Model, last.User, last.Tokens})
	p.SetScript(func(provider.Request) provider.Step { return provider.Text("mended") })
	require.Contains(t, send(t, p, openaiPath, body).body, "mended")
}

func TestHeldAnswersWaitForTheTest(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	p := provider.New(t, provider.Held(gate, provider.Text("at last")))
	got := make(chan answer, 1)
	go func() { got <- send(t, p, openaiPath, `{"model":"m","messages":[`+user+`]}`) }()
	require.True(t, p.Wait(1, 30*time.Second), "the request arrives")
	require.Empty(t, got, "no answer before the gate opens")
	close(gate)
	require.Contains(t, (<-got).body, "at last")
	require.False(t, p.Wait(2, time.Millisecond), "nothing more comes")
}

func TestCloseLetsGoOfWhatHangs(t *testing.T) {
	t.Parallel()
	p := start(t, func(provider.Request) provider.Step { return provider.Broken(provider.SilentBefore) })
	failed := make(chan error, 1)
	go func() {
		r, err := http.NewRequest(http.MethodPost, p.URL+openaiPath, bytes.NewReader([]byte(`{"model":"m","messages":[`+user+`]}`)))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+provider.Key)
			var response *http.Response
			if response, err = http.DefaultClient.Do(r); err == nil {
				_ = response.Body.Close()
			}
		}
		failed <- err
	}()
	require.True(t, p.Wait(1, 30*time.Second))
	p.Close()
	require.Error(t, <-failed)
}
