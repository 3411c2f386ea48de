package session

import "strings"

// dropRecovered leaves out assistant messages whose turn was repeated with success, and the results
// of their calls that directly follow (spec/summary §1.7).
func dropRecovered(messages []Message) []Message {
	out := messages[:0:0]
	for i := 0; i < len(messages); i++ {
		m := &messages[i]
		if m.Role != RoleAssistant || !m.RetryRecovered {
			out = append(out, *m)
			continue
		}
		calls := map[string]bool{}
		for _, c := range m.Calls() {
			calls[c.ID] = true
		}
		for i+1 < len(messages) && messages[i+1].Role == RoleToolResult && calls[messages[i+1].ToolCallID] {
			i++
		}
	}
	return out
}

// pairing says which tool call answers which result. A result belongs to the nearest call before it
// that has its id and no result yet, so ids may be used again.
type pairing struct {
	dangling map[callKey]bool
	orphan   map[int]bool // message index
}

type callKey struct{ message, block int }

func pair(messages []Message) pairing {
	p := pairing{dangling: map[callKey]bool{}, orphan: map[int]bool{}}
	open := map[string]callKey{}
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case RoleAssistant:
			for j := range m.Content {
				if m.Content[j].Type == BlockToolCall {
					key := callKey{i, j}
					p.dangling[key] = true
					open[m.Content[j].ID] = key
				}
			}
		case RoleToolResult:
			key, ok := open[m.ToolCallID]
			if !ok || m.ToolCallID == "" {
				p.orphan[i] = true
				continue
			}
			delete(p.dangling, key)
			delete(open, m.ToolCallID)
		}
	}
	return p
}

// dropOrphanResults leaves out tool results whose call is not among the messages: no provider
// accepts them.
func dropOrphanResults(messages []Message) ([]Message, int) {
	p := pair(messages)
	if len(p.orphan) == 0 {
		return messages, 0
	}
	out := messages[:0:0]
	for i := range messages {
		if !p.orphan[i] {
			out = append(out, messages[i])
		}
	}
	return out, len(p.orphan)
}

// stripDangling takes out tool calls without result (spec/summary §1.7). A message so changed also
// loses its signed and redacted thinking, each block as a whole, because its signature covers what
// is gone. If nothing of substance remains, the message is dropped; with mark it is kept and says
// how many calls it lost.
func stripDangling(messages []Message, mark bool) []Message {
	p := pair(messages)
	if len(p.dangling) == 0 {
		return messages
	}
	out := messages[:0:0]
	for i := range messages {
		m := messages[i]
		lost := 0
		if m.Role == RoleAssistant {
			for j := range m.Content {
				if p.dangling[callKey{i, j}] {
					lost++
				}
			}
		}
		if lost == 0 {
			out = append(out, m)
			continue
		}
		kept := make([]Block, 0, len(m.Content))
		for j, b := range m.Content {
			if !p.dangling[callKey{i, j}] && !sealed(b) {
				kept = append(kept, b)
			}
		}
		m.Content = kept
		if mark {
			m.StrippedToolCalls = lost
		} else if !substantial(kept) {
			continue
		}
		out = append(out, m)
	}
	return out
}

// sealed reports whether a provider accepts a thinking block only as it was.
func sealed(b Block) bool {
	return b.Type == BlockRedactedThinking || (b.Type == BlockThinking && b.Signature != "")
}

// substantial reports whether blocks hold anything that can stand alone in a message.
func substantial(blocks []Block) bool {
	for i := range blocks {
		switch blocks[i].Type {
		case BlockText, BlockThinking:
			if strings.TrimSpace(blocks[i].Text) != "" {
				return true
			}
		case BlockImage, BlockToolCall, BlockRedactedThinking:
			return true
		}
	}
	return false
}

// dropBoundThinking takes out of kept messages the thinking that its provider accepts only behind
// the exact messages it was written after; a compaction replaced those (spec/providers §2, DESIGN
// §11). Messages of which nothing remains are dropped.
func dropBoundThinking(messages []Message) []Message {
	out := messages[:0:0]
	for i := range messages {
		m := messages[i]
		if m.Role == RoleAssistant && bindsThinking(&m) {
			kept := make([]Block, 0, len(m.Content))
			for _, b := range m.Content {
				if !sealed(b) {
					kept = append(kept, b)
				}
			}
			if len(kept) < len(m.Content) {
				if m.Content = kept; !substantial(kept) {
					continue
				}
			}
		}
		out = append(out, m)
	}
	return out
}

// bindsThinking reports whether the message's provider binds thinking to what stands before it:
// the Anthropic Messages API, by whichever route a Claude model is reached.
func bindsThinking(m *Message) bool {
	return m.API == "anthropic-messages" || strings.Contains(strings.ToLower(m.Model), "claude")
}

// Pending is a tool call at the leaf that has no result yet.
type Pending struct {
	EntryID  string // entry of the assistant message
	CallID   string
	Tool     string
	IssuedAt int64 // Unix ms of the assistant message, 0 = unknown
}

// UnansweredCalls returns the calls of the newest assistant message that may still be running: it
// ended to use tools and nothing but results, shell runs and notes follow. Give it messages with
// their dangling calls (Raw or KeepDangling).
func UnansweredCalls(messages []Message) []Pending {
	last := -1
	for i := len(messages) - 1; i >= 0 && last < 0; i-- {
		switch messages[i].Role {
		case RoleAssistant:
			last = i
		case RoleToolResult, RoleBashExecution, RolePythonExecution, RoleCustom, RoleFileMention:
		default:
			return nil
		}
	}
	if last < 0 || failed(&messages[last]) {
		return nil
	}
	p := pair(messages[last:])
	var pending []Pending
	for j, b := range messages[last].Content {
		if p.dangling[callKey{0, j}] {
			m := &messages[last]
			pending = append(pending, Pending{EntryID: m.EntryID, CallID: b.ID, Tool: b.Name, IssuedAt: m.Timestamp})
		}
	}
	return pending
}

// failed reports whether a reply ended without success, so that its calls were never run.
func failed(m *Message) bool {
	return m.StopReason == StopError || m.StopReason == StopAborted
}
