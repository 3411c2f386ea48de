package compaction_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/session"
)

// tailOf is the log a store gives that read only the entries from the given one on, and some before.
func tailOf(f *session.File, from string, also ...string) *session.Log {
	var entries []session.Entry
	reached := false
	for _, e := range f.Log.Entries {
		reached = reached || e.ID == from
		if reached || strings.Contains(strings.Join(also, " "), e.ID) {
			entries = append(entries, e)
		}
	}
	l := session.NewLog(f.Log.Header, entries, session.Report{})
	l.Partial = true
	return l
}

// oldSession has two compactions in Veyyon's form, the second's file lists building on the first's.
func oldSession() string {
	k1 := with(compacted("k1", "b", "FIRST"), "details", map[string]any{"readFilesAdded": []string{"one.go"}, "modifiedFilesAdded": []string{}})
	k2 := with(compacted("k2", "d", "SECOND"), "details", map[string]any{"base": "k1", "readFilesAdded": []string{"two.go"}, "modifiedFilesAdded": []string{}})
	return lines(user("a", "AAA"), says("b", "BBB"), k1, user("c", "CCC"), user("d", "DDD"), k2, user("e", "EEE"), says("f", "ok"), user("g", filler(100)))
}

func TestATailIsPlannedLikeTheWholeSession(t *testing.T) {
	t.Parallel()
	f := parse(t, oldSession())
	whole := prepare(t, input(f, 60))
	in := input(f, 60)
	in.Log = tailOf(f, "d", "k1")
	part := prepare(t, in)
	require.Empty(t, cmp.Diff(mustJSON(t, whole), mustJSON(t, part)))
	require.Equal(t, []string{"one.go", "two.go"}, part.Plan.Files.Read)
}

func TestATailThatIsTooShortAsksForMore(t *testing.T) {
	t.Parallel()
	f := parse(t, oldSession())
	for _, from := range []string{"e", "k2"} { // behind the compaction, or behind what it kept
		in := input(f, 60)
		in.Log = tailOf(f, from)
		_, err := compaction.Prepare(in)
		require.ErrorIs(t, err, session.ErrPartial, from)
	}
}

func TestDamageThatStops(t *testing.T) {
	t.Parallel()
	f := parse(t, lines(user("a", filler(100)), says("b", "ok"), user("c", filler(100))))
	damage := []session.Damage{{Kind: session.DamageUnparseable, Line: 7, Detail: "12 bytes that are no JSON", Stops: true}}
	for n := range 15 {
		damage = append(damage, session.Damage{Kind: session.DamageGlued, Line: 20 + n})
	}
	in := input(f, 60)
	in.Log = session.NewLog(f.Log.Header, f.Log.Entries, session.Report{Damage: damage})
	s := skipOf(t, in)
	require.Equal(t, contract.CodeDamagedSession, s.Code)
	require.Contains(t, s.Message, "line 7: unparseable")

	in.Settings.SkipDamaged = true
	p := prepare(t, in)
	require.Len(t, p.Plan.Warnings, 11)
	require.Contains(t, p.Plan.Warnings[10], "6 more")
}

// failing fails to read one entry.
type failing struct {
	session.Bodies
	id string
}

var errDisk = errors.New("disk gone")

func (b failing) Body(e *session.Entry) ([]byte, error) {
	if e.ID == b.id {
		return nil, errDisk
	}
	return b.Bodies.Body(e)
}

func TestABodyThatCannotBeReadIsReported(t *testing.T) {
	t.Parallel()
	var list []map[string]any
	for i := range 30 {
		list = append(list, user(fmt.Sprint("u", i), filler(100)), says(fmt.Sprint("a", i), "ok"))
	}
	list = append(list, compacted("k", "u5", "S"), user("last", filler(100)))
	f := parse(t, lines(list...))
	for _, id := range []string{"u5", "a20", "k", "last"} {
		in := input(f, 150)
		in.Bodies = failing{f, id}
		_, err := compaction.Prepare(in)
		require.ErrorIs(t, err, errDisk, id)
	}
	for _, id := range []string{"k"} {
		_, err := compaction.FindOperation(f.Log, failing{f, id}, "op")
		require.ErrorIs(t, err, errDisk)
	}
}

func TestAnUnreachableThresholdIsReported(t *testing.T) {
	t.Parallel()
	reply := message("b", map[string]any{"role": "assistant", "content": []any{block("ok")}, "stopReason": "stop", "usage": map[string]any{"totalTokens": 5000}})
	in := input(parse(t, lines(user("a", filler(100)), reply, user("c", filler(100)))), 60)
	in.Reason, in.Window, in.Settings.Threshold = contract.ReasonThreshold, 4000, "170000"
	require.Contains(t, strings.Join(prepare(t, in).Plan.Warnings, "\n"), "beyond what this model's window of 4k holds")
}

func TestCallInFlight(t *testing.T) {
	t.Parallel()
	issued := time.Date(2026, 5, 1, 0, 0, 1, 0, time.UTC)
	open := parse(t, lines(user("a", "x"), calls("b", "read", "x.go", "t1", "t2"), answers("c", "t1", "ok")))
	for _, tt := range []struct {
		name           string
		f              *session.File
		now, lastWrite time.Time
		want           bool
	}{
		{"one of two is answered", open, issued.Add(time.Minute), time.Time{}, true},
		{"abandoned", open, issued.Add(10 * time.Minute), time.Time{}, false},
		{"written to a moment ago", open, issued.Add(time.Hour), issued.Add(55 * time.Minute), true},
		{"all answered", parse(t, lines(calls("b", "read", "x.go", "t1"), answers("c", "t1", "ok"))), issued, time.Time{}, false},
		{"no path", parse(t, lines(with(calls("b", "read", "x.go", "t1"), "parentId", "gone"))), issued, time.Time{}, false},
		{"no entries", parse(t, lines()), issued, time.Time{}, false},
	} {
		got, err := compaction.CallInFlight(tt.f.Log, tt.f, tt.now, tt.lastWrite)
		require.NoError(t, err)
		require.Equal(t, tt.want, got, tt.name)
	}
	_, err := compaction.CallInFlight(open.Log, failing{open, "c"}, issued, time.Time{})
	require.ErrorIs(t, err, errDisk)
}
