package interop

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/session"
	"recap/internal/store"
	"recap/internal/store/jsonl"
	"recap/internal/testkit/pi"
	"recap/internal/testkit/repo"
	"recap/prompts"
)

// committed is a compaction that recap wrote into a session.
type committed struct {
	id      string // of the entry
	parent  string // the leaf it hangs under
	summary string
	plan    compaction.Plan
	written store.Written
}

// prepare plans the next compaction of a session file as the activities do.
func prepare(t *testing.T, driver store.Driver, id string, keep int) (*compaction.Prepared, store.Snapshot, error) {
	t.Helper()
	for _, scope := range []store.Scope{store.ScopeLive, store.ScopeAll} {
		snap, err := driver.Load(t.Context(), id, scope)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, snap.Close()) })
		prepared, err := compaction.Prepare(compaction.Input{
			Log: snap.Log(), Bodies: snap, Dialect: snap.Dialect(), Operation: "interop", Reason: contract.ReasonManual,
			Settings: contract.Settings{KeepRecentTokens: keep}, Prompts: prompts.All(), Now: time.Now(),
		})
		if !errors.Is(err, session.ErrPartial) {
			return prepared, snap, err
		}
	}
	t.Fatal("the whole session was read, and it still counts as partial")
	return nil, nil, nil
}

// compactIt writes a compaction with the given summary and entry id.
func compactIt(t *testing.T, driver store.Driver, id string, keep int, summary, entryID string) (committed, error) {
	t.Helper()
	prepared, snap, err := prepare(t, driver, id, keep)
	if err != nil {
		return committed{}, err
	}
	c := committed{id: entryID, summary: summary, plan: prepared.Plan}
	content := compaction.NewEntry(&prepared.Plan, summary)
	content.ID, content.Timestamp = entryID, "2026-11-30T12:00:00.000Z"
	content.Recap = session.RecapMark{Operation: "interop", Attempt: 1}
	c.written, err = driver.Append(t.Context(), id, store.Expect{Revision: snap.Revision()}, []store.NewEntry{{
		ID: entryID, Build: func(parent string) ([]byte, error) {
			c.parent, content.ParentID = parent, parent
			return session.BuildCompaction(snap.Dialect(), content)
		},
	}})
	return c, err
}

// nothingToDo reports whether a plan found nothing to compact; any other refusal fails the test.
func nothingToDo(t *testing.T, err error) bool {
	t.Helper()
	var skip *compaction.Skip
	if !errors.As(err, &skip) {
		return false
	}
	require.Equal(t, contract.CodeNothingToCompact, skip.Code, "%s", skip)
	return true
}

// oursIn is the context recap rebuilds from a file on disk, untouched.
func oursIn(t *testing.T, file string) session.Context {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	f, err := session.Parse(data)
	require.NoError(t, err)
	c, err := session.BuildContext(f.Log, f, session.ContextOptions{Raw: true})
	require.NoError(t, err)
	return c
}

// copyOf puts a file of the corpus into a folder of its own.
func copyOf(t *testing.T, file string) (driver *jsonl.Driver, id, copied string, data []byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	dir := t.TempDir()
	id = "session.jsonl"
	copied = filepath.Join(dir, id)
	require.NoError(t, os.WriteFile(copied, data, 0o600))
	driver, err = jsonl.New(dir)
	require.NoError(t, err)
	return driver, id, copied, data
}

const (
	userMessage      = `{"role":"user","content":[{"type":"text","text":"go on"}],"timestamp":1767225600000}`
	assistantMessage = `{"role":"assistant","content":[{"type":"text","text":"going on"}],"api":"anthropic-messages","provider":"anthropic","model":"m",` +
		`"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},` +
		`"stopReason":"stop","timestamp":1767225601000}`
)

