// Package storetest is the conformance suite of store drivers. It imports the port, session and test
// libraries.
package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
	"recap/internal/store"
)

// Harness makes stores to test.
type Harness struct {
	// Open returns a fresh empty store.
	Open func(t *testing.T) Fixture
}

// Fixture is one store under test.
type Fixture struct {
	Driver store.Driver
	// Second is another instance on the same medium, as another process would open it; nil where the
	// medium has none.
	Second store.Driver
	// Raw returns what is stored of a session, byte for byte, in an order in which an append only adds.
	Raw func(t *testing.T, id string) []byte
	// SetActivity moves the time of a session's last write.
	SetActivity func(t *testing.T, id string, at time.Time)
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	t.Helper()
	for name, part := range map[string]func(*testing.T, Fixture){
		"CreateAndLoad":                testCreateAndLoad,
		"CreateRefuses":                testCreateRefuses,
		"HeaderOnly":                   testHeaderOnly,
		"BodiesByteForByte":            testBodiesByteForByte,
		"LiveScopeHoldsThePath":        testLiveScope,
		"NotFound":                     testNotFound,
		"AppendHangsUnderTheLeaf":      testAppendHangsUnderTheLeaf,
		"AppendRefusesAStaleRevision":  testAppendRefusesAStaleRevision,
		"AppendRefusesWhatIsNoEntry":   testAppendRefusesWhatIsNoEntry,
		"AppendOfNothing":              testAppendOfNothing,
		"OneWriterPerRevision":         testOneWriterPerRevision,
		"EveryoneGetsIn":               testEveryoneGetsIn,
		"SnapshotsDoNotMove":           testSnapshotsDoNotMove,
		"ReadersBesideWriters":         testReadersBesideWriters,
		"RewriteChangesOnlyItsEntries": testRewrite,
		"RewriteIsAllOrNothing":        testRewriteIsAllOrNothing,
		"RevisionsAndTimes":            testRevisionsAndTimes,
		"List":                         testList,
		"Canonical":                    testCanonical,
		"Cancelled":                    testCancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, h.Open(t))
		})
	}
}

// Header is a session header of the current version.
func Header(id string) []byte {
	return fmt.Appendf(nil, `{"type":"session","version":3,"id":%q,"timestamp":"2026-05-04T09:00:00.000Z","cwd":"/srv/demo"}`, id)
}

// User is a user message entry, under a parent ("" for a root).
func User(id, parent, text string) []byte {
	p := "null"
	if parent != "" {
		p = fmt.Sprintf("%q", parent)
	}
	return fmt.Appendf(nil, `{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-05-04T09:00:01.000Z","message":{"role":"user","content":%q,"timestamp":1777885201000}}`, id, p, text)
}

// Compaction is a compaction entry.
func Compaction(id, parent, firstKept string) []byte {
	return fmt.Appendf(nil, `{"type":"compaction","id":%q,"parentId":%q,"timestamp":"2026-05-04T09:00:02.000Z","summary":"what went before","firstKeptEntryId":%q,"tokensBefore":100}`, id, parent, firstKept)
}

// NewUser is a user message to append.
func NewUser(id, text string) store.NewEntry {
	return store.NewEntry{ID: id, Build: func(parent string) ([]byte, error) { return User(id, parent, text), nil }}
}

// Chain is n user messages, each under the one before: m0001, m0002, …
func Chain(n int) (entries [][]byte) {
	parent := ""
	for i := 1; i <= n; i++ {
		id := fmt.Sprintf("m%04d", i)
		entries = append(entries, User(id, parent, fmt.Sprintf("message %d", i)))
		parent = id
	}
	return entries
}

// create makes a session of n messages.
func (f Fixture) create(t *testing.T, id string, n int) string {
	t.Helper()
	id, err := f.Driver.Create(t.Context(), id, Header("session-"+id), Chain(n))
	require.NoError(t, err)
	return id
}

// load takes a snapshot that is closed when the test ends.
func (f Fixture) load(t *testing.T, id string) store.Snapshot {
	t.Helper()
	return load(t, f.Driver, id, store.ScopeAll)
}

func load(t *testing.T, d store.Driver, id string, scope store.Scope) store.Snapshot {
	t.Helper()
	s, err := d.Load(t.Context(), id, scope)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func (f Fixture) revision(t *testing.T, id string) store.Expect {
	t.Helper()
	return store.Expect{Revision: f.load(t, id).Revision()}
}

// ids lists the entry ids of a log in file order.
func ids(l *session.Log) (out []string) {
	for i := range l.Entries {
		out = append(out, l.Entries[i].ID)
	}
	return out
}

// path lists the entry ids of the active path.
func path(t *testing.T, l *session.Log) (out []string) {
	t.Helper()
	p, err := l.Path()
	require.NoError(t, err)
	for _, e := range p {
		out = append(out, e.ID)
	}
	return out
}

// bodies reads every entry.
func bodies(t *testing.T, s store.Snapshot) (out []string) {
	t.Helper()
	l := s.Log()
	for i := range l.Entries {
		b, err := s.Body(&l.Entries[i])
		require.NoError(t, err)
		out = append(out, string(b))
	}
	return out
}

func texts(raw [][]byte) (out []string) {
	for _, b := range raw {
		out = append(out, string(b))
	}
	return out
}
