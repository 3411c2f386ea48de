package contract

import "fmt"

// Event names that are not terminal states.
const (
	EventStarted        = "started"
	EventStageCompleted = "stage_completed"
	EventAttemptFailed  = "attempt_failed"
	EventNotice         = "notice"
	EventWaiting        = "waiting"
)

// Event is what a workflow knows of an event: names and numbers. Text (the summary) is loaded by
// digest when the event is published (DESIGN §8).
type Event struct {
	Name      string     `json:"name"`
	Operation string     `json:"operation"`
	Attempt   int        `json:"attempt"`
	Ordinal   int        `json:"ordinal"` // rises with each event of an attempt
	Session   SessionRef `json:"session"`
	Reason    Reason     `json:"reason"` // why the operation was asked for
	Time      int64      `json:"time"`   // Unix ms
	Terminal  bool       `json:"terminal,omitempty"`

	Outcome *Outcome `json:"outcome,omitempty"` // terminal events
	Failed  *Attempt `json:"failed,omitempty"`  // attempt_failed
	Done    int      `json:"done,omitempty"`    // stage_completed
	Total   int      `json:"total,omitempty"`
	Until   int64    `json:"until,omitempty"`   // waiting, Unix ms
	Level   string   `json:"level,omitempty"`   // notice: info, warning, error
	Message string   `json:"message,omitempty"` // notice, waiting
}

// ID is the stable id of the event; publishing it twice is one event. Callers choose operation ids,
// and may use one for several sessions: the session's key keeps the events apart.
func (e Event) ID() string {
	return fmt.Sprintf("%s.%s.%d.%d", e.Operation, e.Session.Key(), e.Attempt, e.Ordinal)
}
