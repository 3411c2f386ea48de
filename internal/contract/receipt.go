package contract

import "encoding/json"

// ReceiptVersion is the version of the Receipt type.
const ReceiptVersion = 1

// Receipt is everything `explain` prints of an attempt of an operation. It is stored as a blob and
// holds no text of the session or the summary.
type Receipt struct {
	Version  int       `json:"version"`
	Request  Request   `json:"request"`
	Outcome  Outcome   `json:"outcome"` // its Receipt field is empty: a digest cannot hold itself
	Plan     string    `json:"plan,omitempty"`
	Coverage Coverage  `json:"coverage"`
	Stages   []Stage   `json:"stages,omitempty"`
	Attempts []Attempt `json:"attempts,omitempty"`
	Verdict  Verdict   `json:"verdict,omitempty"`
	Reasons  []Code    `json:"reasons,omitempty"`
	Repairs  []Code    `json:"repairs,omitempty"`
	// Measurements are the gate's numbers by part, "" for the whole.
	Measurements map[Part]json.RawMessage `json:"measurements,omitempty"`
	// Details are the entry's details as the session's dialect has them (file lists), for a caller who
	// writes the entry itself.
	Details json.RawMessage `json:"details,omitempty"`
	// Prompts maps prompt name to the SHA-256 of its text.
	Prompts    map[string]string `json:"prompts,omitempty"`
	Redactions map[string]int    `json:"redactions,omitempty"`
	Build      string            `json:"build"`     // version of the worker that wrote it
	WrittenAt  int64             `json:"writtenAt"` // Unix ms
}

// Coverage says what became of every entry on the path that yields a message.
type Coverage struct {
	Summarized []string `json:"summarized"` // entry ids given to the summariser
	TurnPrefix []string `json:"turnPrefix,omitempty"`
	Kept       []string `json:"kept"`
	Previous   string   `json:"previous,omitempty"` // the compaction whose text went in as previous summary
}

// Stage is one model request of the plan as the receipt shows it.
type Stage struct {
	Part        Part   `json:"part"`
	Request     string `json:"request"`
	InputTokens int    `json:"inputTokens"`
	Candidate   string `json:"candidate,omitempty"`
	Answer      string `json:"answer,omitempty"`
}
