package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/store"
)

// grewOnly checks promise G1: everything stored before is still there, byte for byte.
func grewOnly(t *testing.T, before, after []byte) {
	t.Helper()
	require.True(t, bytes.HasPrefix(after, before), "existing bytes changed")
}

func testAppendHangsUnderTheLeaf(t *testing.T, f Fixture) {
	id := f.create(t, "one", 2)
	before := f.Raw(t, id)
	w, err := f.Driver.Append(t.Context(), id, f.revision(t, id), []store.NewEntry{NewUser("x", "first"), NewUser("y", "second")})
	require.NoError(t, err)
	require.False(t, w.Reappended)
	require.False(t, w.Migrated)
	require.Empty(t, w.Backup)
	s := f.load(t, id)
	require.Equal(t, []string{"m0001", "m0002", "x", "y"}, path(t, s.Log()))
	require.Equal(t, string(User("x", "m0002", "first")), bodies(t, s)[2])
	require.Equal(t, string(User("y", "x", "second")), bodies(t, s)[3])
	grewOnly(t, before, f.Raw(t, id))
}

func testAppendRefusesAStaleRevision(t *testing.T, f Fixture) {
	id := f.create(t, "one", 2)
	rev := f.revision(t, id)
	_, err := f.Driver.Append(t.Context(), id, rev, []store.NewEntry{NewUser("x", "x")})
	require.NoError(t, err)
	before := f.Raw(t, id)
	for _, stale := range []store.Revision{rev.Revision, "", "nonsense"} {
		_, err = f.Driver.Append(t.Context(), id, store.Expect{Revision: stale}, []store.NewEntry{NewUser("y", "y")})
		require.Equal(t, store.KindConflict, store.KindOf(err), "%v", err)
		_, err = f.Driver.Rewrite(t.Context(), id, store.Expect{Revision: stale}, store.Change{Append: []store.NewEntry{NewUser("y", "y")}})
		require.Equal(t, store.KindConflict, store.KindOf(err), "%v", err)
	}
	require.Equal(t, before, f.Raw(t, id))
}

func testAppendRefusesWhatIsNoEntry(t *testing.T, f Fixture) {
	id := f.create(t, "one", 2)
	rev := f.revision(t, id)
	before := f.Raw(t, id)
	broken := errors.New("cannot be built")
	for name, build := range map[string]func(string) ([]byte, error){
		"fails":        func(string) ([]byte, error) { return nil, broken },
		"nothing":      func(string) ([]byte, error) { return nil, nil },
		"no JSON":      func(string) ([]byte, error) { return []byte("{"), nil },
		"two lines":    func(p string) ([]byte, error) { return append(User("x", p, "x"), '\n'), nil },
		"two objects":  func(p string) ([]byte, error) { return append(User("x", p, "x"), User("z", "x", "")...), nil },
		"other id":     func(p string) ([]byte, error) { return User("z", p, "x"), nil },
		"other parent": func(string) ([]byte, error) { return User("x", "m0001", "x"), nil },
		"no type":      func(p string) ([]byte, error) { return fmt.Appendf(nil, `{"id":"x","parentId":%q}`, p), nil },
	} {
		good := NewUser("first", "of two")
		_, err := f.Driver.Append(t.Context(), id, rev, []store.NewEntry{good, {ID: "x", Build: build}})
		require.Error(t, err, name)
		require.Equal(t, before, f.Raw(t, id), "%s: all or nothing", name)
	}
	_, err := f.Driver.Append(t.Context(), id, rev, []store.NewEntry{{ID: "x", Build: func(string) ([]byte, error) { return nil, broken }}})
	require.ErrorIs(t, err, broken)
}

func testAppendOfNothing(t *testing.T, f Fixture) {
	id := f.create(t, "one", 2)
	rev := f.revision(t, id)
	before := f.Raw(t, id)
	w, err := f.Driver.Append(t.Context(), id, rev, nil)
	require.NoError(t, err)
	require.Equal(t, rev.Revision, w.Revision)
	require.Equal(t, before, f.Raw(t, id))
}

// testOneWriterPerRevision lets twenty callers write on the same state: one gets in (promise G2).
func testOneWriterPerRevision(t *testing.T, f Fixture) {
	id := f.create(t, "one", 2)
	before := f.Raw(t, id)
	drivers := []store.Driver{f.Driver}
	if f.Second != nil {
		drivers = append(drivers, f.Second)
	}
	for round := range 3 {
		rev := f.revision(t, id)
		const callers = 20
		errs := make([]error, callers)
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				_, errs[i] = drivers[i%len(drivers)].Append(t.Context(), id, rev,
					[]store.NewEntry{NewUser(fmt.Sprintf("r%d-%d", round, i), "x")})
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			require.Equal(t, store.KindConflict, store.KindOf(err), "%v", err)
		}
		require.Equal(t, 1, won)
		require.Len(t, path(t, f.load(t, id).Log()), 3+round)
	}
	grewOnly(t, before, f.Raw(t, id))
}

