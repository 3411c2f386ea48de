package gate_test

import (
	"fmt"

	"recap/internal/compaction/gate"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// One digest of a conversation serves any number of answers.
func ExampleJudge() {
	conversation := []transcript.Block{
		{Role: transcript.User, Text: "The staging database listens on port 6543. Never import rows with status=draft."},
		{Role: transcript.Assistant, Text: "Noted."},
	}
	source := gate.Read(conversation, "")
	for _, answer := range []string{
		"The staging database listens on port 6543; rows with status=draft are never imported.",
		"The staging database listens on port 6453; rows with status=draft are never imported.",
	} {
		r := gate.Judge(gate.Input{Part: contract.PartHistory, Text: answer, Finished: true, Digest: source, SourceTokens: 30})
		fmt.Println(r.Verdict, r.Reasons, r.Details)
	}
	// Output:
	// accept [] []
	// retrySame [changedValue] [{changedValue [6453 → 6543]}]
}
