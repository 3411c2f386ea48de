package contract

import (
	"fmt"
	"slices"
)

// Reason says why an operation was asked for.
type Reason string

// The reasons an operation can be asked for.
const (
	ReasonManual         Reason = "manual"
	ReasonThreshold      Reason = "threshold"
	ReasonOverflow       Reason = "overflow"
	ReasonIncomplete     Reason = "incomplete"
	ReasonMidTurn        Reason = "midTurn"
	ReasonIdle           Reason = "idle"
	ReasonProviderSwitch Reason = "providerSwitch"
)

// Reasons lists every Reason.
var Reasons = []Reason{
	ReasonManual, ReasonThreshold, ReasonOverflow, ReasonIncomplete, ReasonMidTurn, ReasonIdle, ReasonProviderSwitch,
}

// StrategySummary is the compaction strategy that lets a model write a summary.
const StrategySummary = "summary"

// Writer says what the caller knows about other writers of the session (DESIGN §6).
type Writer string

// What a caller can know about other writers.
const (
	WriterNone Writer = "none" // no agent has the session open
	WriterLive Writer = "live" // unknown: the session must have been quiet before recap writes
)

// CommitMode says who writes the compaction entry.
type CommitMode string

// Who writes the compaction entry.
const (
	CommitStore  CommitMode = "store"  // recap appends it to the session
	CommitReturn CommitMode = "return" // recap hands it to the caller, who owns the session file
)

// Settings are the compaction settings of one operation, named as the reference agents name them.
// Sizes are in tokens. The zero value of a field means its default.
type Settings struct {
	KeepRecentTokens int    `json:"keepRecentTokens,omitempty"` // default 10000
	ReserveTokens    *int   `json:"reserveTokens,omitempty"`    // nil = unset, which is not the same as 16384
	Threshold        string `json:"threshold,omitempty"`        // auto, 85%, 170000, reserve
	FileList         string `json:"fileList,omitempty"`         // "" = <files> tree, "flat" = two lists
	ThinkingLevel    string `json:"thinkingLevel,omitempty"`    // effort asked of a summariser; "" = high, "off" = none
	QuietForMs       int64  `json:"quietForMs,omitempty"`       // default 600000: silence before a store commit beside an unknown writer
	SkipDamaged      bool   `json:"skipDamaged,omitempty"`      // go on although damaged lines hold referenced entries

	// ReduceInPlace lets a commit to the store rewrite entries of the kept tail, with a backup: outputs
	// that say nothing any more, repeat a newer one, or keep the tail over its budget.
	ReduceInPlace bool `json:"reduceInPlace,omitempty"`

	// The switches are on unless they are false: see On.
	Enabled        *bool `json:"enabled,omitempty"`        // operations nobody asked for, but idle ones
	MidTurnEnabled *bool `json:"midTurnEnabled,omitempty"` // between two requests of a turn
	AutoContinue   *bool `json:"autoContinue,omitempty"`   // the agent goes on by itself afterwards
	SupersedeReads *bool `json:"supersedeReads,omitempty"` // older reads of a file give way to a newer one
	DropUseless    *bool `json:"dropUseless,omitempty"`    // results marked as uneventful are dropped
	Remote         *bool `json:"remote,omitempty"`         // compaction on the provider's side

	ThresholdFrom         string `json:"thresholdFrom,omitempty"`         // the retired setting Threshold was read from
	ModelContextWindow    int    `json:"modelContextWindow,omitempty"`    // 0 = each candidate's own
	ModelFallbackStrategy string `json:"modelFallbackStrategy,omitempty"` // "" = auto, "configured-only" = nobody but compaction.model
	HandoffSaveToDisk     bool   `json:"handoffSaveToDisk,omitempty"`
	MinSourceTokens       int    `json:"minSourceTokens,omitempty"` // of the gate, default 2000

	IdleEnabled         bool `json:"idleEnabled,omitempty"`
	IdleThresholdTokens int  `json:"idleThresholdTokens,omitempty"` // default 200000
	IdleTimeoutSeconds  int  `json:"idleTimeoutSeconds,omitempty"`  // default 300
}

// Who is asked after the candidates of compaction.model: ModelFallbackStrategy.
const (
	FallbackAuto           = "auto"
	FallbackConfiguredOnly = "configured-only"
)

// On reads a switch of Settings that is on unless it is false.
func On(enabled *bool) bool { return enabled == nil || *enabled }

// Defaults of Settings.
const (
	DefaultKeepRecentTokens = 10000
	DefaultReserveTokens    = 16384
	DefaultQuietForMs       = 10 * 60 * 1000

	DefaultMinSourceTokens     = 2000
	DefaultIdleThresholdTokens = 200000
	DefaultIdleTimeoutSeconds  = 300
)

