package model

import (
	"bytes"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// failure is what a provider says went wrong, whatever shape it said it in (spec/providers §3.2).
type failure struct {
	message    string
	code, kind string   // the provider's own code and type
	words      []string // every code-like word, lower case, the most specific first
	status     int      // an HTTP status named inside the body, 0 = none
	requestID  string
	retry      time.Duration // a hint inside the body
	daily      bool          // the limit is one of a day or a month
	used, max  int           // tokens named in fields or text
}

// maxMessage bounds how much text is searched. No provider needs more to say what is wrong.
const maxMessage = 8 << 10

// maxNesting bounds how deep an error is unpacked that holds another provider's error as text.
const maxNesting = 3

// parseFailure reads an error body of any known shape. A body that is no JSON is its own message,
// except a page of HTML, which says nothing about the request.
func parseFailure(body []byte, h http.Header) failure {
	var f failure
	if t := h.Get("x-amzn-errortype"); t != "" {
		f.word(t)
	}
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
	case gjson.ValidBytes(body):
		f.read(gjson.ParseBytes(body), 0)
	case body[0] != '<':
		f.message = clip(string(body), maxMessage)
	}
	f.message = clip(f.message, maxMessage)
	return f
}

// text is what to show of the failure: the message, else the body.
func (f *failure) text(body []byte) string {
	if f.message != "" {
		return f.message
	}
	return string(body)
}

// word adds a code-like word. AWS types come as Name:http://….
func (f *failure) word(w string) {
	w, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(w)), ":")
	if i := strings.LastIndexByte(w, '#'); i >= 0 {
		w = w[i+1:]
	}
	if w != "" && len(w) < 80 {
		f.words = append(f.words, w)
	}
}

// read takes in one JSON value: an error, or something that holds one.
func (f *failure) read(v gjson.Result, depth int) {
	if depth > maxNesting {
		return
	}
	switch {
	case v.IsArray():
		for _, item := range v.Array() {
			f.read(item, depth+1)
		}
	case v.IsObject():
		f.readObject(v, depth)
	case v.Type == gjson.String:
		f.say(v.Str, depth)
	}
}

// Where an error may hide inside an object, and what in it is a message.
var (
	wrappers = []string{"error", "detail", "errors", "response.error"}
	messages = []string{"message", "msg", "Message", "error_message", "title"}
)

func (f *failure) readObject(v gjson.Result, depth int) {
	if id := v.Get("request_id"); id.Type == gjson.String {
		f.requestID = id.Str
	}
	for _, name := range wrappers {
		if inner := v.Get(name); inner.Exists() && inner.Type != gjson.Null {
			f.read(inner, depth+1)
		}
	}
	f.readMetadata(v.Get("metadata"), depth)
	f.readDetails(v.Get("details"))
	for _, path := range []string{"details.error_code", "innererror.code", "reason"} {
		if w := v.Get(path); w.Type == gjson.String {
			f.word(w.Str)
		}
	}
	switch code := v.Get("code"); code.Type {
	case gjson.String:
		if n, err := strconv.Atoi(code.Str); err == nil {
			f.setStatus(n)
		} else {
			f.word(code.Str)
			f.code = first(f.code, code.Str)
		}
	case gjson.Number:
		f.setStatus(int(code.Int()))
	}
	for _, path := range []string{"type", "status"} {
		if w := v.Get(path); w.Type == gjson.String && w.Str != "error" {
			f.word(w.Str)
			f.kind = first(f.kind, w.Str)
		}
	}
	if code := v.Get("details.error_code"); code.Type == gjson.String {
		f.code = first(f.code, code.Str)
	}
	f.used = firstInt(f.used, v.Get("n_prompt_tokens"))
	f.max = firstInt(f.max, v.Get("n_ctx"))
	for _, name := range messages {
		if m := v.Get(name); m.Type == gjson.String && m.Str != "" {
			f.say(m.Str, depth)
			break
		}
	}
}

// readMetadata reads what OpenRouter adds: an error type of its own and the upstream's body as text.
func (f *failure) readMetadata(v gjson.Result, depth int) {
	if w := v.Get("error_type"); w.Type == gjson.String {
		f.word(w.Str)
		f.code = first(f.code, w.Str)
	}
	switch raw := v.Get("raw"); {
	case raw.Type == gjson.String && gjson.Valid(raw.Str):
		f.read(gjson.Parse(raw.Str), depth+1)
	case raw.Type == gjson.String:
		f.say(raw.Str, depth+1)
	case raw.IsObject():
		f.read(raw, depth+1)
	}
}

// readDetails reads Google's typed details: a retry hint, a violated quota, a reason.
func (f *failure) readDetails(v gjson.Result) {
	if !v.IsArray() {
		return
	}
	for _, d := range v.Array() {
		if s := d.Get("retryDelay"); s.Type == gjson.String {
			if wait, err := time.ParseDuration(s.Str); err == nil && wait > 0 {
				f.retry = wait
			}
		}
		if s := d.Get("reason"); s.Type == gjson.String {
			f.word(s.Str)
		}
		for _, q := range d.Get("violations").Array() {
			if id := q.Get("quotaId").Str; strings.Contains(id, "PerDay") || strings.Contains(id, "PerMonth") {
				f.daily = true
			}
		}
	}
}

// liteLLM finds the exception name a proxy puts in front of the upstream's text.
var liteLLM = regexp.MustCompile(`litellm\.(?:exceptions\.)?([A-Za-z]+)`)

// say adds a message. A proxy's message may hold an exception name and the upstream's JSON.
func (f *failure) say(text string, depth int) {
	text = clip(text, maxMessage)
	if m := liteLLM.FindStringSubmatch(text); m != nil {
		f.word(m[1])
	}
	if i := strings.IndexByte(text, '{'); i >= 0 && depth < maxNesting {
		if j := strings.LastIndexByte(text, '}'); j > i && gjson.Valid(text[i:j+1]) {
			f.read(gjson.Parse(text[i:j+1]), depth+1)
		}
	}
	if strings.Contains(f.message, text) {
		return
	}
	if f.message != "" {
		f.message += "; "
	}
	f.message += text
	if dailyText.MatchString(text) {
		f.daily = true
	}
}

func (f *failure) setStatus(n int) {
	if f.status == 0 && n >= 300 && n <= 599 {
		f.status = n
	}
}

// rateClass tells what a rate-limit text means: a quota that will not come back soon, a request
// that can never pass at this tier, or a wait.
func (f *failure) rateClass() Class {
	if class, ok := exactClass(f.words); ok && (class == ClassQuota || class == ClassAuth) {
		return class
	}
	if quotaText.MatchString(f.message) {
		return ClassQuota
	}
	if m := tierText.FindStringSubmatch(f.message); m != nil {
		limit, requested := number(m[1]), number(m[2])
		if limit > 0 && requested > limit {
			f.used, f.max = requested, limit
			return ClassOverflow
		}
	}
	return ClassRateLimited
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func firstInt(a int, v gjson.Result) int {
	if a != 0 || v.Type != gjson.Number || v.Num < 0 || v.Num > maxTokens {
		return a
	}
	return int(v.Num)
}

// clip cuts s to at most n bytes at a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
