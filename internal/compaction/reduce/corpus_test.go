package reduce_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/compaction/reduce"
	"recap/internal/sample"
	"recap/internal/session"
	"recap/internal/testkit/repo"
)

// checkSession makes every pass on a session and holds file and live context together.
func checkSession(t *testing.T, data []byte) (found int) {
	f, err := session.Parse(data)
	if err != nil {
		return 0 // no session of a kind that is read here
	}
	path, err := f.Log.Path()
	if err != nil || f.Log.Header.Version < session.CurrentVersion {
		return 0
	}
	tail, err := reduce.Read(reduce.Source{Path: path, Bodies: f, Now: started})
	require.NoError(t, err)
	raw := rawContext(t, f)
	for name, pass := range passes {
		p := must(t)(pass(tail))
		found += len(p.Decisions)
		decisions := reduce.Point(p.Decisions, "5")
		changed, err := reduce.Replacements(f.Log, f, decisions)
		require.NoError(t, err, name)
		live, err := reduce.Live(raw, decisions)
		require.NoError(t, err, name)
		written := parse(t, rewritten(t, f, data, changed))
		require.Empty(t, cmp.Diff(live, rawContext(t, written)), name)
		require.Equal(t, skeleton(raw), skeleton(live), name)
		after, err := tail.After(p)
		require.NoError(t, err, name)
		require.Empty(t, must(t)(pass(after)).Decisions, name)
	}
	return found
}

func TestGeneratedSessions(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "pt", "ja", "zh", "ar", "ru"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			data := sample.Generate(sample.Options{Seed: 7, Entries: 200, Language: language, Compactions: 2})
			require.Positive(t, checkSession(t, data))
		})
	}
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	root := repo.Corpus(t)
	found := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil {
			found += checkSession(t, data)
		}
		return err
	}))
	require.Positive(t, found)
}
