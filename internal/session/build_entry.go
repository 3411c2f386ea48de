package session

import (
	"encoding/json"
	"fmt"
)

// NewBranchSummary is what a branch_summary entry is made from.
type NewBranchSummary struct {
	ID        string
	ParentID  string // where the new branch starts, "" before the first entry
	Timestamp string // ISO
	Summary   string
	// ReadFiles and ModifiedFiles are full lists; both families store them so.
	ReadFiles, ModifiedFiles []string
	FromExtension            bool // a hook supplied the summary
	Recap                    RecapMark
}

// BuildBranchSummary makes the JSON object of a branch summary in a dialect, without newline. Its
// fromId is the entry the new branch starts at, or "root", as both families write it.
func BuildBranchSummary(d Dialect, s NewBranchSummary) ([]byte, error) {
	type details struct {
		ReadFiles     []string  `json:"readFiles"`
		ModifiedFiles []string  `json:"modifiedFiles"`
		Recap         RecapMark `json:"recap"`
	}
	type base struct {
		entryBase
		FromID  string  `json:"fromId"`
		Summary string  `json:"summary"`
		Details details `json:"details"`
	}
	b := base{
		entryBase: newBase(TypeBranchSummary, s.ID, s.ParentID, s.Timestamp), FromID: s.ParentID, Summary: s.Summary,
		Details: details{ReadFiles: orEmpty(s.ReadFiles), ModifiedFiles: orEmpty(s.ModifiedFiles), Recap: s.Recap},
	}
	if b.FromID == "" {
		b.FromID = "root"
	}
	switch d {
	case DialectPi:
		return marshal(struct {
			base
			FromHook bool `json:"fromHook"`
		}{b, s.FromExtension})
	case DialectVeyyon:
		return marshal(struct {
			base
			FromExtension bool `json:"fromExtension"`
		}{b, s.FromExtension})
	}
	return nil, fmt.Errorf("branch summary %s: no such dialect: %q", s.ID, d)
}

// NewCustomMessage is what a custom_message entry is made from.
type NewCustomMessage struct {
	ID, ParentID string // ParentID "" for a root
	Timestamp    string // ISO
	CustomType   string
	Content      string
	Display      bool
	Details      json.RawMessage // a JSON object, or nothing; never sent to a model
}

// BuildCustomMessage makes the JSON object of a custom message, without newline; it is the same in
// all dialects.
func BuildCustomMessage(m NewCustomMessage) ([]byte, error) {
	if len(m.Details) > 0 {
		if _, ok := object(m.Details); !ok {
			return nil, fmt.Errorf("custom message %s: details are no JSON object", m.ID)
		}
	}
	return marshal(struct {
		entryBase
		CustomType  string          `json:"customType"`
		Content     string          `json:"content"`
		Display     bool            `json:"display"`
		Details     json.RawMessage `json:"details,omitempty"`
		Attribution string          `json:"attribution"`
	}{newBase(TypeCustomMessage, m.ID, m.ParentID, m.Timestamp), m.CustomType, m.Content, m.Display, m.Details, "agent"})
}

// NewHeader is what the header of a new session is made from.
type NewHeader struct {
	ID            string // a UUID
	Timestamp     string // ISO
	Cwd           string
	ParentSession string // path of the session it continues, "" for none
}

// BuildHeader makes the JSON object of a header of the current version, without newline.
func BuildHeader(h NewHeader) ([]byte, error) {
	return marshal(struct {
		Type          string `json:"type"`
		Version       int    `json:"version"`
		ID            string `json:"id"`
		Timestamp     string `json:"timestamp"`
		Cwd           string `json:"cwd"`
		ParentSession string `json:"parentSession,omitempty"`
	}{TypeHeader, CurrentVersion, h.ID, h.Timestamp, h.Cwd, h.ParentSession})
}

// entryBase is what every entry starts with.
type entryBase struct {
	Type      string  `json:"type"`
	ID        string  `json:"id"`
	ParentID  *string `json:"parentId"` // null for a root
	Timestamp string  `json:"timestamp"`
}

func newBase(typ, id, parent, timestamp string) entryBase {
	b := entryBase{Type: typ, ID: id, Timestamp: timestamp}
	if parent != "" {
		b.ParentID = &parent
	}
	return b
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
