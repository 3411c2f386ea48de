package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
	"recap/internal/store"
	"recap/internal/store/storetest"
)

// file writes a session file with exactly this content and returns its driver and id.
func file(t testing.TB, content string) (*Driver, string) {
	t.Helper()
	d := open(t, t.TempDir())
	require.NoError(t, os.WriteFile(filepath.Join(d.root, "s.jsonl"), []byte(content), 0o600))
	return d, "s.jsonl"
}

// messages is a session of n messages as file content.
func messages(n int) string {
	data, _, err := store.Join(storetest.Header("s"), storetest.Chain(n))
	if err != nil {
		panic(err)
	}
	return string(data)
}

func content(t testing.TB, d *Driver, id string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(d.root, id))
	require.NoError(t, err)
	return string(b)
}

func revisionOf(t testing.TB, d *Driver, id string) store.Expect {
	t.Helper()
	return store.Expect{Revision: load(t, d, id, store.ScopeAll).Revision()}
}

// foreign appends text as an agent does: no lock, at the end, by path.
func foreign(t testing.TB, d *Driver, id, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(d.root, id), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func appendOne(t testing.TB, d *Driver, id string) store.Written {
	t.Helper()
	w, err := d.Append(t.Context(), id, revisionOf(t, d, id), []store.NewEntry{storetest.NewUser("ours", "x")})
	require.NoError(t, err)
	return w
}

func pathIDs(t testing.TB, s *snapshot) (ids []string) {
	t.Helper()
	p, err := s.Log().Path()
	require.NoError(t, err)
	for _, e := range p {
		ids = append(ids, e.ID)
	}
	return ids
}

// TestAppendLeavesOddFilesAsTheyAre appends to files with everything odd that is found in practice:
// the bytes before stay, and exactly our line is added.
func TestAppendLeavesOddFilesAsTheyAre(t *testing.T) {
	t.Parallel()
	two := messages(2)
	lines := strings.SplitAfter(two, "\n")
	title := `{"type":"title","v":1,"title":"x","pad":"` + strings.Repeat(" ", 200) + `"}` + "\n"
	ours := func(parent string) string { return string(storetest.User("ours", parent, "x")) + "\n" }
	for name, c := range map[string]struct{ before, added string }{
		"plain":                 {two, ours("m0002")},
		"no final newline":      {strings.TrimSuffix(two, "\n"), "\n" + ours("m0002")},
		"torn tail":             {two + `{"type":"message","id":"torn","par`, "\n" + ours("m0002")},
		"torn in a character":   {two + "{\"type\":\"message\",\"id\":\"torn\",\"x\":\"\xe2\x80", "\n" + ours("m0002")},
		"CRLF":                  {strings.ReplaceAll(two, "\n", "\r\n"), ours("m0002")},
		"byte order mark":       {"\ufeff" + two, ours("m0002")},
		"title line":            {title + two, ours("m0002")},
		"blank lines":           {"\n\n" + lines[0] + "\n  \n" + lines[1] + "\r\n" + lines[2] + "\n\n", ours("m0002")},
		"header only":           {lines[0], ours("")},
		"header, no newline":    {strings.TrimSuffix(lines[0], "\n"), "\n" + ours("")},
		"glued header":          {strings.TrimSuffix(lines[0], "\n") + lines[1], ours("m0001")},
		"glued entries":         {lines[0] + strings.TrimSuffix(lines[1], "\n") + lines[2], ours("m0002")},
		"line separators":       {two + "{\"type\":\"custom\",\"id\":\"u\",\"parentId\":\"m0002\",\"data\":\"a\u2028b\u2029c\"}\n", ours("u")},
		"unknown type":          {two + `{"type":"future","id":"f","parentId":"m0002","n":1e999}` + "\n", ours("f")},
		"damaged middle":        {lines[0] + "{broken\n" + lines[1] + "\x00\x01\n" + lines[2], ours("m0002")},
		"damaged end":           {two + "{broken\n", ours("m0002")},
		"second header":         {two + lines[0], ours("m0002")},
		"leaf record":           {two + `{"type":"leaf","targetId":"m0001"}` + "\n", ours("m0001")},
		"leaf record of nobody": {two + `{"type":"leaf","id":"l","targetId":null}` + "\n", ours("")},
		"duplicate id":          {two + strings.ReplaceAll(lines[1], "message 1", "again"), ours("m0001")},
		"long header":           {strings.Replace(two, `"/srv/demo"`, `"/`+strings.Repeat("d", 9000)+`"`, 1), ours("m0002")},
		"long last line":        {two + string(storetest.User("long", "m0002", strings.Repeat("y", 100_000))) + "\n", ours("long")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, id := file(t, c.before)
			w := appendOne(t, d, id)
			require.Equal(t, c.before+c.added, content(t, d, id))
			require.Equal(t, store.Written{Revision: w.Revision}, w)
			require.Equal(t, revisionOf(t, d, id).Revision, w.Revision)
			require.Equal(t, "ours", load(t, d, id, store.ScopeAll).Log().Leaf().ID)
			require.Equal(t, "ours", load(t, d, id, store.ScopeLive).Log().Leaf().ID)
			entries, err := os.ReadDir(d.root)
			require.NoError(t, err)
			require.Len(t, entries, 1, "nothing is left beside the session")
		})
	}
}

