package session_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/session"
)

func TestLeafIsTheLastEntryWhateverItsType(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "hi"), entry("label", "l", "a", `"targetId":"a","label":"x"`))
	require.Equal(t, "l", f.Log.Leaf().ID)
	require.Nil(t, parse(t, header).Log.Leaf())
}

func TestLeafRecordNamesTheLeaf(t *testing.T) {
	t.Parallel()
	leaf := func(target string) string { return `{"type":"leaf","id":"x","targetId":` + target + `}` }
	base := []string{header, user("a", "", "1"), user("b", "a", "2"), user("c", "b", "3")}
	tests := []struct {
		name  string
		extra []string
		want  string // "" for none
	}{
		{name: "an entry", extra: []string{leaf(`"a"`)}, want: "a"},
		{name: "before the first entry", extra: []string{leaf(`null`)}, want: ""},
		{name: "an unknown entry is ignored", extra: []string{leaf(`"nope"`)}, want: "c"},
		{name: "a later entry is the leaf again", extra: []string{leaf(`"a"`), user("d", "a", "4")}, want: "d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := parse(t, append(append([]string{}, base...), tt.extra...)...).Log.Leaf()
			if tt.want == "" {
				require.Nil(t, got)
				return
			}
			require.Equal(t, tt.want, got.ID)
		})
	}
}

func TestPathFollowsParentsToTheRoot(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), user("b", "a", "2"), user("x", "a", "side"), user("c", "b", "3"))
	path, err := f.Log.Path()
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, ids(path))
	path, err = f.Log.PathTo(f.Log.Find("x"))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "x"}, ids(path))
	path, err = f.Log.PathTo(nil)
	require.NoError(t, err)
	require.Empty(t, path)
}

func TestPathTakesTheSessionAsParentForARoot(t *testing.T) {
	t.Parallel()
	path, err := parse(t, header, user("a", "s1", "1"), user("b", "a", "2")).Log.Path()
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, ids(path))
}

func TestPathOfEqualIDsUsesTheLaterEntry(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), user("b", "a", "old"), user("b", "a", "new"), user("c", "b", "3"))
	path, err := f.Log.Path()
	require.NoError(t, err)
	require.Equal(t, 4, path[1].Line)
}

func TestPathRefusesABrokenTree(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lines []string
		want  session.PathError
	}{
		{
			name:  "parent missing",
			lines: []string{user("a", "", "1"), user("b", "a", "2"), user("d", "gone", "4"), user("e", "d", "5")},
			want:  session.PathError{ID: "gone", Child: "d", Line: 4, Unreachable: 2},
		},
		{
			name:  "cycle",
			lines: []string{user("r", "", "0"), user("a", "c", "1"), user("b", "a", "2"), user("c", "b", "3")},
			want:  session.PathError{Cycle: true, ID: "c", Child: "a", Line: 3, Unreachable: 1},
		},
		{
			name:  "entry is its own parent",
			lines: []string{user("a", "a", "1")},
			want:  session.PathError{Cycle: true, ID: "a", Child: "a", Line: 2},
		},
		{
			name:  "leaf without id",
			lines: []string{user("a", "", "1"), `{"type":"message","parentId":"a","message":{"role":"user","content":"x"}}`},
			want:  session.PathError{NoID: true, Line: 3, Unreachable: 1},
		},
		{
			name:  "parent not named at all",
			lines: []string{user("a", "", "1"), `{"type":"message","id":"b","message":{"role":"user","content":"x"}}`, user("c", "b", "3")},
			want:  session.PathError{NoParent: true, Child: "b", Line: 3, Unreachable: 1},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path, err := parse(t, append([]string{header}, tt.lines...)...).Log.Path()
			require.Nil(t, path)
			var got *session.PathError
			require.ErrorAs(t, err, &got)
			require.Equal(t, tt.want, *got)
			require.NotContains(t, err.Error(), "\n")
			_, err = session.BuildContext(parse(t, append([]string{header}, tt.lines...)...).Log, nil, session.ContextOptions{})
			require.ErrorAs(t, err, &got, "no context of the short path")
		})
	}
}

func TestPathOfAPartialLogStartsAtTheFirstEntryRead(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("c", "unread", "3"), user("d", "c", "4"))
	f.Log.Partial = true
	path, err := f.Log.Path()
	require.NoError(t, err)
	require.Equal(t, []string{"c", "d"}, ids(path))
}

// TestPathOfAnyTree compares the walk with a naive one over random parents, forward and unknown
// references included.
func TestPathOfAnyTree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		entries := make([]session.Entry, n)
		parents := map[string]string{}
		for i := range entries {
			id := fmt.Sprintf("e%d", i)
			parent := ""
			if p := rapid.IntRange(-1, n).Draw(t, "parent"); p >= 0 && (i > 0 || p > 0) {
				// Mostly earlier entries, so that whole paths occur.
				if rapid.IntRange(0, 9).Draw(t, "wild") > 0 && i > 0 {
					p %= i
				}
				parent = fmt.Sprintf("e%d", p)
			}
			entries[i] = session.Entry{ID: id, ParentID: parent, Type: session.TypeMessage, Line: i + 2}
			parents[id] = parent
		}
		var naive []string
		wantErr := false
		for at := entries[n-1].ID; at != ""; at = parents[at] {
			if _, ok := parents[at]; !ok || len(naive) > n {
				wantErr = true
				break
			}
			naive = append([]string{at}, naive...)
		}
		path, err := session.NewLog(session.Header{ID: "s"}, entries, session.Report{}).Path()
		if wantErr {
			var broken *session.PathError
			require.True(t, errors.As(err, &broken))
			require.LessOrEqual(t, broken.Unreachable, n)
			return
		}
		require.NoError(t, err)
		require.Equal(t, naive, ids(path))
	})
}