// TestPiGoesOnAfterOurCompaction compacts every file of the corpus, opens it with pi, and works on:
// pi shows our summary followed by the kept entries, changes nothing by opening, appends under our
// entry, and after a second compaction of ours shows that one.
func TestPiGoesOnAfterOurCompaction(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repo.Corpus(t), "pi", "*.jsonl"))
	require.NoError(t, err)
	agent := pi.Start(t)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			driver, id, copied, original := copyOf(t, file)
			keep := 1
			if len(original) > 100_000 {
				keep = 1000
			}
			first, err := compactIt(t, driver, id, keep, "## Goal\nThe first summary.", "f00d0001")
			if nothingToDo(t, err) { // some files end with a compaction: pi works on, then there is something
				held := agent.Open(copied)
				held.Append(userMessage)
				held.Append(assistantMessage)
				original, err = os.ReadFile(copied)
				require.NoError(t, err)
				first, err = compactIt(t, driver, id, 1, "## Goal\nThe first summary.", "f00d0001")
			}
			require.NoError(t, err)
			bytesAreKept(t, copied, original, first)

			// pi shows the summary, then what was kept.
			shown := oursIn(t, copied)
			require.Equal(t, first.id, shown.CompactionID)
			require.Equal(t, session.RoleCompactionSummary, shown.Messages[0].Role)
			require.Equal(t, first.summary, shown.Messages[0].Summary)
			var kept []string
			for _, m := range shown.Messages[1:] {
				kept = append(kept, m.EntryID)
			}
			require.Equal(t, first.plan.Coverage.Kept, kept)
			agrees(t, agent.Read(copied), shown)

			// Opening changes nothing, and pi's next messages hang under our entry.
			before, err := os.ReadFile(copied)
			require.NoError(t, err)
			held := agent.Open(copied)
			after, err := os.ReadFile(copied)
			require.NoError(t, err)
			require.True(t, bytes.Equal(before, after), "pi rewrote the file when it opened it")
			require.Equal(t, first.id, held.Context().LeafID)
			user := held.Append(userMessage)
			answer := held.Append(assistantMessage)
			log := logOf(t, copied)
			require.Equal(t, first.id, log.Find(user).ParentID)
			require.Equal(t, answer, log.Leaf().ID)
			agrees(t, held.Context(), oursIn(t, copied))
			require.NotEmpty(t, held.FirstKept(1), "pi could compact next")

			second, err := compactIt(t, driver, id, 1, "## Goal\nThe second summary.", "f00d0002")
			require.NoError(t, err)
			require.Equal(t, answer, second.parent)
			shown = oursIn(t, copied)
			require.Equal(t, second.summary, shown.Messages[0].Summary)
			agrees(t, agent.Open(copied).Context(), shown)
		})
	}
}

// agrees wants pi to show what recap shows.
func agrees(t *testing.T, theirs pi.Context, shown session.Context) {
	t.Helper()
	if diff := cmp.Diff(ours(t, shown.Messages), views(t, theirs.Messages)); diff != "" {
		t.Fatalf("recap (-) and pi (+) see different messages:\n%.4000s", diff)
	}
}

// bytesAreKept wants the old bytes to be the new file's beginning, or, where the file was migrated, a
// backup beside it.
func bytesAreKept(t *testing.T, file string, original []byte, c committed) {
	t.Helper()
	now, err := os.ReadFile(file)
	require.NoError(t, err)
	if !c.written.Migrated {
		require.True(t, bytes.HasPrefix(now, original), "existing bytes changed")
		return
	}
	require.NotEmpty(t, c.written.Backup)
	backup, err := os.ReadFile(filepath.Join(filepath.Dir(file), c.written.Backup))
	require.NoError(t, err)
	require.True(t, bytes.Equal(original, backup), "the backup is not the old file")
}

func logOf(t *testing.T, file string) *session.Log {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	f, err := session.Parse(data)
	require.NoError(t, err)
	return f.Log
}

