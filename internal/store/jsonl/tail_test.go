package jsonl

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/session"
	"recap/internal/store"
	"recap/internal/store/storetest"
)

// compaction is a compaction entry with further fields.
func compaction(id, parent, firstKept, summary, more string) string {
	return fmt.Sprintf(`{"type":"compaction","id":%q,"parentId":%q,"summary":%q,"firstKeptEntryId":%q,"tokensBefore":1%s}`, id, parent, summary, firstKept, more)
}

// TestTailReadsAsFarAsNeeded builds long sessions and names the first entry that must have been read.
func TestTailReadsAsFarAsNeeded(t *testing.T) {
	t.Parallel()
	// A chain of 1,000 messages in which some are replaced by other entries.
	build := func(replace map[int]string) string {
		var b strings.Builder
		b.Write(append(storetest.Header("s"), '\n'))
		for i, line := range storetest.Chain(1000) {
			if r, ok := replace[i+1]; ok {
				line = []byte(r)
			}
			b.Write(append(line, '\n'))
		}
		return b.String()
	}
	at := func(i int, firstKept, summary, more string) string {
		return compaction(fmt.Sprintf("m%04d", i), fmt.Sprintf("m%04d", i-1), firstKept, summary, more)
	}
	for name, c := range map[string]struct {
		replace map[int]string
		oldest  string // "" = the whole file
	}{
		"first kept entry":           {map[int]string{950: at(950, "m0940", "s", "")}, "m0940"},
		"nothing kept":               {map[int]string{950: at(950, session.KeepNothing, "s", "")}, "m0950"},
		"two compactions":            {map[int]string{900: at(900, "m0100", "s", ""), 950: at(950, "m0940", "s", "")}, "m0940"},
		"newest without text":        {map[int]string{900: at(900, "m0890", "s", ""), 950: at(950, "m0940", "", "")}, "m0890"},
		"newest of a provider":       {map[int]string{900: at(900, "m0890", "s", ""), 950: at(950, "m0940", "s", `,"preserveData":{"compactionV2":{}}`)}, "m0890"},
		"delta lists with a base":    {map[int]string{850: at(850, "m0840", "s", `,"details":{"readFilesAdded":["a"]}`), 950: at(950, "m0940", "s", `,"details":{"base":"m0850","readFilesAdded":[]}`)}, "m0850"},
		"full lists ignore a base":   {map[int]string{850: at(850, "m0840", "s", ""), 950: at(950, "m0940", "s", `,"details":{"base":"m0850","readFiles":[]}`)}, "m0940"},
		"a new tree":                 {map[int]string{960: string(storetest.User("m0960", "", "x"))}, "m0960"},
		"no compaction":              {nil, ""},
		"first kept entry missing":   {map[int]string{950: at(950, "gone", "s", "")}, ""},
		"first kept entry far away":  {map[int]string{950: at(950, "m0010", "s", "")}, ""},
		"no first kept entry":        {map[int]string{950: at(950, "", "s", "")}, ""},
		"base missing":               {map[int]string{950: at(950, "m0940", "s", `,"details":{"base":"gone","readFilesAdded":[]}`)}, ""},
		"parent missing":             {map[int]string{980: string(storetest.User("m0980", "gone", "x")), 950: at(950, "m0940", "s", "")}, ""},
		"parent cycle":               {map[int]string{980: string(storetest.User("m0980", "m0990", "x"))}, ""},
		"leaf record":                {map[int]string{950: at(950, "m0940", "s", ""), 990: `{"type":"leaf","targetId":"m0010"}`}, ""},
		"a root that says nothing":   {map[int]string{960: `{"type":"message","id":"m0960","message":{"role":"user","content":"x"}}`}, ""},
		"off the path":               {map[int]string{950: at(950, "m0940", "s", ""), 951: string(storetest.User("m0951", "m0949", "x")), 900: at(900, "m0880", "s", "")}, "m0880"},
		"damage on the way":          {map[int]string{950: at(950, "m0940", "s", ""), 970: "{broken", 971: string(storetest.User("m0971", "m0969", "x"))}, "m0940"},
		"damage that breaks the way": {map[int]string{950: at(950, "m0940", "s", ""), 970: "{broken"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, id := file(t, build(c.replace))
			live, all := load(t, d, id, store.ScopeLive), load(t, d, id, store.ScopeAll)
			require.Equal(t, all.Log().Leaf().ID, live.Log().Leaf().ID)
			require.Equal(t, c.oldest != "", live.Log().Partial)
			require.Equal(t, c.oldest == "", live.Log().Report.Complete)
			if c.oldest == "" {
				require.Empty(t, cmp.Diff(all.Log(), live.Log(), cmpopts.IgnoreUnexported(session.Log{})))
				return
			}
			require.NotNil(t, live.Log().Find(c.oldest), "read as far as needed")
			require.Less(t, len(live.Log().Entries), 300, "and not much further")
			require.Zero(t, live.Log().Entries[0].Line, "lines are not known")
			requireSameContext(t, all, live)
		})
	}
}

