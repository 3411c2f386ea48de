package session_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"recap/internal/session"
)

func check(t *testing.T, f *session.File) session.Report {
	t.Helper()
	r, err := session.Check(f.Log, f)
	require.NoError(t, err)
	return r
}

// found reduces damage to what a test names.
func found(r session.Report) []session.Damage {
	out := []session.Damage{}
	for _, d := range r.Damage {
		out = append(out, session.Damage{Kind: d.Kind, Line: d.Line, ID: d.ID, Stops: d.Stops})
	}
	return out
}

func TestCheckReportsWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	torn := `{"type":"message","id":"lost","parentId":"a","message":{"ro`
	tests := []struct {
		name  string
		lines []string
		want  []session.Damage
		r     session.Report
	}{
		{
			name:  "sound",
			lines: []string{user("a", "", "1"), assistant("b", "a", callOf("c1")), result("c", "b", "c1"), user("x", "a", "side"), user("d", "c", "2")},
			want:  []session.Damage{},
			r:     session.Report{Entries: 5, OnPath: 4, Roots: 1, Branches: 2},
		},
		{
			name:  "damaged line nobody needs",
			lines: []string{user("a", "", "1"), "garbage", user("b", "a", "2")},
			want:  []session.Damage{{Kind: session.DamageUnparseable, Line: 3}},
			r:     session.Report{Entries: 2, OnPath: 2, Roots: 1, Branches: 1},
		},
		{
			name:  "damaged line that held a parent",
			lines: []string{user("a", "", "1"), torn, user("c", "lost", "3")},
			want: []session.Damage{
				{Kind: session.DamageUnparseable, Line: 3, ID: "lost", Stops: true},
				{Kind: session.DamageParentGone, Line: 4, ID: "c", Stops: true},
			},
			r: session.Report{Entries: 2, OnPath: 0, Roots: 1, Branches: 2, Unreachable: 1},
		},
		{
			name:  "damaged line that shows nothing, and a missing parent after it",
			lines: []string{user("a", "", "1"), "\x00\x00", user("c", "gone", "3")},
			want: []session.Damage{
				{Kind: session.DamageUnparseable, Line: 3, Stops: true},
				{Kind: session.DamageParentGone, Line: 4, ID: "c", Stops: true},
			},
			r: session.Report{Entries: 2, Roots: 1, Branches: 2, Unreachable: 1},
		},
		{
			name:  "missing parent on an abandoned branch stops nothing",
			lines: []string{user("x", "gone", "1"), user("a", "", "2")},
			want:  []session.Damage{{Kind: session.DamageParentGone, Line: 2, ID: "x"}},
			r:     session.Report{Entries: 2, OnPath: 1, Roots: 1, Branches: 2, Unreachable: 1},
		},
		{
			name:  "cycle",
			lines: []string{user("r", "", "0"), user("a", "b", "1"), user("b", "a", "2"), user("c", "b", "3")},
			want:  []session.Damage{{Kind: session.DamageCycle, Line: 4, ID: "b", Stops: true}},
			r:     session.Report{Entries: 4, Roots: 1, Branches: 2, Unreachable: 3},
		},
		{
			name:  "cycle off the path stops nothing",
			lines: []string{user("a", "b", "1"), user("b", "a", "2"), user("r", "", "3")},
			want:  []session.Damage{{Kind: session.DamageCycle, Line: 3, ID: "b"}},
			r:     session.Report{Entries: 3, OnPath: 1, Roots: 1, Branches: 1, Unreachable: 2},
		},
		{
			name:  "glued line",
			lines: []string{user("a", "", "1") + user("b", "a", "2")},
			want:  []session.Damage{{Kind: session.DamageGlued, Line: 2}},
			r:     session.Report{Entries: 2, OnPath: 2, Roots: 1, Branches: 1},
		},
		{
			name:  "duplicate id",
			lines: []string{user("a", "", "1"), user("a", "", "2")},
			want:  []session.Damage{{Kind: session.DamageDuplicateID, Line: 2, ID: "a"}},
			r:     session.Report{Entries: 2, OnPath: 1, Roots: 2, Branches: 1},
		},
		{
			name:  "second header",
			lines: []string{user("a", "", "1"), header, user("b", "a", "2")},
			want:  []session.Damage{{Kind: session.DamageSecondHeader, Line: 3, ID: "s1"}},
			r:     session.Report{Entries: 2, OnPath: 2, Roots: 1, Branches: 1},
		},
		{
			name:  "leaf without id",
			lines: []string{user("a", "", "1"), `{"type":"message","parentId":"a"}`},
			want:  []session.Damage{{Kind: session.DamageMissingID, Line: 3, Stops: true}},
			r:     session.Report{Entries: 2, Roots: 1},
		},
		{
			name:  "first kept entry unknown, on another branch, and after the compaction",
			lines: []string{user("a", "", "1"), user("x", "a", "side"), compaction("c1", "a", "s", "nope"), compaction("c2", "c1", "s", "x"), compaction("c3", "c2", "s", "z"), user("z", "c3", "2")},
			want: []session.Damage{
				{Kind: session.DamageFirstKept, Line: 4, ID: "c1"},
				{Kind: session.DamageFirstKept, Line: 5, ID: "c2"},
				{Kind: session.DamageFirstKept, Line: 6, ID: "c3"},
			},
			r: session.Report{Entries: 6, OnPath: 5, Roots: 1, Branches: 2, Compactions: 3},
		},
		{
			name:  "a compaction that keeps nothing before itself is sound",
			lines: []string{user("a", "", "1"), compaction("c1", "a", "s", "c1"), compaction("c2", "c1", "s", session.KeepNothing)},
			want:  []session.Damage{},
			r:     session.Report{Entries: 3, OnPath: 3, Roots: 1, Branches: 1, Compactions: 2},
		},
		{
			name:  "result without call, call without result",
			lines: []string{user("a", "", "1"), result("b", "a", "c0"), assistant("c", "b", callOf("c1"), callOf("c2")), result("d", "c", "c2"), user("e", "d", "2")},
			want: []session.Damage{
				{Kind: session.DamageOrphanResult, Line: 3, ID: "b"},
				{Kind: session.DamageDangling, Line: 4, ID: "c"},
			},
			r: session.Report{Entries: 5, OnPath: 5, Roots: 1, Branches: 1},
		},
		{
			name:  "a call at the leaf may still be running",
			lines: []string{user("a", "", "1"), assistant("c", "a", callOf("c1"), callOf("c2")), result("d", "c", "c2")},
			want:  []session.Damage{},
			r:     session.Report{Entries: 3, OnPath: 3, Roots: 1, Branches: 1},
		},
		{
			name:  "calls of a failed reply were never run",
			lines: []string{user("a", "", "1"), entry("message", "b", "a", `"message":{"role":"assistant","stopReason":"aborted","content":[`+callOf("c1")+`]}`), user("c", "b", "2")},
			want:  []session.Damage{},
			r:     session.Report{Entries: 3, OnPath: 3, Roots: 1, Branches: 1},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := check(t, parse(t, append([]string{header}, tt.lines...)...))
			require.Empty(t, cmp.Diff(tt.want, found(r)))
			tt.r.Version, tt.r.Dialect, tt.r.Complete = 3, session.DialectPi, true
			require.Empty(t, cmp.Diff(tt.r, r, cmpopts.IgnoreFields(session.Report{}, "Damage")))
			for _, d := range r.Damage {
				require.NotEmpty(t, d.Detail+d.ID)
				require.Positive(t, d.Length)
			}
		})
	}
}

