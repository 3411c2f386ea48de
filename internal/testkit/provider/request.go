package provider

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// API is a wire format.
type API string

// Wire formats.
const (
	OpenAI    API = "openai-chat"
	Anthropic API = "anthropic-messages"
)

// Request is a request as it arrived.
type Request struct {
	N      int // the first is 1
	API    API
	Header http.Header
	Body   []byte
	Key    string // the credential that was sent
	Model  string
	System string // every system text, joined by newlines
	User   string // the text of the last user message
	Stream bool
	// MaxTokens is the output cap, 0 = none.
	MaxTokens int
	// Tokens is the server's estimate of the prompt: text bytes / 4, rounded up.
	Tokens int
	// Malformed says what a vendor would refuse, "" when nothing.
	Malformed string
}

func parse(api API, r *http.Request, body []byte) Request {
	q := Request{API: api, Header: r.Header.Clone(), Body: body, Key: credential(api, r.Header)}
	if !gjson.ValidBytes(body) || !gjson.ParseBytes(body).IsObject() {
		q.Malformed = "We could not parse the JSON body of your request."
		return q
	}
	v := gjson.ParseBytes(body)
	q.Model, q.Stream = v.Get("model").Str, v.Get("stream").Bool()
	switch api {
	case OpenAI:
		q.MaxTokens = int(v.Get("max_completion_tokens").Int() + v.Get("max_tokens").Int())
	case Anthropic:
		q.MaxTokens = int(v.Get("max_tokens").Int())
		q.System = text(v.Get("system"))
	}
	size := len(q.System)
	for _, m := range v.Get("messages").Array() {
		content := text(m.Get("content"))
		size += len(content) + len(m.Get("tool_calls").Raw)
		switch m.Get("role").Str {
		case "system", "developer":
			q.System = strings.TrimPrefix(q.System+"\n"+content, "\n")
		case "user":
			q.User = content
		}
	}
	q.Tokens = (size + len(v.Get("tools").Raw) + 3) / 4
	q.Malformed = check(api, r, v)
	return q
}

// credential is the key of a request: a bearer token, or this API's own header.
func credential(api API, h http.Header) string {
	if key := h.Get("X-Api-Key"); api == Anthropic && key != "" {
		return key
	}
	bearer, _ := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	return bearer
}

// text is the text of a content field: a string, or parts.
func text(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var parts []string
	for _, part := range content.Array() {
		if t := part.Get("text"); t.Type == gjson.String {
			parts = append(parts, t.Str)
		} else if t := part.Get("content"); t.Exists() {
			parts = append(parts, text(t))
		}
	}
	return strings.Join(parts, "\n")
}
