package session

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/tidwall/gjson"
)

// Compaction is a decoded compaction entry (spec/sessions §1.5, §3.2; spec/summary §1.3).
type Compaction struct {
	Summary            string
	ShortSummary       string
	FirstKeptEntryID   string // "" when the entry names none
	TokensBefore       *int   // nil when it was not measurable
	Details            json.RawMessage
	PreserveData       json.RawMessage
	FromExtension      bool // an extension or hook made it
	CustomInstructions string
	Timestamp          string // ISO, as stored
	// RetainedTail holds whole messages kept beside the summary, of agents that store them instead
	// of FirstKeptEntryID.
	RetainedTail json.RawMessage
	Recap        *RecapMark // set on entries that recap wrote
}

// RecapMark names the operation that wrote an entry. It is stored as `recap` in the details of a pi
// entry and in the preserveData of a Veyyon entry.
type RecapMark struct {
	Operation string `json:"operation"`
	Attempt   int    `json:"attempt"`
}

var errNoObject = errors.New("the stored object of a compaction is not JSON; run session check")

// DecodeCompaction reads the stored object of a compaction entry of either dialect.
func DecodeCompaction(body []byte) (Compaction, error) {
	v, ok := object(body)
	if !ok {
		return Compaction{}, errNoObject
	}
	return decodeCompaction(v), nil
}

func decodeCompaction(v gjson.Result) Compaction {
	var c Compaction
	each(v, func(key string, v gjson.Result) {
		switch key {
		case "summary":
			c.Summary = text(v)
		case "shortSummary":
			c.ShortSummary = text(v)
		case "firstKeptEntryId":
			c.FirstKeptEntryID = text(v)
		case "tokensBefore":
			c.TokensBefore = number(v)
		case "details":
			c.Details = raw(v)
		case "preserveData":
			c.PreserveData = raw(v)
		case "fromHook", "fromExtension":
			c.FromExtension = c.FromExtension || v.Type == gjson.True
		case "customInstructions":
			c.CustomInstructions = text(v)
		case "timestamp":
			c.Timestamp = text(v)
		case "retainedTail":
			if v.IsArray() {
				c.RetainedTail = raw(v)
			}
		}
	})
	if c.Recap = decodeMark(get(view(c.Details), "recap")); c.Recap == nil {
		c.Recap = decodeMark(get(view(c.PreserveData), "recap"))
	}
	return c
}

func decodeMark(v gjson.Result) *RecapMark {
	operation := text(get(v, "operation"))
	if operation == "" {
		return nil
	}
	return &RecapMark{Operation: operation, Attempt: count(get(v, "attempt"))}
}

// Legacy reports whether a provider made the compaction in a form of old that cannot be replayed any
// more: its summary is a fixed placeholder and stands for nothing (spec/summary §1.6, §12.6).
func (c *Compaction) Legacy() bool {
	legacy := false
	each(view(c.PreserveData), func(key string, v gjson.Result) {
		if key == "openaiRemoteCompaction" || key == "compactionV2" {
			legacy = v.Type != gjson.Null
		}
	})
	return legacy
}

// Usable reports whether the compaction can stand for the history before it, for a session whose
// active provider is the given one (spec/summary §1.6).
func (c *Compaction) Usable(activeProvider string) bool {
	if c.Legacy() {
		return false
	}
	if w, ok := c.ServerWindow(); ok && w.ReplayableBy(activeProvider) {
		return true
	}
	return strings.TrimSpace(c.Summary) != ""
}

// EffectiveCompaction returns the newest usable compaction of a path and its index, or index -1
// when there is none. Bodies of compactions are read from the newest on until one is usable; the
// session's active provider is determined only when a server-side window needs it.
func EffectiveCompaction(path []*Entry, b Bodies) (index int, c Compaction, err error) {
	provider, known := "", false
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Type != TypeCompaction {
			continue
		}
		if c, err = readCompaction(path[i], b); err != nil {
			return -1, Compaction{}, err
		}
		if _, ok := c.ServerWindow(); ok && !known {
			if provider, _, err = activeModel(path, b); err != nil {
				return -1, Compaction{}, err
			}
			known = true
		}
		if c.Usable(provider) {
			return i, c, nil
		}
	}
	return -1, Compaction{}, nil
}

func readCompaction(e *Entry, b Bodies) (Compaction, error) {
	v, err := readObject(e, b)
	if err != nil {
		return Compaction{}, err
	}
	return decodeCompaction(v), nil
}

// BoundaryIndex returns the index of the first entry that a compaction naming keepID keeps: 0 when it
// names none, behind the last compaction of the path for KeepNothing, else the index of the entry it
// names. For an
// id that is not on the path it returns 0 and false: damage may cost an overlap, never silent loss
// (spec/summary §1.7).
func BoundaryIndex(path []*Entry, keepID string) (idx int, found bool) {
	switch keepID {
	case "":
		return 0, true
	case KeepNothing:
		for i := len(path) - 1; i >= 0; i-- {
			if path[i].Type == TypeCompaction {
				return i + 1, true
			}
		}
		return 0, true
	}
	for i := range path {
		if path[i].ID == keepID {
			return i, true
		}
	}
	return 0, false
}
