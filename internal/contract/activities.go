package contract

import "encoding/json"

// PreparePlanInput asks for the plan of one request.
type PreparePlanInput struct {
	Request Request `json:"request"`
}

// PreparePlanResult is the plan's small part. Exactly one of End, Reanchor and Plan is set.
type PreparePlanResult struct {
	// End says that the operation is over before any model call: nothing to do, refused, or done before.
	End *Outcome `json:"end,omitempty"`
	// Reanchor names an entry of recap that an agent's append left off the active path; commit puts
	// its text back without a model call.
	Reanchor string `json:"reanchor,omitempty"`
	// Reduced says that the plan only rewrites entries: there is nothing to ask a model for.
	Reduced bool `json:"reduced,omitempty"`
	// Plan is the digest of the plan blob.
	Plan         string             `json:"plan,omitempty"`
	Candidates   []PlannedCandidate `json:"candidates,omitempty"`
	Retry        Retry              `json:"retry"`
	TokensBefore *int               `json:"tokensBefore"`
	FirstKept    string             `json:"firstKept,omitempty"`
	Summarized   int                `json:"summarized"`
	Kept         int                `json:"kept"`
	Warnings     []string           `json:"warnings,omitempty"`
}

// PlannedCandidate is one candidate with the requests it would be sent.
type PlannedCandidate struct {
	Candidate Candidate     `json:"candidate"`
	Calls     []PlannedCall `json:"calls,omitempty"`
	// Refused says why the candidate is not asked: its window does not hold its largest request.
	Refused string `json:"refused,omitempty"`
}

// PlannedCall is one model request of a plan. InputTokens is the conservative estimate.
type PlannedCall struct {
	Part        Part   `json:"part"`
	Request     string `json:"request"` // digest of the rendered request blob
	InputTokens int    `json:"inputTokens"`
	MaxOutput   int    `json:"maxOutput"` // tokens
}

// CallModelInput asks for one model request. The same input always has the same request key, so an
// answer stored under it is returned without asking again (promise G3).
type CallModelInput struct {
	Operation string    `json:"operation"`
	Candidate Candidate `json:"candidate"`
	Part      Part      `json:"part"`
	Request   string    `json:"request"`
	MaxOutput int       `json:"maxOutput"`
	Effort    string    `json:"effort,omitempty"`
	Ordinal   int       `json:"ordinal"`
	// InputTokens is the plan's estimate, for judging silent truncation and bodyless errors.
	InputTokens int `json:"inputTokens"`
	// After is the error class of the last ordinal, when the request is sent again, changed.
	After string `json:"after,omitempty"`
	// Feedback is the blob of what the gate says about the last ordinal's answer, when it was refused.
	Feedback string `json:"feedback,omitempty"`
}

// CallModelResult is an answer (by digest) or a typed failure; a model's failure is never an
// activity error, because Temporal must not repeat it.
type CallModelResult struct {
	Answer    string        `json:"answer,omitempty"`
	Failure   *ModelFailure `json:"failure,omitempty"`
	Reused    bool          `json:"reused,omitempty"`
	StartedAt int64         `json:"startedAt"` // Unix ms
	TookMs    int64         `json:"tookMs"`
	Usage     Usage         `json:"usage"`
	Cost      float64       `json:"cost,omitempty"`
}

// ModelFailure is a classified failure of a model request (spec/providers §3).
type ModelFailure struct {
	Class        string `json:"class"`
	Message      string `json:"message"` // redacted, at most 512 bytes
	Status       int    `json:"status,omitempty"`
	RetryAfterMs int64  `json:"retryAfterMs,omitempty"`
	MaxTokens    int    `json:"maxTokens,omitempty"` // window learned from an overflow text
	PlanMissing  bool   `json:"planMissing,omitempty"`
}

// ReviewInput asks for the assembled final text and its verdict.
type ReviewInput struct {
	Plan    string      `json:"plan"`
	Answers []AnswerRef `json:"answers"`
}

// AnswerRef names a stored answer and says who gave it.
type AnswerRef struct {
	Part      Part   `json:"part"`
	Digest    string `json:"digest"`
	Candidate string `json:"candidate"`
	API       string `json:"api"`
	MaxOutput int    `json:"maxOutput"` // tokens the answer was allowed
}

// Verdict is the gate's decision.
type Verdict string

// The five verdicts of the gate (spec/gate §4a).
const (
	VerdictAccept    Verdict = "accept"
	VerdictRepaired  Verdict = "repaired"
	VerdictRetrySame Verdict = "retrySame"
	VerdictNext      Verdict = "nextCandidate"
	VerdictReject    Verdict = "reject"
)

// ReviewResult is the verdict on the assembled text; Summary is its blob when it was accepted.
type ReviewResult struct {
	Verdict Verdict `json:"verdict"`
	Part    Part    `json:"part,omitempty"` // which answer the reasons are about; empty = the whole
	Reasons []Code  `json:"reasons,omitempty"`
	Repairs []Code  `json:"repairs,omitempty"`
	// Measurements are the gate's numbers by part, "" for the whole: see gate.Measurements.
	Measurements map[Part]json.RawMessage `json:"measurements,omitempty"`
	Feedback     string                   `json:"feedback,omitempty"` // blob of what a model that is asked again is told
	Summary      string                   `json:"summary,omitempty"`
	TokensAfter  *int                     `json:"tokensAfter"`
	PlanMissing  bool                     `json:"planMissing,omitempty"`
}

// CommitInput asks for the one entry. Outcome carries everything known so far.
type CommitInput struct {
	Request  Request       `json:"request"`
	Plan     string        `json:"plan,omitempty"`
	Reanchor string        `json:"reanchor,omitempty"`
	Summary  string        `json:"summary,omitempty"`
	Review   *ReviewResult `json:"review,omitempty"`
	Outcome  Outcome       `json:"outcome"`
	Attempts []Attempt     `json:"attempts,omitempty"` // all of them, for the receipt
	// StartedAt is when the run started, Unix ms: what the caller said about writers is as old as that.
	StartedAt int64 `json:"startedAt,omitempty"`
}

// ConcludeInput asks for the receipt of a run that wrote no entry.
type ConcludeInput struct {
	Request  Request       `json:"request"`
	Plan     string        `json:"plan,omitempty"`
	Review   *ReviewResult `json:"review,omitempty"`
	Outcome  Outcome       `json:"outcome"`
	Attempts []Attempt     `json:"attempts,omitempty"`
}

// CommitResult is the outcome with its receipt; Outcome.State may also be stale, skipped or failed.
type CommitResult struct {
	Outcome Outcome `json:"outcome"`
}

// PublishInput names the events to publish, in order.
type PublishInput struct {
	Events []Event `json:"events"`
}

// PublishResult lists the events the broker did not acknowledge, in order.
type PublishResult struct {
	Unpublished []Event `json:"unpublished,omitempty"`
}

// DeliverEventsInput starts the delivery of what could not be published at once.
type DeliverEventsInput struct {
	Events []Event `json:"events"`
}