func TestDamagedLinesShowAnIDOnlyWhenItIsWhole(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"type":"message","id":"abc","par`:                        "abc",
		`{"type":"message","id":"ab`:                               "",
		`{"type":"message","id":"","par`:                           "",
		`{"type":"message","id":"a\"b","par`:                       "",
		`{"type":"message","id":"` + strings.Repeat("x", 99) + `"`: "",
		`garbage`: "",
	} {
		require.Equal(t, want, session.DamagedLine([]byte(line), 1, 0, session.DamageUnparseable, true).ID, line)
	}
}

func TestCheckFindsATornTail(t *testing.T) {
	t.Parallel()
	data := header + "\n" + user("a", "", "1") + "\n" + `{"type":"message","id":"b","pa`
	f, err := session.Parse([]byte(data))
	require.NoError(t, err)
	require.True(t, f.Torn)
	r := check(t, f)
	require.Equal(t, []session.Damage{{Kind: session.DamageTornTail, Line: 3, ID: "b"}}, found(r))
	require.Equal(t, int64(len(header)+len(user("a", "", "1"))+2), r.Damage[0].Offset)
}

func TestCheckNamesOwnEntriesOffThePath(t *testing.T) {
	t.Parallel()
	own := entry("compaction", "mine", "a", `"summary":"s","firstKeptEntryId":"a","details":{"recap":{"operation":"op","attempt":1}}`)
	f := parse(t, header, user("a", "", "1"), own, compaction("other", "a", "s", "a"), user("b", "a", "2"))
	require.Equal(t, []string{"mine"}, check(t, f).Orphaned)
	f = parse(t, header, user("a", "", "1"), own, user("b", "mine", "2"))
	require.Empty(t, check(t, f).Orphaned)
}

