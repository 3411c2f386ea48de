package contract

// State is the terminal state of an operation. It alone decides event name, metric label, exit
// code and how the workflow closes (DESIGN §4).
type State string

// The terminal states.
const (
	StateCommitted     State = "committed"
	StateReturned      State = "returned"
	StateSkipped       State = "skipped"
	StateStale         State = "stale"
	StateRejected      State = "rejected"
	StateFailed        State = "failed"
	StateNeedsOperator State = "needsOperator"
	StateCancelled     State = "cancelled"
)

// States lists every State, for metrics that must start at zero.
var States = []State{
	StateCommitted, StateReturned, StateSkipped, StateStale, StateRejected, StateFailed, StateNeedsOperator, StateCancelled,
}

// Code is a reason code, from a closed set; the message beside it is for people.
type Code string

// Reason codes of outcomes.
const (
	CodeNone Code = ""

	// skipped
	CodeNothingToCompact Code = "nothingToCompact" // everything fits the kept tail, or the leaf is a compaction already
	CodeEmptySession     Code = "emptySession"     // no message yet
	CodeCallInFlight     Code = "callInFlight"     // an unanswered tool call at the leaf, younger than ten minutes
	CodeLiveWriter       Code = "liveWriter"       // an agent may have the session open
	CodeBusy             Code = "busy"             // another worker holds the session's lock
	CodeBelowThreshold   Code = "belowThreshold"   // an automatic request for a session under its threshold
	CodeUnchanged        Code = "unchangedInput"   // an automatic request failed on this very state of the session before
	CodeDisabled         Code = "disabled"         // the settings switch operations of this reason off
	CodeAlreadyApplied   Code = "alreadyApplied"   // the operation's entry is in the session

	// committed
	CodeReanchored Code = "reanchored" // an orphaned entry of recap was put back on the path, without a model call

	CodeReduced Code = "reduced" // rewriting entries in place was enough, without a summary

	// stale
	CodeBranchMoved    Code = "branchMoved"    // the prepared leaf is no ancestor of the present leaf
	CodeSessionChanged Code = "sessionChanged" // the file changed identity or its boundary is off the path
	CodeSessionGone    Code = "sessionGone"    // cleared or deleted meanwhile

	// rejected: the gate's codes, see package gate
	CodeGateRefused Code = "gateRefused"

	// failed
	CodeNotASession       Code = "notASession"
	CodeSessionNotFound   Code = "sessionNotFound"
	CodeNewerVersion      Code = "newerVersion"   // a session format newer than this recap knows
	CodeDamagedSession    Code = "damagedSession" // parent missing, cyclic, or a damaged line holds a referenced entry
	CodeUnreadable        Code = "unreadable"     // permission or I/O while reading
	CodeStoreWrite        Code = "storeWrite"     // disk full, permission or I/O while writing
	CodeCandidatesFailed  Code = "candidatesFailed"
	CodeInvalidRequest    Code = "invalidRequest" // two vendors called our request invalid: a bug of ours
	CodeInternal          Code = "internal"
	CodeTooLarge          Code = "tooLarge" // no candidate's window holds the request
	CodeAttemptsExhausted Code = "attemptsExhausted"
	CodePlanMissing       Code = "planMissing"

	// needsOperator
	CodeNoCandidate  Code = "noCandidate"  // nothing configured, or the session's own model is not
	CodeUnknownModel Code = "unknownModel" // a named candidate is not configured
	CodeQuota        Code = "quota"
	CodeCredentials  Code = "credentials"
	CodeRateLimited  Code = "rateLimited" // every candidate stayed rate limited, however often it was asked
	CodeWaitTooLong  Code = "waitTooLong"

	// cancelled
	CodeCancelled Code = "cancelled"
)

// Usage counts tokens as providers bill them, normalised: InputTokens excludes cached tokens.
// Estimated says that a provider reported nothing and the numbers are ours.
type Usage struct {
	InputTokens      int  `json:"inputTokens"`
	OutputTokens     int  `json:"outputTokens"`
	CacheReadTokens  int  `json:"cacheReadTokens,omitempty"`
	CacheWriteTokens int  `json:"cacheWriteTokens,omitempty"`
	ReasoningTokens  int  `json:"reasoningTokens,omitempty"`
	Estimated        bool `json:"estimated,omitempty"`
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		ReasoningTokens:  u.ReasoningTokens + v.ReasoningTokens,
		Estimated:        u.Estimated || v.Estimated,
	}
}

// Part names which text of a compaction a model request writes.
type Part string

