package interop

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/session"
	"recap/internal/testkit/pi"
	"recap/internal/testkit/repo"
)

// TestReadsWhatPiReads compares, for every file of the corpus, the context that pi rebuilds with
// ours: the same messages in the same order, the same model. Where recap means to read more than pi,
// pi is given the file as recap understands it, and must then agree, and must not have agreed before.
func TestReadsWhatPiReads(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repo.Corpus(t), "pi", "*.jsonl"))
	require.NoError(t, err)
	agent := pi.Start(t)
	left := map[string]bool{}
	for name := range differences {
		left[name] = true
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		delete(left, name)
		t.Run(name, func(t *testing.T) { // one after the other: they share one pi
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			f, err := session.Parse(data)
			require.NoError(t, err)
			c, err := session.BuildContext(f.Log, f, session.ContextOptions{Raw: true})
			require.NoError(t, err)
			got, theirs := ours(t, c.Messages), agent.Read(file)

			if mend, ok := differences[name]; ok {
				require.NotEmpty(t, cmp.Diff(views(t, theirs.Messages), got), "pi agrees already: the exception is not needed any more")
				mended := filepath.Join(t.TempDir(), "session.jsonl")
				require.NoError(t, os.WriteFile(mended, mend(t, data), 0o600))
				theirs = agent.Read(mended)
			}
			if diff := cmp.Diff(views(t, theirs.Messages), got); diff != "" {
				t.Fatalf("pi (-) and recap (+) see different messages:\n%.4000s", diff)
			}
			if theirs.Model != nil {
				require.Equal(t, theirs.Model.Provider, c.Provider)
				require.Equal(t, theirs.Model.ModelID, c.Model)
			}
		})
	}
	require.Empty(t, left, "exceptions for files that the corpus does not have")
}

// differences are the files in which recap reads more than pi, and how the file must be written for
// pi to read as much.
var differences = map[string]func(t *testing.T, data []byte) []byte{
	// Two objects on one physical line: pi drops the line, recap reads both.
	"pi-v1-compact-images-gluedlines":  unglue,
	"pi-v1-session-thinking-gluedline": unglue,
	// The compaction's first kept entry does not exist: pi drops everything before the compaction,
	// recap shows it, because damage may cost an overlap but never history.
	"pi-v3-compaction_missing": keepAll,
}

// unglue puts every object on a line of its own.
func unglue(t *testing.T, data []byte) []byte {
	t.Helper()
	var out []byte
	glued := 0
	for line := range bytes.Lines(data) {
		objects, damage := session.Inspect(bytes.TrimRight(line, "\r\n"))
		if damage != session.DamageGlued {
			out = append(out, line...)
			continue
		}
		glued++
		for _, o := range objects {
			out = append(append(out, o.Raw...), '\n')
		}
	}
	require.Equal(t, 1, glued, "glued lines")
	return out
}

// keepAll lets the session's one compaction keep everything before it.
func keepAll(t *testing.T, data []byte) []byte {
	t.Helper()
	f, err := session.Parse(data)
	require.NoError(t, err)
	path, err := f.Log.Path()
	require.NoError(t, err)
	index, c, err := session.EffectiveCompaction(path, f)
	require.NoError(t, err)
	require.Positive(t, index)
	require.Equal(t, 1, bytes.Count(data, []byte(c.FirstKeptEntryID)), "nothing else has the missing id")
	return bytes.Replace(data, []byte(c.FirstKeptEntryID), []byte(path[0].ID), 1)
}
