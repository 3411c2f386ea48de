package session

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// NewCompaction is what a compaction entry is made from.
type NewCompaction struct {
	ID               string
	ParentID         string // "" for a root
	Timestamp        string // ISO
	Summary          string
	FirstKeptEntryID string
	// TokensBefore is the measured size of the context in tokens; nil when it was not measurable, and
	// then Estimate is stored: both families show the number and fail on null.
	TokensBefore *int
	Estimate     int
	// Details is a JSON object, or nothing: the file lists in the form of the dialect.
	Details            json.RawMessage
	CustomInstructions string // the caller's focus, already redacted
	// PreserveData is a JSON object, or nothing. The pi dialect has no place for it and drops it.
	PreserveData json.RawMessage
	// FromExtension says that a hook supplied the summary.
	FromExtension bool
	Recap         RecapMark
	// Warning is shown by the agent: a dead end, in which automatic compaction pauses.
	Warning string
}

// BuildCompaction makes the JSON object of a compaction entry in a dialect, without newline.
//
// recap's own summaries are not marked as made by an extension (fromHook, fromExtension false): pi
// and Veyyon carry file lists over to their next compaction only from entries without that mark, so
// an agent that compacts again after recap loses nothing. pi ignores the extra keys of details.
func BuildCompaction(d Dialect, c NewCompaction) ([]byte, error) {
	tokens := c.Estimate
	if c.TokensBefore != nil {
		tokens = *c.TokensBefore
	}
	base := compactionBase{
		entryBase: newBase(TypeCompaction, c.ID, c.ParentID, c.Timestamp),
		Summary:   c.Summary, FirstKeptEntryID: c.FirstKeptEntryID, TokensBefore: max(tokens, 0),
	}
	mark, err := json.Marshal(c.Recap)
	if err != nil {
		return nil, fmt.Errorf("compaction %s: cannot write its operation: %w", c.ID, err)
	}
	switch d {
	case DialectPi:
		details := c.Details
		if len(details) == 0 {
			details = json.RawMessage(`{"readFiles":[],"modifiedFiles":[]}`)
		}
		if details, err = withKey(details, "recap", mark); err != nil {
			return nil, fmt.Errorf("compaction %s: details: %w", c.ID, err)
		}
		return marshal(piCompaction{compactionBase: base, Details: details, FromHook: c.FromExtension, CustomInstructions: c.CustomInstructions, Warning: c.Warning})
	case DialectVeyyon:
		preserve := c.PreserveData
		if len(preserve) == 0 {
			preserve = json.RawMessage(`{}`)
		}
		if preserve, err = withKey(preserve, "recap", mark); err != nil {
			return nil, fmt.Errorf("compaction %s: preserveData: %w", c.ID, err)
		}
		if len(c.Details) > 0 {
			if _, ok := object(c.Details); !ok {
				return nil, fmt.Errorf("compaction %s: details are no JSON object", c.ID)
			}
		}
		return marshal(veyyonCompaction{
			compactionBase: base, Details: c.Details, PreserveData: preserve,
			FromExtension: c.FromExtension, CustomInstructions: c.CustomInstructions, Warning: c.Warning,
		})
	}
	return nil, fmt.Errorf("compaction %s: no such dialect: %q", c.ID, d)
}

type compactionBase struct {
	entryBase
	Summary          string `json:"summary"`
	FirstKeptEntryID string `json:"firstKeptEntryId"`
	TokensBefore     int    `json:"tokensBefore"`
}

type piCompaction struct {
	compactionBase
	Details            json.RawMessage `json:"details"`
	FromHook           bool            `json:"fromHook"`
	CustomInstructions string          `json:"customInstructions,omitempty"`
	Warning            string          `json:"warning,omitempty"`
}

type veyyonCompaction struct {
	compactionBase
	Details            json.RawMessage `json:"details,omitempty"`
	PreserveData       json.RawMessage `json:"preserveData"`
	FromExtension      bool            `json:"fromExtension"`
	CustomInstructions string          `json:"customInstructions,omitempty"`
	Warning            string          `json:"warning,omitempty"`
}

// marshal writes JSON as the agents do: HTML characters stand as they are.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
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
