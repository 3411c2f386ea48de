package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
	"recap/internal/store"
)

func testCreateAndLoad(t *testing.T, f Fixture) {
	id := f.create(t, "one", 3)
	s := f.load(t, id)
	require.Equal(t, "session-one", s.Log().Header.ID)
	require.Equal(t, 3, s.Log().Header.Version)
	require.Equal(t, Header("session-one"), s.Log().Header.Raw)
	require.Equal(t, []string{"m0001", "m0002", "m0003"}, path(t, s.Log()))
	require.Equal(t, texts(Chain(3)), bodies(t, s))
	require.False(t, s.Log().Partial)
	require.True(t, s.Log().Report.Complete)
	require.Empty(t, s.Log().Report.Damage)
	require.Equal(t, session.DialectPi, s.Dialect())
	require.Positive(t, s.Size())
	require.WithinDuration(t, time.Now(), s.LastWrite(), time.Minute)

	unnamed, err := f.Driver.Create(t.Context(), "", Header("own-id"), nil)
	require.NoError(t, err)
	require.Equal(t, "own-id", f.load(t, unnamed).Log().Header.ID)
}

func testCreateRefuses(t *testing.T, f Fixture) {
	id := f.create(t, "one", 1)
	before := f.Raw(t, id)
	_, err := f.Driver.Create(t.Context(), id, Header("x"), nil)
	require.Equal(t, store.KindConflict, store.KindOf(err), "%v", err)
	require.Equal(t, before, f.Raw(t, id))
	for name, c := range map[string]struct {
		header  string
		entries [][]byte
	}{
		"no JSON":        {header: "hello"},
		"no header":      {header: string(User("a", "", "x"))},
		"no id":          {header: `{"type":"session","version":3}`},
		"old version":    {header: `{"type":"session","id":"x"}`},
		"two lines":      {header: string(Header("x")) + "\n"},
		"entry no JSON":  {string(Header("x")), [][]byte{[]byte("{")}},
		"entry twice":    {string(Header("x")), [][]byte{User("a", "", "x"), User("a", "", "x")}},
		"parent unknown": {string(Header("x")), [][]byte{User("a", "b", "x")}},
		"two objects":    {string(Header("x")), [][]byte{[]byte(string(User("a", "", "x")) + string(User("b", "a", "x")))}},
	} {
		_, err := f.Driver.Create(t.Context(), "refused", []byte(c.header), c.entries)
		require.Error(t, err, name)
	}
	page, err := f.Driver.List(t.Context(), store.Filter{}, "")
	require.NoError(t, err)
	require.Len(t, page.Sessions, 1, "what was refused left nothing")
}

func testHeaderOnly(t *testing.T, f Fixture) {
	id := f.create(t, "empty", 0)
	s := f.load(t, id)
	require.Nil(t, s.Log().Leaf())
	require.Empty(t, s.Log().Entries)
	require.Empty(t, path(t, s.Log()))
	_, err := f.Driver.Append(t.Context(), id, store.Expect{Revision: s.Revision()}, []store.NewEntry{NewUser("first", "hi")})
	require.NoError(t, err)
	require.Equal(t, []string{string(User("first", "", "hi"))}, bodies(t, f.load(t, id)), "it became a root")
}

func testBodiesByteForByte(t *testing.T, f Fixture) {
	entries := [][]byte{
		[]byte(`{"id":"a", "type":"message" ,"parentId":null,"zzz":1e400,"n":12345678901234567890,"message":{"role":"user","content":"\u00e9\ud83d\ude00 é"}}`),
		[]byte(`{"type":"from_the_future","id":"b","parentId":"a","deep":{"x":[1,2,{"y":null}]},"dup":1,"dup":2}`),
		[]byte("{\"type\":\"custom\",\"id\":\"c\",\"parentId\":\"b\",\"data\":\"line\u2028separator\u2029 and <html>&amp;\"}"),
		[]byte("\t{ \"type\":\"message\",\"id\":\"d\",\"parentId\":\"c\",\"message\":{\"role\":\"user\",\"content\":\"" + strings.Repeat("long ", 50000) + "\"} }"),
	}
	entries[3] = entries[3][1:]
	id, err := f.Driver.Create(t.Context(), "odd", Header("odd"), entries)
	require.NoError(t, err)
	s := f.load(t, id)
	require.Equal(t, texts(entries), bodies(t, s))
	require.Equal(t, []string{"a", "b", "c", "d"}, path(t, s.Log()))
	require.Equal(t, "from_the_future", s.Log().Find("b").Type)
	require.Equal(t, session.RoleUser, s.Log().Find("d").Role)
}

