package model

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"recap/internal/contract"
)

// Phase says how far a request came before it failed. For ClassTimeout it names the limit instead.
type Phase string

// Phases of a request, in order.
const (
	PhasePrepare  Phase = "prepare"  // nothing was sent: key, address or parameters are wrong
	PhaseConnect  Phase = "connect"  // no connection, or (timeout) not in time
	PhaseHeaders  Phase = "headers"  // connected, no response
	PhaseBody     Phase = "body"     // while a whole body was read
	PhaseStream   Phase = "stream"   // between events of a stream
	PhaseDecode   Phase = "decode"   // the bytes are no answer of this API
	PhaseValidate Phase = "validate" // an answer, but not a finished one
)

// Limits of a request that a TimeoutError names (Timeouts).
const (
	LimitConnect   Phase = "connect"
	LimitFirstByte Phase = "firstByte"
	LimitIdle      Phase = "idle"
	LimitTotal     Phase = "total"
)

// TimeoutError says which of the four limits of Timeouts a request ran into.
type TimeoutError struct {
	Limit Phase
	After time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("no answer within the %s limit of %s", e.Limit, e.After)
}

// ErrTooLarge reports an answer, or one line of a stream, over the size cap.
var ErrTooLarge = errors.New("the answer is larger than the size cap")

// Evidence is everything that is known about one request when it has ended. Adapters fill it in
// from the wire; no field comes from the text of a vendor library's error.
type Evidence struct {
	Candidate string
	Secrets   []string  // what was sent to authenticate; it is removed from excerpts
	Now       time.Time // for dates in headers

	// Context is the error of the caller's context, nil while it lives.
	Context error
	// Transport is why the exchange broke, nil when the response was read to its end. Phase is where.
	Transport error
	Phase     Phase

	Status      int         // HTTP, 0 when no response came
	Header      http.Header // of the response
	ContentType string      // media type of the response
	// Failure holds the body of an error response, or the payload of an error event in a stream.
	Failure []byte

	// What the answer said, as far as it came.
	Text       string // without reasoning
	Reasoning  bool   // reasoning was seen
	ToolCall   bool   // a tool call was seen
	Refusal    bool   // a refusal was seen beside the finish reason
	Finish     string // the finish reason as the provider says it, "" = none came
	Terminated bool   // the stream's terminator was seen, or a whole JSON body
	Undecoded  bool   // a part of the answer was no JSON of this API
	Model      string
	RequestID  string
	Usage      *contract.Usage // nil = none reported

	// What was asked.
	InputTokens int // conservative estimate, an upper bound
	InputBytes  int // of the request's text, for a lower bound
	Window      int // of the candidate, 0 = unknown
}

// reported is how many tokens the provider says it read, and whether it said so.
func (e *Evidence) reported() (int, bool) {
	if e.Usage == nil {
		return 0, false
	}
	n := e.Usage.InputTokens + e.Usage.CacheReadTokens + e.Usage.CacheWriteTokens
	return n, n > 0
}

// usage is the reported usage, or zero.
func (e *Evidence) usage() contract.Usage {
	if e.Usage == nil {
		return contract.Usage{}
	}
	return *e.Usage
}
