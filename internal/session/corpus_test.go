package session_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
	"recap/internal/testkit/repo"
)

// corpus returns the folder of real session files, or skips; where CI=true it must be there.
func corpus(tb testing.TB) string {
	tb.Helper()
	return repo.Corpus(tb)
}

func corpusFile(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(corpus(tb), name))
	require.NoError(tb, err)
	return data
}

// corpusFiles calls f for every file of a folder of the corpus.
func corpusFiles(t *testing.T, folder string, f func(t *testing.T, name string, data []byte)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus(t), folder, "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, name, corpusFile(t, folder+"/"+filepath.Base(file)))
		})
	}
}

// known holds what is known about each pi file: raw counts the messages of the untouched context,
// sent those of the context a model would be sent. Of files with glued lines both objects count.
var known = map[string]struct {
	version, entries, onPath, roots, branches, compactions, raw, sent int
}{
	"pi-v1-before-compaction":           {1, 1002, 1002, 1, 1, 2, 446, 446},
	"pi-v1-cass-sample":                 {1, 7, 7, 1, 1, 0, 5, 5},
	"pi-v1-codeburn-parity":             {1, 3, 3, 1, 1, 0, 3, 2},
	"pi-v1-compact-images-gluedlines":   {1, 1013, 1013, 1, 1, 2, 1, 1},
	"pi-v1-large-session":               {1, 1018, 1018, 1, 1, 0, 914, 913},
	"pi-v1-legacy":                      {1, 5, 5, 1, 1, 1, 5, 5},
	"pi-v1-session-thinking-gluedline":  {1, 463, 463, 1, 1, 1, 109, 109},
	"pi-v2-hookmessage":                 {2, 3, 3, 1, 1, 0, 3, 3},
	"pi-v3-branched":                    {3, 669, 431, 2, 3, 0, 393, 392},
	"pi-v3-branching":                   {3, 5, 4, 1, 2, 0, 4, 4},
	"pi-v3-compaction":                  {3, 6, 6, 1, 1, 1, 4, 4},
	"pi-v3-compaction_missing":          {3, 5, 5, 1, 1, 1, 4, 4},
	"pi-v3-fields":                      {3, 9, 9, 1, 1, 0, 9, 9},
	"pi-v3-full_format":                 {3, 19, 15, 1, 2, 1, 5, 5},
	"pi-v3-images-one-compaction":       {3, 1011, 1011, 1, 1, 1, 439, 438},
	"pi-v3-multi_compaction":            {3, 7, 7, 1, 1, 2, 4, 4},
	"pi-v3-real-small-two-compactions":  {3, 8, 8, 1, 1, 2, 5, 5},
	"pi-v3-real_world":                  {3, 11, 11, 1, 1, 1, 3, 3},
	"pi-v3-sample":                      {3, 5, 5, 1, 1, 0, 3, 3},
	"pi-v3-split-turn":                  {3, 71, 71, 1, 1, 0, 71, 71},
	"pi-v3-thinking-ends-in-compaction": {3, 461, 461, 1, 1, 1, 107, 107},
	"pi-v3-torn-tail":                   {3, 40, 40, 1, 1, 0, 40, 40},
	"pi-v3-two-compactions":             {3, 1002, 1002, 1, 1, 2, 446, 446},
}

func TestCorpusPiNumbers(t *testing.T) {
	t.Parallel()
	corpusFiles(t, "pi", func(t *testing.T, name string, data []byte) {
		want, ok := known[name]
		require.True(t, ok, "a file without known numbers; add them")
		f, err := session.Parse(data)
		require.NoError(t, err)
		r := check(t, f)
		raw := live(t, f, session.ContextOptions{Raw: true})
		sent := live(t, f, session.ContextOptions{})
		got := want
		got.version, got.entries, got.onPath, got.roots, got.branches, got.compactions = r.Version, r.Entries, r.OnPath, r.Roots, r.Branches, r.Compactions
		got.raw, got.sent = len(raw.Messages), len(sent.Messages)
		require.Equal(t, want, got)
		require.Equal(t, session.DialectPi, r.Dialect)
		require.Zero(t, r.Unreachable)
		for _, d := range r.Damage {
			require.False(t, d.Stops, "%+v", d)
		}
		for i := range f.Log.Entries {
			e := &f.Log.Entries[i]
			require.True(t, bytes.HasPrefix(data[e.Offset:], []byte("{")))
			body, err := f.Body(e)
			require.NoError(t, err)
			objects, kind := session.Inspect(body)
			require.Empty(t, kind)
			require.Equal(t, e.ID, objects[0].ID)
			require.Equal(t, e.ParentID, objects[0].ParentID)
		}
		for _, m := range session.ToModel(sent.Messages) {
			require.Contains(t, []string{"user", "developer", "assistant", "toolResult"}, m.Role)
			require.NotEmpty(t, m.Content)
		}
		require.NotEmpty(t, sent.Model)
	})
}

