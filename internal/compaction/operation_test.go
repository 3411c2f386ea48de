package compaction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/session"
)

// counting counts how many bodies are read.
type counting struct {
	session.Bodies
	n int
}

func (c *counting) Body(e *session.Entry) ([]byte, error) {
	c.n++
	return c.Bodies.Body(e)
}

func marked(e map[string]any, operation string) map[string]any {
	e["details"] = map[string]any{"recap": map[string]any{"operation": operation, "attempt": 1}, "readFiles": []string{"r.go"}}
	return e
}

func TestAnOperationIsFoundByItsMark(t *testing.T) {
	t.Parallel()
	f := parse(t, lines(user("a", "x"), says("b", "y"), compacted("other", "a", "O"), marked(compacted("k", "b", "S"), "op-7"), user("c", "z")))
	bodies := &counting{Bodies: f}
	done, err := compaction.FindOperation(f.Log, bodies, "op-7")
	require.NoError(t, err)
	require.Equal(t, "k", done.EntryID)
	require.Equal(t, "b", done.FirstKeptEntryID)
	require.Equal(t, 1, *done.TokensBefore)
	require.LessOrEqual(t, bodies.n, 2)

	done, err = compaction.FindOperation(f.Log, f, "op-8")
	require.NoError(t, err)
	require.Nil(t, done)
	orphan, err := compaction.FindOrphan(f.Log, f)
	require.NoError(t, err)
	require.Empty(t, orphan)
}

func TestOrphansThatCanBePutBack(t *testing.T) {
	t.Parallel()
	base := []map[string]any{user("a", "x"), says("b", "y"), user("c", "z")}
	mark := func(parent, kept string) map[string]any {
		return with(marked(compacted("k", kept, "S"), "op-7"), "parentId", parent)
	}
	for _, tt := range []struct {
		name  string
		after []map[string]any
		want  string
	}{
		{"an agent wrote on under the old leaf", []map[string]any{mark("c", "b"), with(user("d", "more"), "parentId", "c")}, "k"},
		{"on the path", []map[string]any{mark("c", "b"), user("d", "more")}, ""},
		{"keeps nothing", []map[string]any{mark("c", session.KeepNothing), with(user("d", "more"), "parentId", "c")}, "k"},
		{"its boundary is off the path", []map[string]any{with(user("x", "side"), "parentId", "b"), mark("c", "x"), with(user("d", "more"), "parentId", "c")}, ""},
		{"its parent is off the path", []map[string]any{mark("c", "b"), with(user("d", "more"), "parentId", "b")}, ""},
		{"something was compacted since", []map[string]any{mark("c", "b"), with(user("d", "more"), "parentId", "c"), compacted("k2", "c", "T"), user("e", "on")}, ""},
		{"somebody went on under it and came back", []map[string]any{mark("c", "b"), user("d", "more"), with(user("e", "other"), "parentId", "c")}, ""},
		{"not made by recap", []map[string]any{with(compacted("k", "b", "S"), "parentId", "c"), with(user("d", "more"), "parentId", "c")}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := parse(t, lines(append(cloneAll(base), cloneAll(tt.after)...)...))
			got, err := compaction.FindOrphan(f.Log, f)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			done, err := compaction.FindOperation(f.Log, f, "op-7")
			require.NoError(t, err)
			require.Equal(t, tt.want == "" && tt.name != "not made by recap", done != nil)
		})
	}
}

func TestAnOrphanIsBuiltAgain(t *testing.T) {
	t.Parallel()
	before := 77
	n := compaction.Again(session.Compaction{Summary: "S", FirstKeptEntryID: "b", TokensBefore: &before, Details: []byte(`{"readFiles":[]}`), CustomInstructions: "focus"})
	require.Equal(t, session.NewCompaction{Summary: "S", FirstKeptEntryID: "b", TokensBefore: &before, Estimate: 77, Details: []byte(`{"readFiles":[]}`), CustomInstructions: "focus"}, n)
}

func TestSearchingReadsOnlyCompactions(t *testing.T) {
	t.Parallel()
	var list []map[string]any
	for i := range 300 {
		list = append(list, user(strings.Repeat("i", i+1), "x"))
	}
	f := parse(t, lines(list...))
	bodies := &counting{Bodies: f}
	_, err := compaction.FindOperation(f.Log, bodies, "op")
	require.NoError(t, err)
	_, err = compaction.FindOrphan(f.Log, bodies)
	require.NoError(t, err)
	require.Zero(t, bodies.n)
}

func TestSessionModel(t *testing.T) {
	t.Parallel()
	reply := message("r", map[string]any{"role": "assistant", "content": []any{}, "provider": "p", "model": "answered"})
	for _, tt := range []struct {
		name string
		list []map[string]any
		want string
	}{
		{"pi spelling", []map[string]any{entry("model_change", "m", "provider", "anthropic", "modelId", "large"), reply}, "anthropic/large"},
		{"Veyyon spelling", []map[string]any{entry("model_change", "m", "model", "anthropic/large"), reply}, "anthropic/large"},
		{"another role's change", []map[string]any{entry("model_change", "m", "model", "x/y", "role", "fallback"), reply}, "p/answered"},
		{"no change", []map[string]any{user("u", "x"), reply}, "p/answered"},
		{"nothing", []map[string]any{user("u", "x")}, ""},
		{"broken path", []map[string]any{with(user("u", "x"), "parentId", "gone"), says("v", "y")}, ""},
	} {
		f := parse(t, lines(cloneAll(tt.list)...))
		got, err := compaction.SessionModel(f.Log, f)
		require.NoError(t, err)
		require.Equal(t, tt.want, got, tt.name)
	}
}
