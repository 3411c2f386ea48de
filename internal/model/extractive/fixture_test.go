package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/sample"
	"recap/internal/session"
)

// blocksOf reads a session file and serialises its active path.
func blocksOf(t testing.TB, data []byte) []transcript.Block {
	t.Helper()
	f, err := session.Parse(data)
	require.NoError(t, err)
	c, err := session.BuildContext(f.Log, f, session.ContextOptions{})
	require.NoError(t, err)
	return transcript.Serialize(session.ToModel(c.Messages))
}

func history(blocks []transcript.Block, previous string) *transcript.Request {
	return &transcript.Request{Part: contract.PartHistory, Conversation: blocks, PreviousSummary: previous}
}

func story(t testing.TB, o sample.Options) ([]transcript.Block, sample.Story) {
	t.Helper()
	data, s := sample.Build(o)
	return blocksOf(t, data), s
}

func user(text string) transcript.Block {
	return transcript.Block{Role: transcript.User, Text: text}
}

func agent(text string, calls ...transcript.Call) transcript.Block {
	return transcript.Block{Role: transcript.Assistant, Text: text, Calls: calls}
}

func call(name, key, json string) transcript.Call {
	return transcript.Call{Name: name, Args: []transcript.Arg{{Key: key, JSON: json}}}
}

func result(tool, text string, failed bool) transcript.Block {
	return transcript.Block{Role: transcript.ToolResult, Tool: tool, Text: text, Error: failed}
}
