package session

import (
	"encoding/json"
	"strings"
)

// Message roles, stored and runtime.
const (
	RoleUser              = "user"
	RoleDeveloper         = "developer"
	RoleAssistant         = "assistant"
	RoleToolResult        = "toolResult"
	RoleBashExecution     = "bashExecution"
	RolePythonExecution   = "pythonExecution"
	RoleFileMention       = "fileMention"
	RoleCustom            = "custom"
	RoleHookMessage       = "hookMessage" // version 2 and older
	RoleBranchSummary     = "branchSummary"
	RoleCompactionSummary = "compactionSummary"
)

// Content block types.
const (
	BlockText             = "text"
	BlockImage            = "image"
	BlockThinking         = "thinking"
	BlockRedactedThinking = "redactedThinking"
	BlockToolCall         = "toolCall"
)

// Stop reasons of an assistant message.
const (
	StopStop    = "stop"
	StopLength  = "length"
	StopToolUse = "toolUse"
	StopError   = "error"
	StopAborted = "aborted"
)

// Message is a message of the context: decoded from a message entry, or made from a custom_message,
// branch_summary or compaction entry. Text is valid UTF-8 (spec/sessions §1.6, spec/summary §1.4).
type Message struct {
	EntryID string // entry it comes from
	Role    string
	Content []Block // a bare string is one text block

	// assistant
	API, Provider, Model string
	StopReason           string
	ErrorMessage         string
	Usage                *Usage
	RetryRecovered       bool
	// StrippedToolCalls counts calls without result that a transcript left out of this message.
	StrippedToolCalls int

	// toolResult
	ToolCallID, ToolName string
	IsError              bool
	Useless              bool
	PrunedAt             int64 // Unix ms, 0 = not pruned

	// bashExecution and pythonExecution: Command holds command or code
	Command, Output    string
	ExitCode           *int
	Cancelled          bool
	Truncated          bool
	ExcludeFromContext bool
	FullOutputPath     string

	// custom, branchSummary, compactionSummary, fileMention
	CustomType       string
	Display          bool
	Summary          string
	FromID           string
	TokensBefore     *int
	Files            []FileMention
	DemotedReasoning bool   // developer message that restates reasoning
	Attribution      string // user or agent, as stored
	Timestamp        int64  // Unix ms, 0 = none
	// ProviderPayload is a server-side window that the provider is sent instead of the summary.
	ProviderPayload json.RawMessage
}

// Block is one content block. Image data is not decoded: DataLen is its base64 length in bytes.
type Block struct {
	Type      string
	Text      string // text, thinking, or redactedThinking data
	Signature string
	MimeType  string
	DataLen   int
	ID, Name  string          // toolCall
	Arguments json.RawMessage // toolCall, the stored bytes
}

// FileMention is one file of a fileMention message.
type FileMention struct {
	Path, Content string
	Image         bool
	MimeType      string // of an image
	DataLen       int    // base64 bytes of an image
}

// Usage is what the provider reported for an assistant message, in tokens. Total is 0 when the file
// does not name it. Whether Input includes cached tokens depends on the API; see tokens.Normalize.
type Usage struct {
	Input, Output, CacheRead, CacheWrite, Total int
	// Orchestration tokens are reported by some agents inside the totals but are not in the context.
	Orchestration int
}

// Text returns the text blocks joined by sep.
func (m *Message) Text(sep string) string {
	if len(m.Content) == 1 && m.Content[0].Type == BlockText {
		return m.Content[0].Text // nearly always, and long
	}
	var out strings.Builder
	n := 0
	for i := range m.Content {
		if m.Content[i].Type != BlockText {
			continue
		}
		if n > 0 {
			out.WriteString(sep)
		}
		out.WriteString(m.Content[i].Text)
		n++
	}
	return out.String()
}

// Calls returns the tool call blocks.
func (m *Message) Calls() []Block {
	var calls []Block
	for i := range m.Content {
		if m.Content[i].Type == BlockToolCall {
			calls = append(calls, m.Content[i])
		}
	}
	return calls
}