// TestForeignLineBeforeOurs lets an agent's line land between the check and our write: the entry is
// appended once more under that line.
func TestForeignLineBeforeOurs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		landed     string
		reappended bool
		path       []string
	}{
		"an entry":       {string(storetest.User("theirs", "m0002", "x")) + "\n", true, []string{"m0001", "m0002", "theirs", "ours"}},
		"two entries":    {string(storetest.User("t1", "m0002", "x")) + "\n" + string(storetest.User("t2", "t1", "x")) + "\n", true, []string{"m0001", "m0002", "t1", "t2", "ours"}},
		"half a line":    {`{"type":"message","id":"half`, true, []string{"m0001", "m0002", "ours"}},
		"a blank line":   {"\n", false, []string{"m0001", "m0002", "ours"}},
		"a damaged line": {"{broken\n", false, []string{"m0001", "m0002", "ours"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := messages(2)
			d, id := file(t, before)
			once := sync.Once{}
			d.seam.beforeWrite = func() { once.Do(func() { foreign(t, d, id, c.landed) }) }
			w := appendOne(t, d, id)
			require.Equal(t, c.reappended, w.Reappended)
			require.True(t, strings.HasPrefix(content(t, d, id), before+c.landed))
			s := load(t, d, id, store.ScopeAll)
			require.Equal(t, c.path, pathIDs(t, s))
			require.Equal(t, w.Revision, s.Revision())
		})
	}
}

// TestForeignLineAfterOurs: a line that lands after ours is not in the revision we return.
func TestForeignLineAfterOurs(t *testing.T) {
	t.Parallel()
	d, id := file(t, messages(2))
	d.seam.write = func(f *os.File, b []byte) (int, error) {
		n, err := writeOnce(f, b)
		foreign(t, d, id, string(storetest.User("theirs", "m0002", "x"))+"\n")
		return n, err
	}
	w := appendOne(t, d, id)
	require.False(t, w.Reappended)
	require.NotEqual(t, revisionOf(t, d, id).Revision, w.Revision)
	d.seam.write = nil
	_, err := d.Append(t.Context(), id, store.Expect{Revision: w.Revision}, []store.NewEntry{storetest.NewUser("next", "x")})
	require.Equal(t, store.KindConflict, store.KindOf(err))
}

