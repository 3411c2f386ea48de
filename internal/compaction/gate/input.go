package gate

import (
	"recap/internal/compaction/gate/secret"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// Version names the rules; it is part of receipts and rises when verdicts may change.
const Version = 2

// DefaultMinSourceTokens is the size below which the checks that compare sizes, demand sections or
// look for copies are off (DESIGN §11).
const DefaultMinSourceTokens = 2000

// Input is one answer with what it must be measured against. Only Text and Finished are needed; what
// is not given is not checked.
type Input struct {
	// Part says which headings the text has. The empty part is the assembled text of both.
	Part contract.Part
	// Text is the answer, as the model gave it.
	Text string
	// Finished is positive evidence that the answer is complete: a finish reason that means done,
	// and the stream's terminator. Adapters return nothing else, so callers that judge a stored
	// answer pass true.
	Finished bool
	// ToolCalls is how many tool calls came with the answer.
	ToolCalls int

	// Source is the conversation the answer summarises, as the model was shown it. Without it only the
	// form is judged.
	Source []transcript.Block
	// PreviousSummary is the summary that was to be updated; it counts as source (DESIGN §11).
	PreviousSummary string
	// Digest is Read(Source, PreviousSummary). Judge makes it when it is nil; who judges several
	// answers to one request makes it once and may leave Source and PreviousSummary empty.
	Digest *Source
	// SourceTokens estimates Source and PreviousSummary together.
	SourceTokens int
	// Instruction is the wording of the request around the conversation, without the focus: what an
	// answer must not copy.
	Instruction string
	// Given is what else the model was shown or told: additional context, the focus. It supports names
	// that the conversation does not have.
	Given []string

	// MaxOutput is the output budget the model was given, in tokens; 0 = unknown.
	MaxOutput int
	// Budget is the policy's cap on the summary, in tokens; 0 = none.
	Budget int
	// Extractive says that the answer is made of quotations by a program: the checks for copies, for a
	// model that got stuck or invents, for size and language are off, because asking again cures nothing.
	Extractive bool
	// MinSourceTokens replaces DefaultMinSourceTokens when it is not 0.
	MinSourceTokens int

	// Ask is the newest request of a user; nil = the gate looks for it in the source, except on small
	// sessions.
	Ask *Ask
	// Protected are values that must be in the text, whatever it costs.
	Protected []string
	// Ledger holds the service's own facts; nil = none.
	Ledger *Ledger
	// Structure and Progress are for the whole; nil = not checked.
	Structure *Structure
	Progress  *Progress
	// Secrets finds credentials; nil = secret.Default().
	Secrets secret.Finder
}

// Small reports whether the source is too small for the checks that compare sizes (DESIGN §11).
func (in *Input) Small() bool {
	limit := in.MinSourceTokens
	if limit == 0 {
		limit = DefaultMinSourceTokens
	}
	return in.SourceTokens < limit
}

func (in *Input) hasSource() bool { return len(in.Digest.stretch) > 0 }

// Measurements are the numbers behind a verdict, for the receipt.
type Measurements struct {
	Letters      int     `json:"letters"`      // letters outside markup; one wide character counts as two
	Sections     int     `json:"sections"`     // known headings found
	Tokens       int     `json:"tokens"`       // estimate of the text, repairs included
	SourceTokens int     `json:"sourceTokens"` // as given
	Echo         float64 `json:"echo"`         // share of 8-word sequences copied from the source, 0 when not measured
	EchoPrompt   float64 `json:"echoPrompt,omitempty"`
	EchoPrevious float64 `json:"echoPrevious,omitempty"`
	MustKeep     int     `json:"mustKeep"`    // anchors mined from the source
	Recall       float64 `json:"recall"`      // weighted share of them in the answer as the model gave it
	RecallAfter  float64 `json:"recallAfter"` // and after the repairs
	Anchors      int     `json:"anchors"`     // distinct paths, ids, URLs and the like in the answer
	Invented     int     `json:"invented"`    // of these, in neither source nor previous summary
	Changed      int     `json:"changed"`     // values at a small distance from one of the source
	Masked       int     `json:"masked"`      // credentials masked
	Language     string  `json:"language,omitempty"`

	details []Detail
}

func (m *Measurements) note(code contract.Code, values ...string) {
	m.details = append(m.details, Detail{Code: code, Values: values})
}

// Result is the verdict. Text is the answer with the repairs applied; it is what may be stored, and
// only when the verdict is VerdictAccept or VerdictRepaired.
type Result struct {
	Verdict      contract.Verdict `json:"verdict"`
	Reasons      []contract.Code  `json:"reasons,omitempty"`
	Repairs      []contract.Code  `json:"repairs,omitempty"`
	Text         string           `json:"-"`
	Details      []Detail         `json:"-"` // what the reasons are about, for Feedback
	Measurements Measurements     `json:"measurements"`
}

// Accepted reports whether the text may replace history.
func (r Result) Accepted() bool {
	return r.Verdict == contract.VerdictAccept || r.Verdict == contract.VerdictRepaired
}

// Feedback is what a model that is asked again is told about its answer.
func (r Result) Feedback() string { return Feedback(r.Reasons, r.Details) }
