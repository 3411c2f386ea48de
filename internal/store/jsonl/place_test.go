package jsonl

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/store"
	"recap/internal/store/storetest"
)

const uuidA, uuidB = "0b6c2a54-1d0e-4c53-9a3f-000000000001", "0b6c2a54-ffff-4c53-9a3f-000000000002"

// tree makes a store with sessions in folders, links, and things that are none.
func tree(t *testing.T) (d *Driver, outer string) {
	t.Helper()
	outer = t.TempDir()
	outer, err := filepath.EvalSymlinks(outer)
	require.NoError(t, err)
	d = open(t, filepath.Join(outer, "store"))
	for _, rel := range []string{
		"store/--srv-demo--/2026-05-04T09-00-00-000Z_" + uuidA + ".jsonl",
		"store/--srv-demo--/2026-05-05T09-00-00-000Z_" + uuidB + ".jsonl",
		"store/plain.jsonl", "store/a/deep/er.jsonl", "store/a-b.jsonl", "store/a.jsonl", "store/odd\nname.jsonl", "outside.jsonl",
	} {
		path := filepath.Join(outer, rel)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(messages(2)), 0o600))
	}
	for rel, text := range map[string]string{"empty.jsonl": "", "notes.txt": "x", "journal.jsonl": "J\x00\x01\x02{\"type\":\"session\"}", "claude.jsonl": `{"type":"user","parentUuid":null}`} {
		require.NoError(t, os.WriteFile(filepath.Join(d.root, rel), []byte(text), 0o600))
	}
	for link, target := range map[string]string{
		"in.jsonl": "plain.jsonl", "out.jsonl": "../outside.jsonl", "folder": "--srv-demo--", "up": "..", "abs.jsonl": filepath.Join(d.root, "plain.jsonl"),
		"dangling.jsonl": "gone.jsonl",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(d.root, link)))
	}
	require.NoError(t, syscall.Mkfifo(filepath.Join(d.root, "pipe.jsonl"), 0o600))
	return d, outer
}