// TestBesideAnAgentThatKeepsWriting races appends of ours against an agent that knows no lock and
// writes whenever we are between our check and our write. No line of either side is lost, split or
// glued.
func TestBesideAnAgentThatKeepsWriting(t *testing.T) {
	t.Parallel()
	const rounds, burst = 100, 3
	before := messages(2)
	d, id := file(t, before)
	now := make(chan struct{}, 1)
	var wg sync.WaitGroup
	theirs := 0
	var agentErr error
	wg.Go(func() {
		var f *os.File
		if f, agentErr = os.OpenFile(filepath.Join(d.root, id), os.O_WRONLY|os.O_APPEND, 0); agentErr != nil {
			return
		}
		parent := "m0002"
		for range now {
			for range burst {
				line := storetest.User(fmt.Sprintf("t%05d", theirs), parent, strings.Repeat("z", theirs*7%3000))
				if _, err := f.Write(append(line, '\n')); err != nil && agentErr == nil {
					agentErr = err
				}
				parent = fmt.Sprintf("t%05d", theirs)
				theirs++
			}
		}
		agentErr = errors.Join(agentErr, f.Close())
	})
	d.seam.beforeWrite = func() {
		select {
		case now <- struct{}{}:
		default: // it is still writing
		}
	}
	written, reappended := 0, 0
	for range rounds {
		s, err := d.Load(t.Context(), id, store.ScopeLive)
		require.NoError(t, err)
		rev := s.Revision()
		require.NoError(t, s.Close())
		w, err := d.Append(t.Context(), id, store.Expect{Revision: rev}, []store.NewEntry{storetest.NewUser(fmt.Sprintf("o%05d", written), "ours")})
		if store.KindOf(err) == store.KindConflict {
			continue // it wrote between load and check
		}
		require.NoError(t, err)
		written++
		if w.Reappended {
			reappended++
		}
	}
	close(now)
	wg.Wait()
	require.NoError(t, agentErr)
	t.Logf("%d lines of theirs, %d entries of ours, %d of these more than once", theirs, written, reappended)
	require.Positive(t, written)
	s := load(t, d, id, store.ScopeAll)
	require.True(t, strings.HasPrefix(content(t, d, id), before))
	require.Empty(t, s.Log().Report.Damage)
	seen := map[string]int{}
	for _, e := range s.Log().Entries {
		seen[e.ID]++
	}
	for i := range theirs {
		require.Equal(t, 1, seen[fmt.Sprintf("t%05d", i)], "line %d of theirs", i)
	}
	for i := range written {
		require.Positive(t, seen[fmt.Sprintf("o%05d", i)], "entry %d of ours", i)
	}
	require.Len(t, seen, 2+theirs+written)
}

// TestFullDiskBeforeTheWrite: the disk is full, nothing changes.
func TestFullDiskBeforeTheWrite(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{"disk": syscall.ENOSPC, "quota": syscall.EDQUOT, "limit": syscall.EFBIG} {
		before := messages(2)
		d, id := file(t, before)
		d.seam.write = func(*os.File, []byte) (int, error) { return 0, cause }
		_, err := d.Append(t.Context(), id, revisionOf(t, d, id), []store.NewEntry{storetest.NewUser("ours", "x")})
		require.Equal(t, store.KindNoSpace, store.KindOf(err), "%s: %v", name, err)
		require.ErrorIs(t, err, cause)
		require.Equal(t, before, content(t, d, id))
	}
}

// TestFullDiskInTheMiddleOfALine: the beginning of our line becomes blank, and whoever writes next,
// or wrote meanwhile, has a line of his own.
func TestFullDiskInTheMiddleOfALine(t *testing.T) {
	t.Parallel()
	theirs := string(storetest.User("theirs", "m0002", "x")) + "\n"
	for _, torn := range []string{"", `{"type":"message","id":"to`} {
		for _, landed := range []string{"", theirs} {
			for _, cause := range []error{nil, syscall.ENOSPC} {
				before := messages(2) + torn
				d, id := file(t, before)
				d.seam.write = func(f *os.File, b []byte) (int, error) {
					n, err := writeOnce(f, b[:len(b)/2])
					require.NoError(t, err)
					if landed != "" {
						foreign(t, d, id, landed)
					}
					return n, cause
				}
				_, err := d.Append(t.Context(), id, revisionOf(t, d, id), []store.NewEntry{storetest.NewUser("ours", "x")})
				require.Equal(t, store.KindNoSpace, store.KindOf(err), "%v", err)
				if landed == "" {
					foreign(t, d, id, theirs)
				}
				after := content(t, d, id)
				require.True(t, strings.HasPrefix(after, before))
				require.True(t, strings.HasSuffix(after, theirs))
				if torn != "" {
					require.Equal(t, byte('\n'), after[len(before)], "their torn line ends where it ended")
				}
				require.Empty(t, strings.TrimSpace(strings.TrimSuffix(after[len(before):], theirs)), "what is left of ours is blank")
				s := load(t, d, id, store.ScopeAll)
				require.Equal(t, []string{"m0001", "m0002", "theirs"}, pathIDs(t, s))
			}
		}
	}
}