// TestCorpusDerivedFilesAgree: a version 1 file and its migrated twin have the same context.
func TestCorpusDerivedFilesAgree(t *testing.T) {
	t.Parallel()
	texts := func(name string) []string {
		f, err := session.Parse(corpusFile(t, "pi/"+name+".jsonl"))
		require.NoError(t, err)
		var out []string
		for _, m := range live(t, f, session.ContextOptions{}).Messages {
			out = append(out, m.Role+" "+m.Text("\n")+m.Summary+m.Command)
		}
		return out
	}
	require.Equal(t, texts("pi-v3-two-compactions"), texts("pi-v1-before-compaction"))
}

// TestCorpusDamage names what is wrong with the real files.
func TestCorpusDamage(t *testing.T) {
	t.Parallel()
	tests := map[string][]session.Damage{
		"pi-v1-compact-images-gluedlines":  {{Kind: session.DamageGlued, Line: 1013}},
		"pi-v1-session-thinking-gluedline": {{Kind: session.DamageGlued, Line: 440}},
		"pi-v3-torn-tail":                  {{Kind: session.DamageTornTail, Line: 42}},
		"pi-v3-compaction_missing":         {{Kind: session.DamageFirstKept, Line: 5, ID: "c1"}},
		"pi-v3-branched":                   {},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := session.Parse(corpusFile(t, "pi/"+name+".jsonl"))
			require.NoError(t, err)
			require.Equal(t, want, found(check(t, f)))
		})
	}
}

// TestCorpusKeptIndex: the recorded positions of real version 1 compactions, counted with the header
// as 0, are the entries that migration names.
func TestCorpusKeptIndex(t *testing.T) {
	t.Parallel()
	tests := map[string][]int{
		"pi-v1-before-compaction":          {293, 551},
		"pi-v1-compact-images-gluedlines":  {573, 1013}, // the second names itself: it keeps nothing
		"pi-v1-session-thinking-gluedline": {355},
	}
	for name, indices := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := session.Parse(corpusFile(t, "pi/"+name+".jsonl"))
			require.NoError(t, err)
			var want, got []string
			for i := range f.Log.Entries {
				e := &f.Log.Entries[i]
				if e.Type != session.TypeCompaction {
					continue
				}
				body, err := f.Body(e)
				require.NoError(t, err)
				c, err := session.DecodeCompaction(body)
				require.NoError(t, err)
				got = append(got, c.FirstKeptEntryID)
			}
			for _, i := range indices {
				want = append(want, f.Log.Entries[i-1].ID)
			}
			require.Equal(t, want, got)
		})
	}
}

func TestCorpusBranches(t *testing.T) {
	t.Parallel()
	f, err := session.Parse(corpusFile(t, "pi/pi-v3-branched.jsonl"))
	require.NoError(t, err)
	require.Equal(t, "7981d860", f.Log.Leaf().ID)
	require.Equal(t, "179aec49", f.Log.Find("75dd6d15").ParentID)
	left, err := f.Log.Abandoned(f.Log.Find("b51fc8ba"), f.Log.Find("75dd6d15"))
	require.NoError(t, err)
	require.Equal(t, "b51fc8ba", left[len(left)-1].ID)
	require.NotEqual(t, "179aec49", left[0].ID)
	require.Equal(t, "179aec49", left[0].ParentID)
}

// TestCorpusForeignFiles: transcripts of other agents are refused by name; files of the OpenClaw
// family load, and what their tree lacks is told instead of working on a short path.
func TestCorpusForeignFiles(t *testing.T) {
	t.Parallel()
	for folder, format := range map[string]string{"claude": "Claude Code", "codex": "Codex"} {
		corpusFiles(t, folder, func(t *testing.T, _ string, data []byte) {
			_, err := session.Parse(data)
			var not *session.NotSessionError
			require.ErrorAs(t, err, &not)
			require.Equal(t, format, not.Format)
		})
	}
	corpusFiles(t, "openclaw", func(t *testing.T, _ string, data []byte) {
		f, err := session.Parse(data)
		require.NoError(t, err)
		r := check(t, f)
		require.Equal(t, len(f.Log.Entries), r.Entries)
		stops := 0
		for _, d := range r.Damage {
			if d.Stops {
				stops++
			}
		}
		require.Positive(t, stops)
		_, err = session.BuildContext(f.Log, f, session.ContextOptions{})
		var broken *session.PathError
		require.ErrorAs(t, err, &broken)
	})
}

func BenchmarkInspect(b *testing.B) {
	data := corpusFile(b, "pi/pi-v3-two-compactions.jsonl")
	lines := bytes.Split(data, []byte("\n"))
	var objects []session.Object
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			objects, _ = session.AppendObjects(objects[:0], line)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	data := corpusFile(b, "pi/pi-v3-two-compactions.jsonl")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := session.Parse(data)
		require.NoError(b, err)
	}
}

func BenchmarkBuildContext(b *testing.B) {
	f, err := session.Parse(corpusFile(b, "pi/pi-v1-large-session.jsonl"))
	require.NoError(b, err)
	v3, err := session.Parse(corpusFile(b, "pi/pi-v3-branched.jsonl"))
	require.NoError(b, err)
	for name, f := range map[string]*session.File{"version1": f, "version3": v3} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := session.BuildContext(f.Log, f, session.ContextOptions{})
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	f, err := session.Parse(corpusFile(b, "pi/pi-v3-two-compactions.jsonl"))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, err := session.Check(f.Log, f)
		require.NoError(b, err)
	}
}