// testEveryoneGetsIn lets writers try again until they succeed: no entry is lost, and all are on the
// one path.
func testEveryoneGetsIn(t *testing.T, f Fixture) {
	id := f.create(t, "one", 1)
	const writers = 8
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for {
				s, err := f.Driver.Load(t.Context(), id, store.ScopeLive)
				if err == nil {
					rev := s.Revision()
					if err = s.Close(); err == nil {
						_, err = f.Driver.Append(t.Context(), id, store.Expect{Revision: rev},
							[]store.NewEntry{NewUser(fmt.Sprintf("w%d", i), "x")})
					}
				}
				if store.KindOf(err) == store.KindConflict {
					continue
				}
				errs[i] = err
				return
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Len(t, path(t, f.load(t, id).Log()), 1+writers)
}

func testSnapshotsDoNotMove(t *testing.T, f Fixture) {
	id := f.create(t, "one", 5)
	old := f.load(t, id)
	_, err := f.Driver.Append(t.Context(), id, store.Expect{Revision: old.Revision()}, []store.NewEntry{NewUser("x", "x")})
	require.NoError(t, err)
	mid := f.load(t, id)
	_, err = f.Driver.Rewrite(t.Context(), id, store.Expect{Revision: mid.Revision()},
		store.Change{Replace: map[string][]byte{"m0002": User("m0002", "m0001", "changed")}})
	require.NoError(t, err)
	require.Equal(t, texts(Chain(5)), bodies(t, old))
	require.Equal(t, append(texts(Chain(5)), string(User("x", "m0005", "x"))), bodies(t, mid))
	require.Equal(t, []string{"m0001", "m0002", "m0003", "m0004", "m0005"}, ids(old.Log()))
}

// testReadersBesideWriters reads while entries are appended: what a reader sees is a state that was.
func testReadersBesideWriters(t *testing.T, f Fixture) {
	id := f.create(t, "one", 3)
	done := make(chan struct{})
	var wg sync.WaitGroup
	readErrs := make([]error, 3)
	for i := range readErrs {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if readErrs[i] = readWhole(t, f.Driver, id); readErrs[i] != nil {
					return
				}
			}
		})
	}
	var err error
	for i := range 30 {
		var s store.Snapshot
		if s, err = f.Driver.Load(t.Context(), id, store.ScopeAll); err != nil {
			break
		}
		rev := s.Revision()
		if err = s.Close(); err != nil {
			break
		}
		if _, err = f.Driver.Append(t.Context(), id, store.Expect{Revision: rev}, []store.NewEntry{NewUser(fmt.Sprintf("n%d", i), "x")}); err != nil {
			break
		}
	}
	close(done)
	wg.Wait()
	require.NoError(t, err)
	require.NoError(t, errors.Join(readErrs...))
}

// readWhole loads a session and reads every body of its path.
func readWhole(t *testing.T, d store.Driver, id string) error {
	s, err := d.Load(t.Context(), id, store.ScopeAll)
	if err != nil {
		return err
	}
	p, err := s.Log().Path()
	if err == nil && len(p) < 3 {
		err = fmt.Errorf("a reader saw %d entries", len(p))
	}
	for _, e := range p {
		if err == nil {
			_, err = s.Body(e)
		}
	}
	return errors.Join(err, s.Close())
}

func testRewrite(t *testing.T, f Fixture) {
	id := f.create(t, "one", 4)
	w, err := f.Driver.Rewrite(t.Context(), id, f.revision(t, id), store.Change{
		Replace: map[string][]byte{
			"m0003": User("m0003", "m0002", "three, and much longer than it was before"),
			"m0001": User("m0001", "", "1"),
		},
		Append: []store.NewEntry{NewUser("x", "new")},
	})
	require.NoError(t, err)
	s := f.load(t, id)
	require.Equal(t, w.Revision, s.Revision())
	want := texts(Chain(4))
	want[0] = string(User("m0001", "", "1"))
	want[2] = string(User("m0003", "m0002", "three, and much longer than it was before"))
	require.Equal(t, append(want, string(User("x", "m0004", "new"))), bodies(t, s))
	require.Equal(t, []string{"m0001", "m0002", "m0003", "m0004", "x"}, path(t, s.Log()))
	require.Empty(t, s.Log().Report.Damage)
}

func testRewriteIsAllOrNothing(t *testing.T, f Fixture) {
	id := f.create(t, "one", 4)
	before := f.Raw(t, id)
	good := map[string][]byte{"m0001": User("m0001", "", "1")}
	with := func(id string, body []byte) map[string][]byte {
		return map[string][]byte{"m0001": good["m0001"], id: body}
	}
	for name, change := range map[string]store.Change{
		"unknown entry": {Replace: with("nobody", User("nobody", "", "x"))},
		"no JSON":       {Replace: with("m0002", []byte("x"))},
		"other id":      {Replace: with("m0002", User("m0003", "m0001", "x"))},
		"other parent":  {Replace: with("m0002", User("m0002", "", "x"))},
		"other type":    {Replace: with("m0002", Compaction("m0002", "m0001", "m0001"))},
		"two lines":     {Replace: with("m0002", append(User("m0002", "m0001", "x"), '\n'))},
		"bad append": {Replace: good, Append: []store.NewEntry{{ID: "x", Build: func(string) ([]byte, error) {
			return nil, errors.New("no")
		}}}},
	} {
		_, err := f.Driver.Rewrite(t.Context(), id, f.revision(t, id), change)
		require.Error(t, err, name)
		require.Equal(t, before, f.Raw(t, id), name)
	}
}
