package session

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// archiveLead stands before text that was recovered from a legacy archive.
const archiveLead = "Source text recovered from an archive of an earlier compaction:"

// message returns the runtime message of a compaction; ok is false when it stands for nothing. A
// recovered archive is its content. Entry id and time are for the caller to set.
func (c *Compaction) message() (Message, bool) {
	m := Message{
		Role: RoleCompactionSummary, Summary: c.Summary, TokensBefore: c.TokensBefore,
		Attribution: "agent", Timestamp: isoMillis(c.Timestamp),
	}
	if source := c.Archive(); source != "" {
		m.Content = []Block{{Type: BlockText, Text: archiveLead + "\n\n" + source}}
	}
	w, window := c.ServerWindow()
	if window {
		m.ProviderPayload = w.payload()
	}
	return m, window || strings.TrimSpace(c.Summary) != ""
}

// payload is the window as a message carries it: a replacement of the history by its items.
func (w *ServerWindow) payload() json.RawMessage {
	out, err := json.Marshal(struct {
		Type        string          `json:"type"`
		Provider    string          `json:"provider"`
		Incremental bool            `json:"dt"`
		Items       json.RawMessage `json:"items"`
	}{"openaiResponsesHistory", w.Provider, true, w.Items})
	if err != nil {
		return nil // cannot happen: the items were checked
	}
	return out
}

// Archive returns the text of a legacy picture archive that the compaction carries, "" when it has
// none: `text`, else head and tail joined, with its two shift characters removed and its newline
// glyph turned into a newline (spec/summary §12.6). Pictures are never read.
func (c *Compaction) Archive() string {
	v := get(view(c.PreserveData), "snapcompact")
	source := text(get(v, "text"))
	if source == "" {
		head, tail := text(get(v, "textHead")), text(get(v, "textTail"))
		switch {
		case head != "" && tail != "":
			source = head + "█" + tail
		default:
			source = head + tail
		}
	}
	return strings.NewReplacer("\x0e", "", "\x0f", "", "█", "\n").Replace(source)
}

// tail decodes the messages that a compaction holds itself.
func (c *Compaction) tail(e *Entry) []Message {
	var out []Message
	view(c.RetainedTail).ForEach(func(_, v gjson.Result) bool {
		if m, ok := decodeMessage(v); ok {
			out = append(out, entryMessage(m, e))
		}
		return true
	})
	return out
}
