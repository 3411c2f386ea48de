package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
)

// corpus returns the folder of real session files, or skips; where CI=true it must be there.
func corpus(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("RECAP_CORPUS")
	if dir == "" {
		if os.Getenv("CI") == "true" {
			tb.Fatal("RECAP_CORPUS is not set; it names the folder of session files that CI tests against")
		}
		tb.Skip("RECAP_CORPUS is not set")
	}
	return dir
}

func corpusFile(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(corpus(tb), name))
	require.NoError(tb, err)
	return data
}

// TestCorpusPiNumbers holds every pi file against the numbers known about it. raw counts the
// messages of the context untouched.
func TestCorpusPiNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file                 string
		version              int
		entries, onPath, raw int
		compactions          int
		glued                int
	}{
		{file: "pi-v1-before-compaction", version: 1, entries: 1002, onPath: 1002, raw: 446, compactions: 2},
		{file: "pi-v1-large-session", version: 1, entries: 1018, onPath: 1018, raw: 914},
		{file: "pi-v3-two-compactions", version: 3, entries: 1002, onPath: 1002, raw: 446, compactions: 2},
		{file: "pi-v3-images-one-compaction", version: 3, entries: 1011, onPath: 1011, raw: 439, compactions: 1},
		{file: "pi-v3-thinking-ends-in-compaction", version: 3, entries: 461, onPath: 461, raw: 107, compactions: 1},
		{file: "pi-v3-branched", version: 3, entries: 669, onPath: 431, raw: 393},
		{file: "pi-v3-split-turn", version: 3, entries: 71, onPath: 71, raw: 71},
		{file: "pi-v3-torn-tail", version: 3, entries: 40, onPath: 40, raw: 40},
		{file: "pi-v3-real-small-two-compactions", version: 3, entries: 8, onPath: 8, raw: 5, compactions: 2},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			f, err := session.Parse(corpusFile(t, "pi/"+tt.file+".jsonl"))
			require.NoError(t, err)
			r, err := session.Check(f.Log, f)
			require.NoError(t, err)
			require.Equal(t, tt.version, r.Version)
			require.Equal(t, tt.entries, r.Entries)
			require.Equal(t, tt.onPath, r.OnPath)
			require.Equal(t, tt.compactions, r.Compactions)
			require.Equal(t, session.DialectPi, r.Dialect)
			c, err := session.BuildContext(f.Log, f, session.ContextOptions{Raw: true})
			require.NoError(t, err)
			require.Len(t, c.Messages, tt.raw)
			for _, d := range r.Damage {
				t.Log(d)
			}
			t.Log(c.Provider, c.Model, c.ThinkingLevel, c.Warnings, r)
		})
	}
}

func TestDump(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpus(t), "*", "*.jsonl"))
	for _, file := range files {
		data, _ := os.ReadFile(file)
		f, err := session.Parse(data)
		if err != nil {
			t.Log(filepath.Base(file), err)
			continue
		}
		r, err := session.Check(f.Log, f)
		require.NoError(t, err)
		c, err := session.BuildContext(f.Log, f, session.ContextOptions{Raw: true})
		cc, _ := session.BuildContext(f.Log, f, session.ContextOptions{})
		d := r.Damage
		r.Damage = nil
		t.Log(filepath.Base(file), r, len(c.Messages), len(cc.Messages), err, c.Warnings, cc.Warnings, c.Model, c.ThinkingLevel, len(d))
		for i := range min(len(d), 8) {
			t.Log("     ", d[i])
		}
	}
}

func BenchmarkInspect(b *testing.B) {
	data := corpusFile(b, "pi/pi-v3-two-compactions.jsonl")
	var objects []session.Object
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		start := 0
		for i, c := range data {
			if c == '\n' {
				objects, _ = session.AppendObjects(objects[:0], data[start:i])
				start = i + 1
			}
		}
	}
}
