package pi

import (
	"bytes"
	"encoding/json"
)

// Context is what pi says of a session.
type Context struct {
	Messages      []Message `json:"messages"`
	ThinkingLevel string    `json:"thinkingLevel"`
	Model         *Model    `json:"model"`
	Entries       []Entry   `json:"entries"`
	LeafID        string    `json:"leafId"`
}

// Model is the model of a session's newest change or answer.
type Model struct {
	Provider string `json:"provider"`
	ModelID  string `json:"modelId"`
}

// Entry is one entry as pi has it in memory.
type Entry struct {
	ID       string `json:"id"`
	ParentID string `json:"parentId"`
	Type     string `json:"type"`
}

// Message is a message of pi's context.
type Message struct {
	Role       string  `json:"role"`
	Content    Content `json:"content"`
	ToolCallID string  `json:"toolCallId"`
	ToolName   string  `json:"toolName"`
	IsError    bool    `json:"isError"`
	StopReason string  `json:"stopReason"`
	Command    string  `json:"command"`
	Output     string  `json:"output"`
	CustomType string  `json:"customType"`
	Summary    string  `json:"summary"`
	FromID     string  `json:"fromId"`
}

// Content is a list of blocks; a bare string is one text block.
type Content []Block

// Block is one block of a message's content. Arguments are the compact JSON of a tool call's
// arguments, in the order of the file.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	MimeType  string          `json:"mimeType"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// UnmarshalJSON reads either form.
func (c *Content) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*c = Content{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]Block)(c))
}
