// Package model is the port to model providers: one request in, one answer or one classified error
// out, no retries inside (DESIGN §7). Adapters live in sub-packages, one per API, each importing at
// most one vendor library. The package may import transcript and contract, nothing else of ours.
//
// Adapters collect Evidence from the wire and hand it to Finish, which judges it by Classify: one
// pure function for all of them, so that the same fault has the same class everywhere.
package model

import (
	"context"
	"fmt"
	"time"

	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// Call is one request to one candidate.
type Call struct {
	Request   transcript.Request
	MaxOutput int    // tokens, including reasoning
	Effort    string // "" = let the adapter omit it, "off" = ask for no reasoning
	// InputTokens is the conservative estimate of the request, for judging what a provider reports.
	InputTokens int
	Progress    func(outputBytes int) // may be nil; called while the answer streams
}

// Answer is a finished answer with positive evidence: a finish reason that means done, the stream's
// terminator, and text that is not only white space.
type Answer struct {
	Text         string         `json:"text"`
	FinishReason string         `json:"finishReason"` // as the provider says it
	Model        string         `json:"model"`        // as the provider says it
	RequestID    string         `json:"requestId,omitempty"`
	Usage        contract.Usage `json:"usage"`
}

// Client asks one candidate. Complete returns an *Error for everything that is not a finished
// answer. It is safe for concurrent use and never retries.
type Client interface {
	Complete(ctx context.Context, call Call) (Answer, error)
	// Endpoint identifies where requests go (no secrets); it is part of the request key.
	Endpoint() string
}

// Class is an error class of spec/providers §3.1.
type Class string

// Error classes.
const (
	ClassTransient   Class = "transient"
	ClassRateLimited Class = "rateLimited"
	ClassTimeout     Class = "timeout"
	ClassQuota       Class = "quota"
	ClassAuth        Class = "auth"
	ClassOverflow    Class = "overflow"
	ClassPayload     Class = "payload" // request body too many bytes (413) although the estimate fits
	ClassRefused     Class = "refused"
	ClassUnsupported Class = "unsupported"
	ClassInvalid     Class = "invalid" // invalid for this candidate, or our bug when two vendors agree
	ClassEmpty       Class = "empty"
	ClassTruncated   Class = "truncated"
	ClassBadOutput   Class = "badOutput"
	ClassCanceled    Class = "canceled"
)

// Classes lists every Class, for metrics that must start at zero.
var Classes = []Class{
	ClassTransient, ClassRateLimited, ClassTimeout, ClassQuota, ClassAuth, ClassOverflow, ClassPayload, ClassRefused,
	ClassUnsupported, ClassInvalid, ClassEmpty, ClassTruncated, ClassBadOutput, ClassCanceled,
}

// Error is a classified failure of one request.
type Error struct {
	Class      Class
	Candidate  string
	Status     int           // HTTP, 0 when no response came
	Code, Type string        // the provider's own words
	RequestID  string        // the provider's
	RetryAfter time.Duration // the server's hint, 0 = none
	// Used and Max are tokens named by an overflow text, 0 = none. Used below Max means that the
	// input alone fits: a smaller output cap may do.
	Used, Max int
	Phase     Phase  // how far the request came; for ClassTimeout, which limit ran out
	Excerpt   string // of the body, redacted, at most 512 bytes
	Usage     contract.Usage
	Err       error
}

func (e *Error) Error() string {
	msg := fmt.Sprintf("model %s: %s", e.Candidate, e.Class)
	if e.Status != 0 {
		msg += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Code != "" {
		msg += " " + e.Code
	}
	if e.Excerpt != "" {
		msg += ": " + e.Excerpt
	} else if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg
}

func (e *Error) Unwrap() error { return e.Err }

// Timeouts are the four limits of one request; zero means the default (10 s, 120 s, 60 s, 15 min).
type Timeouts struct {
	Connect   time.Duration // until the connection stands
	FirstByte time.Duration // until the response's first event or body byte
	Idle      time.Duration // between stream events
	Total     time.Duration // for everything
}

// Default timeouts of a candidate (DESIGN §9).
const (
	DefaultConnect   = 10 * time.Second
	DefaultFirstByte = 120 * time.Second
	DefaultIdle      = 60 * time.Second
	DefaultTotal     = 15 * time.Minute
)

// WithDefaults fills zero limits.
func (t Timeouts) WithDefaults() Timeouts {
	if t.Connect == 0 {
		t.Connect = DefaultConnect
	}
	if t.FirstByte == 0 {
		t.FirstByte = DefaultFirstByte
	}
	if t.Idle == 0 {
		t.Idle = DefaultIdle
	}
	if t.Total == 0 {
		t.Total = DefaultTotal
	}
	return t
}

// Price is in US dollars per million tokens; zero fields cost nothing.
type Price struct {
	Input, Output, CacheRead, CacheWrite float64
}

// Cost prices a usage.
func (p Price) Cost(u contract.Usage) float64 {
	return (p.Input*float64(u.InputTokens) + p.Output*float64(u.OutputTokens) +
		p.CacheRead*float64(u.CacheReadTokens) + p.CacheWrite*float64(u.CacheWriteTokens)) / 1e6
}

// Config is one configured candidate, as adapters are built from it. Key resolves the API key at
// every call, so a rotated key is picked up; it never leaves the process.
type Config struct {
	ID              string // provider/model
	Model           string // what the API is sent; the part of ID after the first slash unless configured
	BaseURL         string
	Key             func() (string, error)
	Headers         map[string]string
	ContextWindow   int
	MaxOutputTokens int
	MaxTokensField  string // openai-chat: max_completion_tokens (default) or max_tokens
	Timeouts        Timeouts
	Price           Price
}
