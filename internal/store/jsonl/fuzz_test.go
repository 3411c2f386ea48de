package jsonl

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"recap/internal/session"
	"recap/internal/store"
	"recap/internal/store/storetest"
)

// FuzzFile gives any bytes as a session file. It is read as the plain parser reads it, or refused as
// it refuses it; and an append adds to it, or changes nothing.
func FuzzFile(f *testing.F) {
	two := messages(2)
	for _, seed := range []string{
		"", "\n", "{", "\ufeff", two, two[:len(two)-20], "\ufeff" + two + two, v1, "J\x00\x01" + two, "\n" + two + "{\"type\":\"leaf\",\"targetId\":\"m0001\"}",
		two + "{\"type\":\"message\",\"message\":{\"role\":\"user\"}}\n", `{"type":"title"}` + two,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := open(t, t.TempDir())
		d.smallFile, d.tailBlock, d.batch = 0, 16, 32
		path := filepath.Join(d.root, "s.jsonl")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		want, wantErr := session.Parse(data)
		got, err := d.Load(t.Context(), "s.jsonl", store.ScopeAll)
		require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
		if err != nil {
			require.Equal(t, store.KindNotSession, store.KindOf(err), "%v", err)
			return
		}
		require.Empty(t, cmp.Diff(want.Log, got.Log(), cmpopts.IgnoreUnexported(session.Log{}), cmpopts.EquateEmpty()))
		live, err := d.Load(t.Context(), "s.jsonl", store.ScopeLive)
		require.NoError(t, err)
		require.Equal(t, leafID(got), leafID(live))
		w, err := d.Append(t.Context(), "s.jsonl", store.Expect{Revision: live.Revision()}, []store.NewEntry{storetest.NewUser("ours", "x")})
		require.NoError(t, live.Close())
		require.NoError(t, got.Close())
		after, rerr := os.ReadFile(path)
		require.NoError(t, rerr)
		switch {
		case err != nil:
			require.Equal(t, data, after)
			return
		case w.Migrated:
			backup, err := os.ReadFile(filepath.Join(d.root, w.Backup))
			require.NoError(t, err)
			require.Equal(t, data, backup)
		default:
			require.True(t, bytes.HasPrefix(after, data))
		}
		again, err := session.Parse(after)
		require.NoError(t, err)
		require.Equal(t, "ours", again.Log.Leaf().ID)
		require.Equal(t, leafID(got), again.Log.Leaf().ParentID)
	})
}

func leafID(s store.Snapshot) string {
	if e := s.Log().Leaf(); e != nil {
		return e.ID
	}
	return ""
}