// TestMigrationLosesNothing commits to every file of version 1 or 2 and lets pi read the migrated file
// as if our entry were not there: the same messages as in the old file.
func TestMigrationLosesNothing(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repo.Corpus(t), "pi", "pi-v[12]-*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	agent := pi.Start(t)
	migrated := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			driver, id, copied, original := copyOf(t, file)
			asPiReads := original
			if mend, ok := differences[name]; ok { // recap reads more than pi, and migrates what it reads
				asPiReads = mend(t, original)
			}
			old := filepath.Join(t.TempDir(), "old.jsonl")
			require.NoError(t, os.WriteFile(old, asPiReads, 0o600))
			want := agent.Read(old)

			c, err := compactIt(t, driver, id, 1, "## Goal\nA summary.", "f00d0003")
			if nothingToDo(t, err) {
				return
			}
			require.NoError(t, err)
			migrated++
			require.True(t, c.written.Migrated)
			bytesAreKept(t, copied, original, c)

			got := agent.ReadAt(copied, c.parent)
			if diff := cmp.Diff(views(t, want.Messages), views(t, got.Messages)); diff != "" {
				t.Fatalf("pi sees other messages in the old file (-) than in the migrated one (+):\n%.4000s", diff)
			}
			require.Len(t, got.Entries, len(want.Entries)+1)
			for i := range want.Entries {
				require.Equal(t, want.Entries[i].Type, got.Entries[i].Type)
			}
		})
	}
	require.Positive(t, migrated)
}

// TestNothingIsLostBesideARunningPi lets pi hold a session open, with its leaf in memory, while recap
// commits. A message of pi's that lands between our reading and our writing refuses the commit. One
// that comes after hangs beside our entry: recap finds its entry orphaned, puts it back under pi's
// message without a new summary, and pi, opened anew, shows the summary and loses no message.
func TestNothingIsLostBesideARunningPi(t *testing.T) {
	t.Parallel()
	agent := pi.Start(t)
	driver, id, copied, _ := copyOf(t, filepath.Join(repo.Corpus(t), "pi", "pi-v3-split-turn.jsonl"))
	held := agent.Open(copied)

	// pi writes between our reading and our writing.
	prepared, snap, err := prepare(t, driver, id, 1000)
	require.NoError(t, err)
	between := held.Append(userMessage)
	content := compaction.NewEntry(&prepared.Plan, "## Goal\nToo late.")
	content.ID = "f00d0101"
	_, err = driver.Append(t.Context(), id, store.Expect{Revision: snap.Revision()}, []store.NewEntry{{
		ID: content.ID, Build: func(string) ([]byte, error) { return session.BuildCompaction(session.DialectPi, content) },
	}})
	require.Equal(t, store.KindConflict, store.KindOf(err), "%v", err)
	require.Nil(t, logOf(t, copied).Find(content.ID))
	require.Equal(t, between, logOf(t, copied).Leaf().ID)

	// recap commits; pi does not notice and goes on under its own leaf.
	held.Append(assistantMessage)
	first, err := compactIt(t, driver, id, 1000, "## Goal\nBeside pi.", "f00d0102")
	require.NoError(t, err)
	next := held.Append(userMessage)
	log := logOf(t, copied)
	path, err := log.Path()
	require.NoError(t, err)
	require.Equal(t, next, log.Leaf().ID)
	require.False(t, slices.ContainsFunc(path, func(e *session.Entry) bool { return e.ID == first.id }), "our entry is on pi's path")

	// recap notices and puts its entry back.
	fresh, err := driver.Load(t.Context(), id, store.ScopeAll)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fresh.Close()) })
	orphan, err := compaction.FindOrphan(fresh.Log(), fresh)
	require.NoError(t, err)
	require.Equal(t, first.id, orphan)
	body, err := fresh.Body(fresh.Log().Find(orphan))
	require.NoError(t, err)
	old, err := session.DecodeCompaction(body)
	require.NoError(t, err)
	again := compaction.Again(old)
	again.ID, again.Timestamp, again.Recap = "f00d0103", "2026-11-30T12:00:00.000Z", *old.Recap
	_, err = driver.Append(t.Context(), id, store.Expect{Revision: fresh.Revision()}, []store.NewEntry{{
		ID: again.ID, Build: func(parent string) ([]byte, error) {
			again.ParentID = parent
			return session.BuildCompaction(session.DialectPi, again)
		},
	}})
	require.NoError(t, err)

	shown := agent.Open(copied).Context()
	require.Equal(t, first.summary, shown.Messages[0].Summary)
	agrees(t, shown, oursIn(t, copied))
	var user int
	for _, m := range shown.Messages {
		if m.Role == "user" && m.Content[0].Text == "go on" {
			user++
		}
	}
	require.Equal(t, 2, user, "both messages pi wrote meanwhile are shown")
}