// The parts of a compaction.
const (
	PartHistory    Part = "history"
	PartTurnPrefix Part = "turnPrefix"
)

// Attempt is one model request and how it ended: Class is empty for an accepted answer, else one of
// the error classes of package model or "gate". Times are Unix milliseconds, Cost is in US dollars.
type Attempt struct {
	Number    int     `json:"number"`
	Part      Part    `json:"part"`
	Candidate string  `json:"candidate"`
	Ordinal   int     `json:"ordinal"`
	Class     string  `json:"class,omitempty"`
	Reasons   []Code  `json:"reasons,omitempty"` // gate reasons
	Message   string  `json:"message,omitempty"` // redacted, at most 512 bytes
	Status    int     `json:"status,omitempty"`  // HTTP
	StartedAt int64   `json:"startedAt"`
	TookMs    int64   `json:"tookMs"`
	DelayMs   int64   `json:"delayMs,omitempty"` // waited before this attempt
	Answer    string  `json:"answer,omitempty"`  // digest of the stored answer
	Reused    bool    `json:"reused,omitempty"`  // the answer had been stored by an earlier run: nothing was paid
	Usage     Usage   `json:"usage"`
	Cost      float64 `json:"cost,omitempty"`
}

// OutcomeAttempts is how many of the last attempts an Outcome carries; the receipt has all.
const OutcomeAttempts = 20

// LastAttempts are those of all attempts that an Outcome carries.
func LastAttempts(all []Attempt) []Attempt { return all[max(0, len(all)-OutcomeAttempts):] }

// Outcome is how an operation ended. It holds no text of a session or a summary.
type Outcome struct {
	Operation        string     `json:"operation"`
	Attempt          int        `json:"attempt"`
	Session          SessionRef `json:"session"`
	State            State      `json:"state"`
	Reason           Code       `json:"reason,omitempty"`
	Message          string     `json:"message"`
	EntryID          string     `json:"entryId,omitempty"`
	FirstKeptEntryID string     `json:"firstKeptEntryId,omitempty"`
	TokensBefore     *int       `json:"tokensBefore"` // null when it could not be measured
	TokensAfter      *int       `json:"tokensAfter"`
	Summarized       int        `json:"summarized"`        // messages
	Kept             int        `json:"kept"`              // messages
	Reduced          int        `json:"reduced,omitempty"` // entries rewritten in place
	Stages           int        `json:"stages"`
	Candidate        string     `json:"candidate,omitempty"`
	Attempts         []Attempt  `json:"attempts,omitempty"`
	Usage            Usage      `json:"usage"`
	Cost             float64    `json:"cost"`
	WillRetry        bool       `json:"willRetry"`
	DeadEnd          bool       `json:"deadEnd,omitempty"`   // the context is still over its bar: automatic work should pause
	StartedAt        int64      `json:"startedAt,omitempty"` // Unix ms, of the run
	TookMs           int64      `json:"tookMs,omitempty"`    // the run, waits included
	Warnings         []string   `json:"warnings,omitempty"`  // integrity warnings, without content
	Receipt          string     `json:"receipt,omitempty"`   // blob digest
	Summary          string     `json:"summary,omitempty"`   // blob digest of the final text
}

// Succeeded reports whether the state closes the workflow as completed.
func (s State) Succeeded() bool {
	switch s {
	case StateCommitted, StateReturned, StateSkipped, StateStale:
		return true
	}
	return false
}

// EventName is the name of the terminal event of a state.
func (s State) EventName() string {
	if s == StateNeedsOperator {
		return "needs_operator"
	}
	return string(s)
}

// Status is the answer to QueryStatus: what a run is doing now. Times are Unix milliseconds.
type Status struct {
	Operation    string    `json:"operation"`
	Attempt      int       `json:"attempt"`
	Phase        Phase     `json:"phase"`
	Candidate    string    `json:"candidate,omitempty"`
	WaitingUntil int64     `json:"waitingUntil,omitempty"`
	WaitingFor   string    `json:"waitingFor,omitempty"` // error class waited out
	Done         int       `json:"done"`
	Total        int       `json:"total"`
	Attempts     []Attempt `json:"attempts,omitempty"`
	Outcome      *Outcome  `json:"outcome,omitempty"`
}

// Phase is where a run is.
type Phase string

// Phases of a run.
const (
	PhasePreparing   Phase = "preparing"
	PhaseSummarizing Phase = "summarizing"
	PhaseWaiting     Phase = "waiting"
	PhaseReviewing   Phase = "reviewing"
	PhaseCommitting  Phase = "committing"
	PhaseDone        Phase = "done"
)
