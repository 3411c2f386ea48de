package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
)

func TestBRS02AbandonedEntriesLieBelowTheCommonAncestor(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), user("b", "a", "2"), compaction("c", "b", "s", "a"), user("d", "c", "3"), user("x", "a", "side"), user("r", "", "other root"))
	find := f.Log.Find
	tests := []struct {
		name        string
		old, target *session.Entry
		want        []string
	}{
		{name: "to another branch, past a compaction", old: find("d"), target: find("x"), want: []string{"b", "c", "d"}},
		{name: "back on the same path", old: find("d"), target: find("b"), want: []string{"c", "d"}},
		{name: "forward", old: find("b"), target: find("d"), want: []string{}},
		{name: "to another root", old: find("b"), target: find("r"), want: []string{"a", "b"}},
		{name: "before the first entry", old: find("b"), target: nil, want: []string{"a", "b"}},
		{name: "from nowhere", old: nil, target: find("b"), want: []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := f.Log.Abandoned(tt.old, tt.target)
			require.NoError(t, err)
			require.Equal(t, tt.want, ids(got))
		})
	}
	broken := parse(t, header, user("a", "gone", "1"), user("b", "", "2"))
	var damage *session.PathError
	_, err := broken.Log.Abandoned(broken.Log.Find("b"), broken.Log.Find("a"))
	require.ErrorAs(t, err, &damage)
}
