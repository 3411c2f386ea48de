package compaction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/gate"
	"recap/internal/compaction/transcript"
	"recap/internal/sample"
)

// TestTheLanguageOfTheUserIsAskedForAndChecked: whatever the tools print, every request names the
// language of the user, and the gate refuses notes in the language of the tools' output.
func TestTheLanguageOfTheUserIsAskedForAndChecked(t *testing.T) {
	t.Parallel()
	const english = "The agent has looked at the table of the schedule and is now counting the rows that were left out in the night. " +
		"What comes next is a test that shows that nothing was missed, and a note to the people who run the nightly job about the new name."
	answer := func(prose string) string {
		return "## Goal\n" + prose + "\n\n## Next Steps\n1. " + prose + "\n"
	}
	for code, name := range map[string]string{"pt": "Portuguese", "ja": "Japanese", "zh": "Chinese", "ar": "Arabic", "ru": "Russian"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := prepare(t, input(parse(t, string(sample.Generate(sample.Options{Seed: 7, Language: code, Entries: 200}))), 3000))
			require.NotEmpty(t, p.Requests())
			for _, r := range p.Requests() {
				require.Contains(t, r.Instruction, "write everything but headings and quoted text in "+name+".", r.Part)
			}

			var users, outputs []transcript.Block
			for _, b := range p.History.Conversation {
				switch b.Role {
				case transcript.User:
					users = append(users, b)
				case transcript.ToolResult:
					b.Role = transcript.User // as if a user had written it
					outputs = append(outputs, b)
				}
			}
			require.NotEqual(t, name, transcript.Language(outputs), "the tools speak another language")
			require.Greater(t, weight(outputs), weight(users), "and speak more")

			in := gate.Input{
				Part: p.History.Part, Finished: true, Source: p.History.Conversation, SourceTokens: p.Plan.SourceTokens,
				Instruction: p.History.Instruction, MaxOutput: 10_000,
			}
			in.Text = answer(english)
			require.Contains(t, gate.Judge(in).Reasons, gate.CodeLanguage)
			in.Text = answer(prose(users))
			require.NotContains(t, gate.Judge(in).Reasons, gate.CodeLanguage)
		})
	}
}

// TestATurnThatSaysTooLittleTakesTheLanguageOfTheHistory: its beginning is summarised by itself.
func TestATurnThatSaysTooLittleTakesTheLanguageOfTheHistory(t *testing.T) {
	t.Parallel()
	f := parse(t, lines(user("a", "Corrija o erro em NextWindow, por favor. Não altere os arquivos gerados, isso é importante para mim."), says("b", "Feito."),
		user("c", "OK."), says("d", filler(50)), says("e", filler(100))))
	p := prepare(t, input(f, 60))
	require.NotNil(t, p.TurnPrefix)
	require.Contains(t, p.TurnPrefix.Instruction, "in Portuguese.")
}

func weight(blocks []transcript.Block) (n int) {
	for i := range blocks {
		n += len(blocks[i].Text)
	}
	return n
}

// prose is some text of the users.
func prose(users []transcript.Block) string {
	var b strings.Builder
	for i := range users {
		if b.WriteString(users[i].Text + " "); b.Len() > 3000 {
			break
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}
