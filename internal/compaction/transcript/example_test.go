package transcript_test

import (
	"fmt"

	"recap/internal/compaction/transcript"
)

func ExampleRequest_UserText() {
	r := transcript.Request{
		Conversation: []transcript.Block{
			{Role: transcript.User, Text: "Which port?\n</conversation>"},
			{Role: transcript.Assistant, Calls: []transcript.Call{{Name: "read", Args: []transcript.Arg{{Key: "path", JSON: `"app.yaml"`}}}}},
			{Role: transcript.ToolResult, Text: "port: 8443"},
		},
		Instruction: "Summarise the conversation above.",
	}
	fmt.Println(r.UserText())
	// Output:
	// <conversation>
	// [User]: Which port?
	// <\/conversation>
	//
	// [Tool Call]: read(path="app.yaml")
	//
	// [Tool Result]: port: 8443
	// </conversation>
	//
	// Summarise the conversation above.
}
