package event

import (
	"encoding/json"
	"fmt"

	"recap/internal/contract"
)

// Body is the JSON body of an event. The first block is recap's own; the second holds the fields
// the reference agents' frontends read (spec/summary §11.5), so that such a frontend needs a
// subscription and nothing else. Fields are only ever added.
type Body struct {
	ID        string              `json:"id"`
	Event     string              `json:"event"`
	Operation string              `json:"operation"`
	Attempt   int                 `json:"attempt"`
	Ordinal   int                 `json:"ordinal"`
	Session   contract.SessionRef `json:"session"`
	Trigger   contract.Reason     `json:"trigger"` // why the operation was asked for, in recap's words
	Time      string              `json:"time"`    // RFC 3339, UTC, milliseconds
	Terminal  bool                `json:"terminal"`
	Outcome   *contract.Outcome   `json:"outcome,omitempty"` // terminal events
	Failed    *contract.Attempt   `json:"failed,omitempty"`  // attempt_failed
	Done      int                 `json:"done,omitempty"`    // stage_completed: stages finished
	Total     int                 `json:"total,omitempty"`   // stage_completed: stages planned
	Until     string              `json:"until,omitempty"`   // waiting: RFC 3339

	Type         string  `json:"type"`
	Reason       string  `json:"reason,omitempty"`
	Action       string  `json:"action,omitempty"`
	Result       *Result `json:"result,omitempty"`
	Aborted      *bool   `json:"aborted,omitempty"`   // end events
	WillRetry    *bool   `json:"willRetry,omitempty"` // end events
	ErrorMessage string  `json:"errorMessage,omitempty"`
	Skipped      bool    `json:"skipped,omitempty"`
	Level        string  `json:"level,omitempty"` // notice
	Message      string  `json:"message,omitempty"`
	Source       string  `json:"source,omitempty"` // notice
}

// Result is what a finished compaction gave. Summary is absent when it would not fit, or could not
// be loaded; SummaryDigest names it in the blob store either way.
type Result struct {
	Summary          string          `json:"summary,omitempty"`
	SummaryDigest    string          `json:"summaryDigest,omitempty"`
	SummaryOmitted   bool            `json:"summaryOmitted,omitempty"`
	FirstKeptEntryID string          `json:"firstKeptEntryId"`
	TokensBefore     *int            `json:"tokensBefore"`
	Details          json.RawMessage `json:"details,omitempty"`
}

// Values of Type. Automatic reasons have the names the reference agents use for automatic runs. The
// reference emits nothing for a manual run; recap promises an end for every start, so manual runs
// have the other documented family, which a frontend that knows only automatic runs passes over.
const (
	TypeAutoStart   = "auto_compaction_start"
	TypeAutoEnd     = "auto_compaction_end"
	TypeManualStart = "compaction_start"
	TypeManualEnd   = "compaction_end"
	TypeNotice      = "notice"
)

// actionSummary is the reference agents' name for what the summary strategy does.
const actionSummary = "context-full"

// reasonOf translates a reason into the reference agents' words; they call a compaction in the
// middle of a turn a threshold one.
func reasonOf(r contract.Reason) string {
	switch r {
	case contract.ReasonMidTurn:
		return "threshold"
	case contract.ReasonProviderSwitch:
		return "provider_switch"
	}
	return string(r)
}

// Decode reads the body of a message. It tolerates unknown fields and refuses what is no event.
func Decode(data []byte) (Body, error) {
	var b Body
	if err := json.Unmarshal(data, &b); err != nil {
		return Body{}, fmt.Errorf("event body: %w", err)
	}
	if b.ID == "" || b.Event == "" {
		return Body{}, fmt.Errorf("event body: id or event is missing, so it is no event of recap")
	}
	return b, nil
}
