package compaction

import (
	"time"

	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/session"
	"recap/prompts"
)

// Input is everything a plan is decided from.
type Input struct {
	Log     *session.Log
	Bodies  session.Bodies
	Dialect session.Dialect

	Operation string
	Reason    contract.Reason
	Settings  contract.Settings // zero fields mean their defaults
	Focus     string            // the caller's words, already redacted; "" = none
	// Context lines are shown to the summariser beside the conversation.
	Context []string

	// Window and MaxOutput are the limits of the session's own model in tokens, 0 = unknown.
	Window    int
	MaxOutput int
	// NonMessage is what rides every request of the agent beside the messages (system prompt, tool
	// schemas) in tokens, nil = unknown.
	NonMessage *int

	Prompts prompts.Set
	Now     time.Time
	// LastWrite is when the session was last written to, zero = unknown. A call cannot be told to be
	// abandoned before that is long enough ago.
	LastWrite time.Time
	// InPlace allows decisions that rewrite entries of the live tail when the plan is committed: the
	// session is recap's to write, and its settings ask for it.
	InPlace bool
	// Parallel is how many goroutines may serialise at once; 0 = 1.
	Parallel int
}

// Prepared is a plan with its requests. At least one request is set, unless the plan only reduces.
type Prepared struct {
	Plan       Plan
	History    *transcript.Request
	TurnPrefix *transcript.Request
	// Artifacts keep the original texts that the plan's reductions take out.
	Artifacts []Artifact
}

// Requests returns the requests in the order of their parts.
func (p *Prepared) Requests() []*transcript.Request {
	var list []*transcript.Request
	for _, r := range []*transcript.Request{p.History, p.TurnPrefix} {
		if r != nil {
			list = append(list, r)
		}
	}
	return list
}

// Skip says that there is nothing to do, or that work must stop before any model is asked. Message is
// one line for people.
type Skip struct {
	State   contract.State
	Code    contract.Code
	Message string
	// Warning says that an automatic request found nothing to compact although the context is too
	// large: work that goes on by itself would only ask again. "" otherwise.
	Warning string
}

func (s *Skip) Error() string { return s.Message }

func skipped(code contract.Code, message string) *Skip {
	return &Skip{State: contract.StateSkipped, Code: code, Message: message}
}