// WithDefaults returns a copy in which every zero value that has a default holds it.
// ReserveTokens stays as it is: being unset is information (spec/summary §2.5).
func (s Settings) WithDefaults() Settings {
	if s.KeepRecentTokens == 0 {
		s.KeepRecentTokens = DefaultKeepRecentTokens
	}
	if s.Threshold == "" {
		s.Threshold = "auto"
	}
	if s.QuietForMs == 0 {
		s.QuietForMs = DefaultQuietForMs
	}
	if s.IdleEnabled && s.IdleThresholdTokens == 0 {
		s.IdleThresholdTokens = DefaultIdleThresholdTokens
	}
	if s.IdleEnabled && s.IdleTimeoutSeconds == 0 {
		s.IdleTimeoutSeconds = DefaultIdleTimeoutSeconds
	}
	return s
}

// Candidate is what the workflow knows of one model candidate: no key, no URL, no header.
// Token counts are the operator's declared limits.
type Candidate struct {
	ID              string `json:"id"`  // provider/model
	API             string `json:"api"` // openai-chat, anthropic-messages, extractive, …
	ContextWindow   int    `json:"contextWindow"`
	MaxOutputTokens int    `json:"maxOutputTokens,omitempty"`
	Effort          string `json:"effort,omitempty"`
	TotalTimeoutMs  int64  `json:"totalTimeoutMs"` // the client's own total limit for one request
}

// Retry is the retry policy of one candidate (DESIGN §7), recorded in the plan.
type Retry struct {
	Enabled     bool  `json:"enabled"`
	MaxRetries  int   `json:"maxRetries"`  // tries after the first, for transient failures
	BaseDelayMs int64 `json:"baseDelayMs"` // doubles with each try, capped at 60 s
	MaxWaitMs   int64 `json:"maxWaitMs"`   // longest durable wait before needsOperator
}

// Request asks for one operation on one session. One RequestID is one operation, however often it
// is sent (promise G2). Focus and settings are redacted before they get here.
type Request struct {
	RequestID string     `json:"requestId"`
	Operation string     `json:"operation"`
	Attempt   int        `json:"attempt"` // 1, and one more with each operator retry
	Session   SessionRef `json:"session"`
	Reason    Reason     `json:"reason"`
	Strategy  string     `json:"strategy"`
	Focus     string     `json:"focus,omitempty"`
	Settings  Settings   `json:"settings"`
	Writer    Writer     `json:"writer"`
	Commit    CommitMode `json:"commit"`
	Models    []string   `json:"models,omitempty"` // candidate ids in order; empty = the worker's configuration
}

// Normalize fills what a caller may leave out. Operation defaults to RequestID.
func (r Request) Normalize() Request {
	if r.Operation == "" {
		r.Operation = r.RequestID
	}
	if r.Attempt == 0 {
		r.Attempt = 1
	}
	if r.Reason == "" {
		r.Reason = ReasonManual
	}
	if r.Strategy == "" {
		r.Strategy = StrategySummary
	}
	if r.Writer == "" {
		r.Writer = WriterLive
	}
	if r.Commit == "" {
		r.Commit = CommitStore
	}
	r.Settings = r.Settings.WithDefaults()
	return r
}

// Validate reports the first thing wrong with a normalised request.
func (r Request) Validate() error {
	if r.RequestID == "" || r.Operation == "" {
		return fmt.Errorf("request for %s: requestId is empty", r.Session)
	}
	if err := r.Session.Validate(); err != nil {
		return err
	}
	if !slices.Contains(Reasons, r.Reason) {
		return fmt.Errorf("request %s: unknown reason %q", r.RequestID, r.Reason)
	}
	if r.Strategy != StrategySummary {
		return fmt.Errorf("request %s: unknown strategy %q (known: summary)", r.RequestID, r.Strategy)
	}
	if r.Writer != WriterNone && r.Writer != WriterLive {
		return fmt.Errorf("request %s: unknown writer %q (none or live)", r.RequestID, r.Writer)
	}
	if r.Commit != CommitStore && r.Commit != CommitReturn {
		return fmt.Errorf("request %s: unknown commit %q (store or return)", r.RequestID, r.Commit)
	}
	if r.Settings.KeepRecentTokens < 1 {
		return fmt.Errorf("request %s: keepRecentTokens must be at least 1, is %d", r.RequestID, r.Settings.KeepRecentTokens)
	}
	if f := r.Settings.ModelFallbackStrategy; f != "" && f != FallbackAuto && f != FallbackConfiguredOnly {
		return fmt.Errorf("request %s: unknown modelFallbackStrategy %q (%s or %s)", r.RequestID, f, FallbackAuto, FallbackConfiguredOnly)
	}
	if w := r.Settings.ModelContextWindow; w < 0 {
		return fmt.Errorf("request %s: modelContextWindow must not be negative, is %d", r.RequestID, w)
	}
	return nil
}
