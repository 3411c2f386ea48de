package provider

import (
	"net/http"
	"time"
)

// Fault is what goes wrong with the connection.
type Fault int

// Faults. Those that say "after" come when Step.After pieces of the text have been sent.
const (
	NoFault       Fault = iota
	DieBefore           // the connection is reset before any header
	SilentBefore        // nothing comes, and the connection stays open
	SilentHeaders       // headers come, then nothing
	SilentAfter         // after: nothing more, and the connection stays open
	CutAfter            // after: the connection is reset
	EndAfter            // after: the stream ends as if it were complete, without finish and terminator
	HalfBody            // the body is half as long as it claims to be, and the connection closes
)

// Usage is what the server reports as used. Prompt includes Cached, as in the OpenAI format; the
// Anthropic format is derived from it.
type Usage struct {
	Prompt, Cached, CacheWrite, Output, Reasoning int
}

// Step is one answer. The zero value is an empty but complete answer.
type Step struct {
	// The answer.
	Text      string
	Reasoning string // as the API's own reasoning, not as text
	Finish    string // "" = the API's word for done
	ToolCall  bool   // call a tool named bash after the text
	Refusal   string // OpenAI's refusal field; in the Anthropic format it is text
	Usage     *Usage // nil = what the server estimates
	NoUsage   bool   // report none

	// Its shape.
	Pieces       int           // how many deltas the text comes in; 0 = 4
	Unary        bool          // answer with one JSON body although a stream was asked for
	Pings        int           // comments (OpenAI) or ping events (Anthropic) before each piece
	Every        time.Duration // a pause before each piece and each ping
	NoTerminator bool          // leave out [DONE] or message_stop, end the stream cleanly
	NoFinish     bool          // leave out the finish reason

	// Instead of an answer: a status, headers and a body, as they are.
	Status int
	Header http.Header
	Body   string

	// ErrorEvent is sent as an error event after After pieces, and ends the stream.
	ErrorEvent string

	Fault Fault
	After int

	// Hold and HoldBody delay the whole answer, or the text after After pieces, until the channel is
	// closed, the client leaves or the server closes. HoldEnd keeps the connection open after a
	// complete answer.
	Hold, HoldBody, HoldEnd <-chan struct{}
}

// Text answers with a text.
func Text(text string) Step { return Step{Text: text} }

// Status answers with a status and a body, and header pairs: name, value, name, value…
func Status(status int, body string, headers ...string) Step {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return Step{Status: status, Header: h, Body: body}
}

// Page answers with a status and a page of HTML, as gateways and captive portals do.
func Page(status int) Step {
	return Status(status, "<!doctype html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>",
		"Content-Type", "text/html; charset=utf-8")
}

// ErrorIn200 answers with status 200 and a JSON body that is an error, as OpenRouter does.
func ErrorIn200(body string) Step { return Status(http.StatusOK, body) }

// ErrorEvent sends an error event in the middle of a stream that began well.
func ErrorEvent(payload string) Step {
	return Step{Text: "## Goal\nA text that will not be finished.", ErrorEvent: payload, After: 2}
}

// Broken answers with a fault of the connection.
func Broken(fault Fault) Step {
	return Step{Text: "## Goal\nA text that will not be finished.", Fault: fault, After: 2}
}

// Held gives an answer once the channel is closed.
func Held(until <-chan struct{}, then Step) Step {
	then.Hold = until
	return then
}

// Thinking answers with reasoning alone.
func Thinking() Step { return Step{Reasoning: "I should list what matters."} }

// ToolCall answers with a call of a tool.
func ToolCall() Step { return Step{ToolCall: true} }

// Refusal refuses to answer.
func Refusal() Step {
	return Step{Refusal: "I can't help with this conversation.", Finish: "refusal"}
}

// Length answers with a text that was cut at the output cap.
func Length(text string) Step { return Step{Text: text, Finish: "length"} }

// CutInput answers well, but says that it read only so many tokens, as servers do that cut a long
// prompt without a word.
func CutInput(read int, then Step) Step {
	then.Usage = &Usage{Prompt: read, Output: len(then.Text) / 4}
	return then
}
