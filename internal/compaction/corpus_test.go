package compaction_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/session"
	"recap/internal/testkit/repo"
)

// corpus reads a session of other programs' making.
func corpus(t testing.TB, name string) string {
	t.Helper()
	dir := repo.Corpus(t)
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(data)
}

// TestCorpusReferenceValues compares plans with values computed independently for the same files at a
// budget of 20000 tokens (by the rules of pi of March 2026).
//
// Equal by rule, and asserted equal: where a first compaction cuts, where the split turn begins and
// how many messages go where, as long as the text is ASCII and unsigned. Ours differ, and are pinned
// as ours, for three reasons: we count UTF-8 bytes where pi counts UTF-16 units (branched: cut 133 for
// 129, and 36 trailing tokens for 32); we weigh thinking signatures and images (two-compactions: 956
// for 946; images: 931 for 927); and we start a repeated compaction at what the one before kept (550
// for 628, 572 for 669), which is what pi loses.
func TestCorpusReferenceValues(t *testing.T) {
	t.Parallel()
	type values struct{ Before, First, Cut, Turn, History, Prefix int }
	for name, want := range map[string]values{
		"pi-v1-large-session":         {177657, 0, 837, 834, 730, 3},
		"pi-v3-split-turn":            {152107, 0, 14, 7, 7, 7},
		"pi-v3-torn-tail":             {145994, 0, 14, 7, 7, 7},
		"pi-v3-branched":              {119680, 0, 133, 68, 67, 65},
		"pi-v3-two-compactions":       {180820, 550, 956, 955, 399, 1},
		"pi-v3-images-one-compaction": {130936, 572, 931, 928, 355, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := parse(t, corpus(t, "pi/"+name+".jsonl"))
			p := prepare(t, input(f, 20000))
			require.NotNil(t, p)
			path, err := f.Log.Path()
			require.NoError(t, err)
			index := func(id string) int {
				i, found := session.BoundaryIndex(path, id)
				require.True(t, found)
				return i
			}
			c := p.Plan.Coverage
			require.Equal(t, want, values{
				Before: *p.Plan.TokensBefore, First: index(c.Summarized[0]), Cut: index(p.Plan.FirstKeptEntryID),
				Turn: index(c.TurnPrefix[0]), History: len(c.Summarized), Prefix: len(c.TurnPrefix),
			})
		})
	}
}

// TestCTX08CorpusStaysValidUnderCompaction compacts every file at several budgets: the request frames its
// data, the rebuilt context has whole pairs, and nothing is covered twice or not at all.
func TestCTX08CorpusStaysValidUnderCompaction(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repo.Corpus(t), "pi", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text := corpus(t, filepath.Join("pi", filepath.Base(file)))
			f := parse(t, text)
			for _, keep := range []int{1, 100, 3000, 20000, 60000} {
				p, err := compaction.Prepare(input(f, keep))
				var skip *compaction.Skip
				if errors.As(err, &skip) {
					require.NotContains(t, skip.Message, "\n")
					continue
				}
				require.NoError(t, err)
				covered(t, f, p, firstCovered(p))
				for _, r := range p.Requests() {
					rendered := r.UserText()
					require.Equal(t, 1, strings.Count(rendered, "</conversation>"))
					require.NotContains(t, rendered, "thinkingSignature\":\"")
					require.GreaterOrEqual(t, r.Tokens(), len(rendered)/4)
				}
				if f.Log.Header.Version < 3 || f.Torn {
					continue // a store migrates or repairs before it appends
				}
				after := contextOf(t, commit(t, text, p, "ffffffff", "SUMMARY", "PREFIX"))
				require.NoError(t, validatePairs(session.ToModel(after.Messages)), "keep %d", keep)
			}
		})
	}
}

func firstCovered(p *compaction.Prepared) string {
	c := p.Plan.Coverage
	return append(append(c.Summarized, c.TurnPrefix...), c.Kept...)[0]
}