// TestRealFullDevice: /dev/full is no session, but it
// shows that a write to a full device is typed.
func TestRealFullDevice(t *testing.T) {
	t.Parallel()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	_, err = writeOnce(f, []byte("x"))
	require.NoError(t, f.Close())
	require.Equal(t, store.KindNoSpace, store.KindOf(writeError("s", "appending", err)))
}

// TestBusy: another worker holds the lock.
func TestBusy(t *testing.T) {
	t.Parallel()
	before := messages(2)
	d, id := file(t, before)
	d.busyWait = 20 * time.Millisecond
	rev := revisionOf(t, d, id)
	other := open(t, d.root)
	f, err := other.openLocked(t.Context(), id)
	require.NoError(t, err)
	_, err = d.Append(t.Context(), id, rev, []store.NewEntry{storetest.NewUser("ours", "x")})
	require.Equal(t, store.KindBusy, store.KindOf(err), "%v", err)
	require.Len(t, pathIDs(t, load(t, d, id, store.ScopeAll)), 2, "reading needs no lock")
	require.NoError(t, f.Close())
	_, err = d.Append(t.Context(), id, rev, []store.NewEntry{storetest.NewUser("ours", "x")})
	require.NoError(t, err)
}

// TestWaitsForTheLock: a lock that is let go soon is waited for, and the state checked after it.
func TestWaitsForTheLock(t *testing.T) {
	t.Parallel()
	d, id := file(t, messages(2))
	rev := revisionOf(t, d, id)
	f, err := open(t, d.root).openLocked(t.Context(), id)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := d.Append(t.Context(), id, rev, []store.NewEntry{storetest.NewUser("ours", "x")})
		done <- err
	}()
	_, err = f.Write(append(storetest.User("first", "m0002", "x"), '\n'))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Equal(t, store.KindConflict, store.KindOf(<-done), "the holder of the lock wrote")
}

// TestRevisionSeesEveryForeignWrite changes a file in the ways other programs do.
func TestRevisionSeesEveryForeignWrite(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(t *testing.T, path string){
		"appended": func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString("\n")
			require.NoError(t, err)
			require.NoError(t, f.Close())
		},
		"replaced by an equal copy": func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+".new", b, 0o600))
			require.NoError(t, os.Rename(path+".new", path))
		},
		"changed in place": func(t *testing.T, path string) {
			info, err := os.Stat(path)
			require.NoError(t, err)
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(b, []byte("message 2"), []byte("message X")), 0o600))
			require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()), "even with the old time")
		},
		"cut": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 200)) },
	} {
		before := messages(2)
		d, id := file(t, before)
		rev := revisionOf(t, d, id)
		write(t, filepath.Join(d.root, id))
		require.NotEqual(t, rev.Revision, revisionOf(t, d, id).Revision, name)
		after := content(t, d, id)
		_, err := d.Append(t.Context(), id, rev, []store.NewEntry{storetest.NewUser("ours", "x")})
		require.Equal(t, store.KindConflict, store.KindOf(err), name)
		require.Equal(t, after, content(t, d, id), name)
	}
}

// TestLeafWithoutID: nothing can hang under an entry without id.
func TestLeafWithoutID(t *testing.T) {
	t.Parallel()
	before := messages(1) + `{"type":"message","parentId":"m0001","message":{"role":"user","content":"x"}}` + "\n"
	d, id := file(t, before)
	_, err := d.Append(t.Context(), id, revisionOf(t, d, id), []store.NewEntry{storetest.NewUser("ours", "x")})
	require.Equal(t, store.KindDamaged, store.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "line 3")
	require.Equal(t, before, content(t, d, id))
	require.Equal(t, session.CurrentVersion, load(t, d, id, store.ScopeAll).Log().Header.Version)
}
