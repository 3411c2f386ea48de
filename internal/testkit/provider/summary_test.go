package provider_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"recap/internal/compaction/gate"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/sample"
	"recap/internal/testkit/provider"
	"recap/internal/tokens"
	"recap/prompts"
)

// blocks reads the texts of a generated session.
func blocks(t *testing.T, size int64) []transcript.Block {
	t.Helper()
	var list []transcript.Block
	for line := range strings.SplitSeq(string(sample.Generate(sample.Options{Seed: 7, Bytes: size})), "\n") {
		m := gjson.Get(line, "message")
		text := m.Get("content").Str
		for _, part := range m.Get("content").Array() {
			text += part.Get("text").Str
		}
		role := transcript.Role(m.Get("role").Str)
		if text != "" && (role == transcript.User || role == transcript.Assistant || role == transcript.ToolResult) {
			list = append(list, transcript.Block{Role: role, Text: text, Tool: m.Get("toolName").Str})
		}
	}
	require.NotEmpty(t, list)
	return list
}

// TestGoodSummaryPassesTheGate shows that the default answer is one that recap accepts, for a first
// summary, an update and the first part of a split turn.
func TestGoodSummaryPassesTheGate(t *testing.T) {
	t.Parallel()
	all := prompts.All()
	for name, c := range map[string]struct {
		instruction, previous string
		part                  contract.Part
		size                  int64
	}{
		"small":   {all.Initial, "", contract.PartHistory, 4 << 10},
		"initial": {all.Initial, "", contract.PartHistory, 200 << 10},
		"large":   {all.Initial, "", contract.PartHistory, 2 << 20},
		"update":  {all.Update, "## Goal\nKeep the ledger.\n\n## Next Steps\n1. Go on.\n", contract.PartHistory, 200 << 10},
		"prefix":  {all.TurnPrefix, "", contract.PartTurnPrefix, 200 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := transcript.Request{Part: c.part, Conversation: blocks(t, c.size), PreviousSummary: c.previous, Instruction: c.instruction}
			text := provider.Summary(provider.Request{User: r.UserText()})
			got := gate.Judge(gate.Input{
				Part: c.part, Text: text, Finished: true, Source: r.Conversation, PreviousSummary: c.previous,
				SourceTokens: tokens.Text(transcript.Render(r.Conversation)), MaxOutput: 8000,
			})
			require.True(t, got.Accepted(), "%v %+v\n%s", got.Reasons, got.Measurements, text)
			require.Equal(t, text, provider.Summary(provider.Request{User: r.UserText()}), "the same each time")
		})
	}
}

func TestSummaryFollowsTheInstruction(t *testing.T) {
	t.Parallel()
	user := "<conversation>\n[User]: Look at cmd/main.go and tell me why it fails.\n</conversation>\n\n<previous-summary>\n## Old\nx\n</previous-summary>\n\nUse:\n\n## Original Request\nx\n\n## Context for Suffix\ny"
	text := provider.Summary(provider.Request{User: user})
	require.Contains(t, text, "## Original Request\n")
	require.NotContains(t, text, "## Goal")
	require.NotContains(t, text, "## Old")
	require.Contains(t, text, "cmd/main.go")
	other := provider.Summary(provider.Request{User: strings.Replace(user, "why it", "how it", 1)})
	require.NotEqual(t, text, other, "another conversation has another summary")
}