// testLiveScope loads a session with a compaction near its end: whatever the driver reads, it holds
// the path from the first kept entry on.
func testLiveScope(t *testing.T, f Fixture) {
	entries := Chain(400)
	entries = append(entries, Compaction("c1", "m0400", "m0398"), User("after", "c1", strings.Repeat("x", 3000)))
	id, err := f.Driver.Create(t.Context(), "long", Header("long"), entries)
	require.NoError(t, err)
	live := load(t, f.Driver, id, store.ScopeLive)
	require.Equal(t, live.Revision(), f.load(t, id).Revision(), "the revision does not depend on the scope")
	got := path(t, live.Log())
	require.Equal(t, []string{"m0398", "m0399", "m0400", "c1", "after"}, got[len(got)-5:])
	require.Equal(t, live.Log().Partial, !live.Log().Report.Complete)
	for i, e := range live.Log().Entries[len(live.Log().Entries)-5:] {
		b, err := live.Body(&e)
		require.NoError(t, err)
		require.Equal(t, string(entries[397+i]), string(b))
	}
}

func testNotFound(t *testing.T, f Fixture) {
	for _, id := range []string{"nothing", "nothing.jsonl", "no/such/folder/x.jsonl", ""} {
		_, err := f.Driver.Load(t.Context(), id, store.ScopeAll)
		require.Equal(t, store.KindNotFound, store.KindOf(err), "%q: %v", id, err)
		_, err = f.Driver.Append(t.Context(), id, store.Expect{}, []store.NewEntry{NewUser("a", "x")})
		require.Equal(t, store.KindNotFound, store.KindOf(err), "%q: %v", id, err)
		_, err = f.Driver.Rewrite(t.Context(), id, store.Expect{}, store.Change{Append: []store.NewEntry{NewUser("a", "x")}})
		require.Equal(t, store.KindNotFound, store.KindOf(err), "%q: %v", id, err)
		_, err = f.Driver.Canonical(t.Context(), id)
		require.Equal(t, store.KindNotFound, store.KindOf(err), "%q: %v", id, err)
	}
}

func testList(t *testing.T, f Fixture) {
	page, err := f.Driver.List(t.Context(), store.Filter{}, "")
	require.NoError(t, err)
	require.Empty(t, page, "nothing is there")
	var want []string
	for i := range 7 {
		want = append(want, f.create(t, fmt.Sprintf("s%d", i), i))
	}
	old := time.Now().Add(-time.Hour)
	for _, id := range want[:3] {
		f.SetActivity(t, id, old)
	}

	var got []string
	cursor := ""
	for range 10 {
		page, err := f.Driver.List(t.Context(), store.Filter{Limit: 2}, cursor)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Sessions), 2)
		for _, s := range page.Sessions {
			got = append(got, s.ID)
			snap := f.load(t, s.ID)
			require.Equal(t, store.Info{ID: s.ID, Revision: snap.Revision(), Size: snap.Size(), LastActivity: snap.LastWrite()}, s)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	require.Equal(t, want, got, "every session once, in the order of the ids")

	page, err = f.Driver.List(t.Context(), store.Filter{OlderThan: old.Add(time.Minute)}, "")
	require.NoError(t, err)
	require.Len(t, page.Sessions, 3)
	require.Equal(t, want[0], page.Sessions[0].ID)
	require.Empty(t, page.Next)
}

func testCanonical(t *testing.T, f Fixture) {
	id := f.create(t, "named", 1)
	got, err := f.Driver.Canonical(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, id, got)
	got, err = f.Driver.Canonical(t.Context(), "named")
	require.NoError(t, err)
	require.Equal(t, id, got)
}

func testCancelled(t *testing.T, f Fixture) {
	id := f.create(t, "one", 1)
	rev := f.revision(t, id)
	before := f.Raw(t, id)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.Driver.Load(ctx, id, store.ScopeAll)
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Driver.Append(ctx, id, rev, []store.NewEntry{NewUser("a", "x")})
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Driver.Rewrite(ctx, id, rev, store.Change{Replace: map[string][]byte{"m0001": User("m0001", "", "x")}})
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Driver.List(ctx, store.Filter{}, "")
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Driver.Create(ctx, "two", Header("two"), nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, f.Raw(t, id))
}

func testRevisionsAndTimes(t *testing.T, f Fixture) {
	id := f.create(t, "one", 1)
	a, b := f.load(t, id), f.load(t, id)
	require.Equal(t, a.Revision(), b.Revision(), "reading changes nothing")
	past := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	f.SetActivity(t, id, past)
	c := f.load(t, id)
	require.WithinDuration(t, past, c.LastWrite(), time.Second)
	w, err := f.Driver.Append(t.Context(), id, store.Expect{Revision: c.Revision()}, []store.NewEntry{NewUser("new", "x")})
	require.NoError(t, err)
	d := f.load(t, id)
	require.Equal(t, w.Revision, d.Revision(), "a write returns the revision it made")
	require.NotEqual(t, c.Revision(), d.Revision())
	require.WithinDuration(t, time.Now(), d.LastWrite(), time.Minute)
	require.Greater(t, d.Size(), c.Size())
	var typed *store.Error
	_, err = f.Driver.Append(t.Context(), id, store.Expect{Revision: c.Revision()}, []store.NewEntry{NewUser("late", "x")})
	require.True(t, errors.As(err, &typed))
	require.Equal(t, id, typed.ID)
	require.NotContains(t, err.Error(), "\n", "an error is one line")
}
