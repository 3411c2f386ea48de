package span_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/compaction/reduce/span"
)

func TestBlocks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"a fence":                            {"a\n```go\nx\n```\nb", []string{"```go\nx\n```"}},
		"a fence of tildes":                  {"~~~\nx\n~~~", []string{"~~~\nx\n~~~"}},
		"two fences":                         {"```\n1\n```\n```\n2\n```\n", []string{"```\n1\n```", "```\n2\n```"}},
		"an indented fence":                  {"  ```\nx\n   ```\n", []string{"```\nx\n   ```"}},
		"too far in is text":                 {"    ```\nx\n    ```\n", nil},
		"a fence not closed":                 {"```\nx\n", nil},
		"a longer one closes":                {"```\nx\n`````\n", []string{"```\nx\n`````"}},
		"a shorter one does not":             {"````\n```\nx\n````\n", []string{"````\n```\nx\n````"}},
		"the other kind does not":            {"```\n~~~\nx\n```\n", []string{"```\n~~~\nx\n```"}},
		"one that is not closed hides none":  {"~~~~\n```\nx\n```\n", []string{"```\nx\n```"}},
		"a closing line says nothing":        {"```\n``` go\nx\n```\n", []string{"```\n``` go\nx\n```"}},
		"backticks in a line are no fence":   {"```x``` y\nz\n```\n", nil},
		"an element":                         {"a\n<file name=\"x\">\n1\n</file>\nb", []string{"<file name=\"x\">\n1\n</file>"}},
		"an element on one line":             {"<b>x</b> y", []string{"<b>x</b>"}},
		"an element within a line is text":   {"a <b>x</b>", nil},
		"upper case is text":                 {"<File>x</File>", nil},
		"an element not closed":              {"<file>\nx", nil},
		"an empty element is no block":       {"<file/>\n<file />\nx</file>", nil},
		"nested elements of one name":        {"<a>\n<a>\n</a>\n</a>\n", []string{"<a>\n<a>\n</a>\n</a>"}},
		"the outermost wins":                 {"<a>\n<b>\nx\n</b>\n</a>\n<b>y</b>", []string{"<a>\n<b>\nx\n</b>\n</a>", "<b>y</b>"}},
		"one not closed hides none":          {"<a>\n<b>\nx\n</b>\n", []string{"<b>\nx\n</b>"}},
		"elements within fences are text":    {"```\n<a>\n</a>\n```\n", []string{"```\n<a>\n</a>\n```"}},
		"a closing tag in a fence is text":   {"<a>\n```\n</a>\n```\n", []string{"```\n</a>\n```"}},
		"a fence within an element is in it": {"<a>\n```\nx\n```\n</a>\n", []string{"<a>\n```\nx\n```\n</a>"}},
		"an element before a fence":          {"<a>\nx\n</a>\n```\ny\n```\n<b>\nz\n</b>", []string{"<a>\nx\n</a>", "```\ny\n```", "<b>\nz\n</b>"}},
		"names go to their end":              {"<ab>\nx\n</a>\n</ab>", []string{"<ab>\nx\n</a>\n</ab>"}},
		"comparisons are text":               {"<3\n</3>\na<b\n", nil},
		"a tag on two lines is text":         {"<a\nb>x</a>", nil},
		"nothing":                            {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range span.Find(tt.text) {
				got = append(got, tt.text[s.Start:s.End])
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	found := span.Find("```\n```\n<tool-output>\n</tool-output>")
	require.Equal(t, []span.Span{{0, 7, "code"}, {8, 36, "tool-output"}}, found)
}

// checkSpans holds for every text: blocks are in order, apart, and stay the same blocks when others
// are taken out.
func checkSpans(t require.TestingT, text string) {
	found := span.Find(text)
	last := 0
	for _, s := range found {
		require.GreaterOrEqual(t, s.Start, last)
		require.Greater(t, s.End, s.Start)
		require.LessOrEqual(t, s.End, len(text))
		require.True(t, utf8.RuneStart(text[s.Start]))
		last = s.End
	}
	left := text
	for i := len(found) - 1; i >= 0; i-- {
		left = left[:found[i].Start] + "[gone]" + left[found[i].End:]
	}
	require.Empty(t, span.Find(left), "%q\n%q", text, left)
}

func TestTakingBlocksOutLeavesNone(t *testing.T) {
	t.Parallel()
	unit := rapid.SampledFrom([]string{"```", "````", "~~~", "\n", "\n", "<a>", "</a>", "<b x=\"1\">", "</b>", "x", " ", "é", "<a/>"})
	rapid.Check(t, func(t *rapid.T) { checkSpans(t, strings.Join(rapid.SliceOf(unit).Draw(t, "units"), "")) })
}

// TestHostileTextsAreLinear has texts on which a search that starts over for every tag or fence would
// take hours.
func TestHostileTextsAreLinear(t *testing.T) {
	t.Parallel()
	const n = 100_000
	for unit, want := range map[string]int{
		"```x\n": 0, "~~~~\n```\n": 2 * n / 3, "<a>\n": 0, "</a>": 0, "<a>\n<b>\n</a>\n": n, "<": 0, "<a ": 0,
		"```\n<a>\n```\n": n, "<a>\n</a>\n```\n```\n": 2 * n, "<a>\n```\n```\n": n,
	} {
		require.Equal(t, want, len(span.Find(strings.Repeat(unit, n))), unit)
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{"```\nx\n```\n", "<a>\n<b>\n</a>\n</b>", "~~~~\n```\n<a>\n```\n</a>\n~~~~", "<a>```\n</a>\n```"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkSpans(t, text) })
}
