package selector_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/compaction/reduce/selector"
)

func TestFOP01TheGrammar(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a.go:50": "50", "a.go:50-": "50-", "a.go:50-200": "50-200", "a.go:50+150": "50+150", "a.go:50..200": "50..200", "a.go:50..": "50..",
		"a.go:1-5,9,20-30": "1-5,9,20-30", "a.go:L5-L9": "L5-L9", "a.go:l5+3": "l5+3", "a.go:raw": "raw", "a.go:RAW": "RAW", "a.go:Conflicts": "Conflicts",
		"a.go:raw:50-60": "raw:50-60", "a.go:50-60:raw": "50-60:raw",
		"a.zip:dir/b.txt:7": "7", "db.sqlite:users:42": "42", `C:\x.go:3`: "3", "a:b:raw": "raw",
		// At most two parts, and of two kinds.
		"a.go:1:2": "2", "a.go:raw:raw": "raw", "a.go:conflicts:1": "1", "a.go:1:conflicts": "conflicts", "a.go:raw:1:raw": "1:raw",
		// Part of the path.
		"a.go": "", "a.go:": "", "a.go:x": "", "a.go:50x": "", "a.go:5+": "", ":50": "", "a.go:-5": "", "a.go:1,": "", "a.go:,1": "", "a.go:L": "",
		"a.go:1...2": "", "a.go:1-2-3": "", "a.zip:dir/b.txt": "", "db.sqlite:users": "", `C:\x.go`: "", "": "", ":": "", "raw": "",
	} {
		base, got := selector.Split(path)
		require.Equal(t, want, got, path)
		require.Equal(t, base, selector.Strip(path))
		if want == "" {
			require.Equal(t, path, base)
		} else {
			require.Equal(t, path, base+":"+got)
		}
	}
}

func TestWhatTheGrammarMakesIsFound(t *testing.T) {
	t.Parallel()
	number := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "L", "l"}).Draw(t, "L") + fmt.Sprint(rapid.IntRange(0, 1<<30).Draw(t, "n"))
	})
	one := rapid.Custom(func(t *rapid.T) string {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		return rapid.SampledFrom([]string{a, a + "-", a + "..", a + "-" + b, a + "+" + b, a + ".." + b}).Draw(t, "form")
	})
	rapid.Check(t, func(t *rapid.T) {
		list := strings.Join(rapid.SliceOfN(one, 1, 5).Draw(t, "ranges"), ",")
		raw := rapid.SampledFrom([]string{"raw", "Raw", "RAW"}).Draw(t, "raw")
		want := rapid.SampledFrom([]string{list, raw, list + ":" + raw, raw + ":" + list, "conflicts"}).Draw(t, "selector")
		base := rapid.SampledFrom([]string{"a.go", "dir/a b.go", "a.zip:dir/b", "db.sqlite:users", `C:\x`}).Draw(t, "base")
		gotBase, got := selector.Split(base + ":" + want)
		require.Equal(t, base, gotBase)
		require.Equal(t, want, got)
	})
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"a.go:1-5,L9+3:raw", "a:raw:5", "db:users:42", ":5", "a.go:conflicts", "a:1..", "a:raw:raw:1", "日本:5", "a:5-\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		base, sel := selector.Split(path)
		if sel == "" {
			require.Equal(t, path, base)
			return
		}
		require.Equal(t, path, base+":"+sel)
		require.NotEmpty(t, base)
		again, same := selector.Split("other.go:" + sel)
		require.Equal(t, "other.go", again, "a selector is one behind any path")
		require.Equal(t, sel, same)
		for _, part := range strings.Split(sel, ":") {
			require.NotContains(t, part, "/")
		}
		require.LessOrEqual(t, strings.Count(sel, ":"), 1)
	})
}