// TestTailGivesTheSameContext compares both ways to read on random sessions: trees with branches,
// compactions of every sort, damage, and lines longer than a block.
func TestTailGivesTheSameContext(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	partial := 0
	rapid.Check(t, func(r *rapid.T) {
		var b strings.Builder
		b.Write(append(storetest.Header("s"), '\n'))
		ids := []string{""}
		old := func(label string) string { // mostly a recent entry
			back := rapid.IntRange(0, min(len(ids)-1, 12)).Draw(r, label)
			return ids[len(ids)-1-back]
		}
		n := rapid.IntRange(30, 150).Draw(r, "entries")
		for i := range n {
			id, parent := fmt.Sprintf("e%04d", i), ids[len(ids)-1]
			line := ""
			switch rapid.IntRange(0, 19).Draw(r, "kind") {
			case 0:
				parent = old("branch")
				fallthrough
			default:
				line = string(storetest.User(id, parent, strings.Repeat("t", rapid.IntRange(0, 60).Draw(r, "length"))))
			case 1, 2:
				kept := rapid.SampledFrom([]string{old("kept"), old("kept too"), session.KeepNothing, "gone", ""}).Draw(r, "first kept")
				summary := rapid.SampledFrom([]string{"summary " + id, "summary " + id, " "}).Draw(r, "summary")
				more := rapid.SampledFrom([]string{"", "", `,"details":{"base":"` + old("base") + `","readFilesAdded":["f"]}`}).Draw(r, "details")
				if parent == "" {
					line = string(storetest.User(id, parent, "first"))
				} else {
					line = compaction(id, parent, kept, summary, more)
				}
			case 3:
				line = string(storetest.User(id, parent, strings.Repeat("long", rapid.IntRange(1, 500).Draw(r, "length"))))
			case 4:
				b.WriteString("{damage\n\n")
				continue
			case 5:
				line = string(storetest.User(id, parent, "glued")) + string(storetest.User(id+"g", id, "to it"))
				id += "g"
			}
			b.WriteString(line + "\n")
			ids = append(ids, id)
		}
		d, err := New(root)
		require.NoError(r, err)
		d.smallFile, d.tailBlock, d.batch = 0, 100, 300
		require.NoError(r, os.WriteFile(filepath.Join(root, "s.jsonl"), []byte(b.String()), 0o600))
		a, err := d.Load(t.Context(), "s.jsonl", store.ScopeAll)
		require.NoError(r, err)
		all := a.(*snapshot)
		l, err := d.Load(t.Context(), "s.jsonl", store.ScopeLive)
		require.NoError(r, err)
		live := l.(*snapshot)
		whole, err := session.Parse([]byte(b.String()))
		require.NoError(r, err)
		require.Empty(r, cmp.Diff(whole.Log, all.Log(), cmpopts.IgnoreUnexported(session.Log{}), cmpopts.EquateEmpty()), "the parallel index is the plain one")
		if live.Log().Partial {
			partial++
		}
		want, wantErr := session.BuildContext(all.Log(), all, session.ContextOptions{})
		got, gotErr := session.BuildContext(live.Log(), live, session.ContextOptions{})
		require.Equal(r, wantErr == nil, gotErr == nil, "%v, %v", wantErr, gotErr)
		require.Empty(r, cmp.Diff(want.Messages, got.Messages))
		require.NoError(r, all.Close())
		require.NoError(r, live.Close())
	})
	require.Positive(t, partial, "no session was read from its end")
}

// TestFileCutWhileItIsRead: of a file that got shorter after it was indexed, a lost body is an error,
// not an empty or a wrong one.
func TestFileCutWhileItIsRead(t *testing.T) {
	t.Parallel()
	d, id := file(t, messages(50))
	s := load(t, d, id, store.ScopeAll)
	require.NoError(t, os.Truncate(filepath.Join(d.root, id), 500))
	_, err := s.Body(s.Log().Leaf())
	require.Equal(t, store.KindUnreadable, store.KindOf(err), "%v", err)
	_, err = s.Body(&session.Entry{Offset: 1 << 40, Length: 5})
	require.Error(t, err)
	_, err = s.Body(&session.Entry{Offset: -1, Length: 5})
	require.Error(t, err)
}
