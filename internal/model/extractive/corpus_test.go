package extractive_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/compaction/gate"
	"recap/internal/compaction/gate/outline"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/model/extractive"
	"recap/internal/session"
	"recap/internal/testkit/repo"
	"recap/internal/tokens"
)

// TestRealSessionsAreExtracted runs over other people's sessions, cut in two generations: the text
// keeps its structure, its limit, and passes the gate.
func TestRealSessionsAreExtracted(t *testing.T) {
	t.Parallel()
	root := repo.Corpus(t)
	files, err := filepath.Glob(filepath.Join(root, "pi", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			f, err := session.Parse(data)
			require.NoError(t, err)
			var messages []session.Message
			for i := range f.Log.Entries {
				e := &f.Log.Entries[i]
				raw, err := f.Body(e)
				require.NoError(t, err)
				if m, ok, err := session.DecodeEntry(e, raw); err == nil && ok && m.Role != session.RoleCompactionSummary {
					messages = append(messages, m)
				}
			}
			blocks := transcript.Serialize(session.ToModel(messages))
			previous := ""
			for _, half := range [][]transcript.Block{blocks[:len(blocks)/2], blocks[len(blocks)/2:]} {
				text, source := extractive.Summarize(history(half, previous), 13107)
				if text == "" {
					require.Empty(t, half)
					continue
				}
				require.LessOrEqual(t, tokens.Text(text), 6000)
				require.Empty(t, cmp.Diff(outline.Of(contract.PartHistory), markdownHeadings(text)))
				r := gate.Judge(gate.Input{
					Part: contract.PartHistory, Text: text, Finished: true, Source: half, PreviousSummary: previous, SourceTokens: source,
					MaxOutput: 13107, Extractive: true,
				})
				require.Equal(t, contract.VerdictAccept, r.Verdict, "%v", r.Reasons)
				previous = text
			}
		})
	}
}