type failing struct{}

var errRead = errors.New("cannot read")

func (failing) Body(*session.Entry) ([]byte, error) { return nil, errRead }

// broken gives every entry a body that is no JSON.
type broken struct{}

func (broken) Body(*session.Entry) ([]byte, error) { return []byte(`{"a":`), nil }

func TestBodiesThatAreNoJSONAreErrors(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"message":        {assistant("a", "", textOf("x"))},
		"compaction":     {compaction("a", "", "s", "a")},
		"model change":   {entry("model_change", "a", "", `"modelId":"m"`)},
		"thinking level": {entry("thinking_level_change", "a", "", `"thinkingLevel":"low"`)},
	} {
		f := parse(t, append([]string{header}, lines...)...)
		_, err := session.BuildContext(f.Log, broken{}, session.ContextOptions{})
		var bad *session.EntryError
		require.ErrorAs(t, err, &bad, name)
		require.Equal(t, "a", bad.ID)
		require.Contains(t, err.Error(), "line 2")
	}
}

func TestErrorsOfLongPathsNameTheFirstEntryThatFailed(t *testing.T) {
	t.Parallel()
	lines := []string{header}
	parent := ""
	for i := range 500 {
		id := "e" + strconv.Itoa(i)
		lines = append(lines, user(id, parent, "x"))
		parent = id
	}
	f := parse(t, lines...)
	_, err := session.BuildContext(f.Log, failFrom{f, 300}, session.ContextOptions{})
	var bad *session.EntryError
	require.ErrorAs(t, err, &bad)
	require.GreaterOrEqual(t, bad.Line, 300)
}

// failFrom fails for entries from a line on.
type failFrom struct {
	session.Bodies
	line int
}

func (f failFrom) Body(e *session.Entry) ([]byte, error) {
	if e.Line >= f.line {
		return nil, &session.EntryError{ID: e.ID, Line: e.Line, Msg: "cannot be read"}
	}
	return f.Bodies.Body(e)
}

func TestBodyOutsideTheFileIsAnError(t *testing.T) {
	t.Parallel()
	f := parse(t, header)
	_, err := f.Body(&session.Entry{ID: "x", Offset: 10, Length: 1 << 20})
	var bad *session.EntryError
	require.ErrorAs(t, err, &bad)
}

// FuzzParse reads any bytes as a session: whatever is in them, nothing panics, and a context is built
// or refused.
func FuzzParse(f *testing.F) {
	for _, version := range []string{"1", "2", "3"} {
		h := strings.Replace(header, `"version":3`, `"version":`+version, 1)
		f.Add([]byte(h + "\n" + user("a", "", "1") + "\n" + assistant("b", "a", callOf("c")) + result("r", "b", "c") + "\n" + compaction("k", "r", "s", "b") + "\n" + `{"type":"leaf","targetId":"b"}` + "\n{\"type\""))
		f.Add([]byte(h + "\n" + oldMessage("x") + "\n" + oldCompaction("1") + "\n" + `{"type":"message","message":{"role":"hookMessage"}}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := session.Parse(data)
		if err != nil {
			return
		}
		r, err := session.Check(file.Log, file)
		require.NoError(t, err)
		require.LessOrEqual(t, r.OnPath+r.Unreachable, r.Entries)
		path, err := file.Log.Path()
		if err != nil {
			stops := false
			for _, d := range r.Damage {
				stops = stops || d.Stops
			}
			require.True(t, stops, "the path is broken and the report does not say so: %v", err)
			return
		}
		require.Len(t, path, r.OnPath)
		for _, o := range []session.ContextOptions{{}, {Raw: true}, {Transcript: true}, {Transcript: true, Collapse: true}} {
			c, err := session.BuildContext(file.Log, file, o)
			require.NoError(t, err)
			session.ToModel(c.Messages)
		}
	})
}

func TestUnreadableBodiesAreErrors(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), assistant("b", "a", textOf("x")))
	_, err := session.Check(f.Log, failing{})
	require.ErrorIs(t, err, errRead)
	_, err = session.BuildContext(f.Log, failing{}, session.ContextOptions{})
	require.ErrorIs(t, err, errRead)
}