func TestCanonicalNames(t *testing.T) {
	t.Parallel()
	d, outer := tree(t)
	a := "--srv-demo--/2026-05-04T09-00-00-000Z_" + uuidA + ".jsonl"
	for name, want := range map[string]string{
		"plain.jsonl":      "plain.jsonl",
		"plain":            "plain.jsonl",
		"./plain.jsonl":    "plain.jsonl",
		"a/../plain.jsonl": "plain.jsonl",
		"in.jsonl":         "plain.jsonl",
		"abs.jsonl":        "plain.jsonl",
		"in":               "plain.jsonl",
		"a/deep/er":        "a/deep/er.jsonl",
		a:                  a,
		"folder/2026-05-04T09-00-00-000Z_" + uuidA: a,
		filepath.Join(d.root, a):                   a,
		filepath.Join(d.root, "plain"):             "plain.jsonl",
		uuidA:                                      a,
		strings.ToUpper(uuidA):                     a,
		"0b6c2a54-1d0e":                            a,
	} {
		got, err := d.Canonical(t.Context(), name)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	for name, want := range map[string]store.Kind{
		"../outside.jsonl":                    store.KindOutside,
		"a/../../outside.jsonl":               store.KindOutside,
		filepath.Join(outer, "outside.jsonl"): store.KindOutside,
		filepath.Join(outer, "outside"):       store.KindOutside,
		"out.jsonl":                           store.KindOutside,
		"out":                                 store.KindOutside,
		"up/outside.jsonl":                    store.KindOutside,
		"/etc/passwd":                         store.KindOutside,
		"0b6c2a54":                            store.KindNotFound, // two begin with it
		"0b6":                                 store.KindNotFound,
		"ffff":                                store.KindNotFound,
		strings.Repeat("x", 300):              store.KindNotFound,
		"nul\x00byte":                         store.KindNotFound,
		"dangling.jsonl":                      store.KindNotFound,
		"plain.jsonl/x":                       store.KindNotFound,
		filepath.Join(d.root, "no", "such.jsonl"): store.KindNotFound,
	} {
		_, err := d.Canonical(t.Context(), name)
		require.Equal(t, want, store.KindOf(err), "%s: %v", name, err)
	}
	_, err := d.Canonical(t.Context(), "0b6c2a54")
	require.ErrorContains(t, err, "2 sessions")
}

// TestNothingOutsideTheRoot: no operation reads or writes there, by whatever name.
func TestNothingOutsideTheRoot(t *testing.T) {
	t.Parallel()
	d, outer := tree(t)
	before, err := os.ReadFile(filepath.Join(outer, "outside.jsonl"))
	require.NoError(t, err)
	for _, id := range []string{"../outside.jsonl", "out.jsonl", "up/outside.jsonl", filepath.Join(outer, "outside.jsonl")} {
		_, err := d.Load(t.Context(), id, store.ScopeAll)
		require.Equal(t, store.KindOutside, store.KindOf(err), "%s: %v", id, err)
		_, err = d.Append(t.Context(), id, store.Expect{}, []store.NewEntry{storetest.NewUser("x", "x")})
		require.Equal(t, store.KindOutside, store.KindOf(err), "%s: %v", id, err)
		_, err = d.Rewrite(t.Context(), id, store.Expect{}, store.Change{})
		require.Equal(t, store.KindOutside, store.KindOf(err), "%s: %v", id, err)
	}
	for _, id := range []string{"../new.jsonl", "up/new.jsonl", filepath.Join(outer, "new.jsonl"), "up/x/y/new.jsonl"} {
		_, err := d.Create(t.Context(), id, storetest.Header("x"), nil)
		require.Equal(t, store.KindOutside, store.KindOf(err), "%s: %v", id, err)
	}
	after, err := os.ReadFile(filepath.Join(outer, "outside.jsonl"))
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.ElementsMatch(t, []string{"outside.jsonl", "store"}, dirNames(t, outer))
}

func TestWhatIsNoSessionIsNamedAsSuch(t *testing.T) {
	t.Parallel()
	d, _ := tree(t)
	for id, says := range map[string]string{
		"a": "folder", "empty.jsonl": "empty", "journal.jsonl": "framed journal", "claude.jsonl": "Claude", "pipe.jsonl": "regular", "notes.txt": "",
	} {
		for _, scope := range []store.Scope{store.ScopeAll, store.ScopeLive} {
			_, err := d.Load(t.Context(), id, scope)
			require.Equal(t, store.KindNotSession, store.KindOf(err), "%s: %v", id, err)
			require.ErrorContains(t, err, says, id)
			require.NotContains(t, err.Error(), "\n")
		}
		_, err := d.Append(t.Context(), id, store.Expect{}, []store.NewEntry{storetest.NewUser("x", "x")})
		require.Error(t, err, id)
	}
	journal := filepath.Join(d.root, "journal.jsonl")
	info, err := os.Stat(journal)
	require.NoError(t, err)
	f, err := os.Open(journal)
	require.NoError(t, err)
	st, err := stateOf(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = d.Append(t.Context(), "journal.jsonl", store.Expect{Revision: st.revision()}, []store.NewEntry{storetest.NewUser("x", "x")})
	require.Equal(t, store.KindNotSession, store.KindOf(err), "also with the right revision")
	require.Equal(t, int64(len(content(t, d, "journal.jsonl"))), info.Size())
}

func TestListWalksTheTreeInTheOrderOfTheIDs(t *testing.T) {
	t.Parallel()
	d, _ := tree(t)
	want := []string{
		"--srv-demo--/2026-05-04T09-00-00-000Z_" + uuidA + ".jsonl", "--srv-demo--/2026-05-05T09-00-00-000Z_" + uuidB + ".jsonl",
		"a-b.jsonl", "a.jsonl", "a/deep/er.jsonl", "odd\nname.jsonl", "plain.jsonl",
	}
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []string
		for cursor := ""; ; {
			page, err := d.List(t.Context(), store.Filter{Limit: limit}, cursor)
			require.NoError(t, err)
			for _, s := range page.Sessions {
				got = append(got, s.ID)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		require.Equal(t, want, got, "in pages of %d", limit)
	}
}

func TestStoreThatDoesNotExistYet(t *testing.T) {
	t.Parallel()
	d := open(t, filepath.Join(t.TempDir(), "not", "yet"))
	page, err := d.List(t.Context(), store.Filter{OlderThan: time.Now()}, "")
	require.NoError(t, err)
	require.Empty(t, page)
	_, err = d.Load(t.Context(), "x.jsonl", store.ScopeAll)
	require.Equal(t, store.KindNotFound, store.KindOf(err))
	_, err = d.Canonical(t.Context(), "0b6c2a54")
	require.Equal(t, store.KindNotFound, store.KindOf(err))
	id, err := d.Create(t.Context(), "in/a/folder", storetest.Header("x"), nil)
	require.NoError(t, err)
	require.Equal(t, "in/a/folder.jsonl", id)
	load(t, d, id, store.ScopeAll)
}

func TestCreateNamesFilesAsAgentsDo(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	id, err := d.Create(t.Context(), "", storetest.Header(uuidA), storetest.Chain(2))
	require.NoError(t, err)
	require.Equal(t, "2026-05-04T09-00-00-000Z_"+uuidA+".jsonl", id)
	got, err := d.Canonical(t.Context(), uuidA)
	require.NoError(t, err)
	require.Equal(t, id, got)
	id, err = d.Create(t.Context(), "", storetest.Header("../../x y"), nil)
	require.NoError(t, err)
	require.Equal(t, "2026-05-04T09-00-00-000Z_..-..-x-y.jsonl", id)
	require.Len(t, dirNames(t, d.root), 2)
}

func TestNewExpandsHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	d, err := New("~/sessions")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(home, "sessions"), d.Root())
}
