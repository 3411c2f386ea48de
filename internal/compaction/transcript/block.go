// Package transcript turns messages into the text a summariser reads (spec/summary §5.1). It is
// pure and may import contract, session and tokens.
package transcript

// Block is one segment of a transcript: what one message contributes.
type Block struct {
	Role  Role   `json:"role"`
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"` // Role Assistant
	Tool  string `json:"tool,omitempty"`  // Role ToolResult: the tool's name
	Error bool   `json:"error,omitempty"` // Role ToolResult: the tool failed
	// Cut is how many characters of the text were left out at its end.
	Cut int `json:"cut,omitempty"`
	// Entry is the id of the entry the block comes from.
	Entry string `json:"entry,omitempty"`
}

// Call is one tool call of an assistant block.
type Call struct {
	Name string `json:"name"`
	Args []Arg  `json:"args,omitempty"`

	id string // pairs the call with its result while serialising
}

// Arg is one argument of a call: its name and the JSON of its value, compact.
type Arg struct {
	Key  string `json:"key"`
	JSON string `json:"json"`
}

// Role labels a block.
type Role string

// Roles of blocks.
const (
	User       Role = "user"
	Developer  Role = "developer"
	Assistant  Role = "assistant"
	ToolResult Role = "toolResult"
)
