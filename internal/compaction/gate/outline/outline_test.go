package outline_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/compaction/gate/outline"
	"recap/internal/contract"
)

func TestHeadingsOfAPart(t *testing.T) {
	t.Parallel()
	require.Len(t, outline.Of(contract.PartHistory), 10)
	require.Len(t, outline.Of(contract.PartTurnPrefix), 3)
	require.Len(t, outline.Of(""), 13)
	require.Equal(t, "### In Progress", outline.InProgress.String())
	list := outline.Of(contract.PartHistory)
	require.Equal(t, 1, outline.Find(list, outline.Heading{Level: 2, Title: "constraints and  PREFERENCES:"}))
	require.Equal(t, -1, outline.Find(list, outline.Heading{Level: 3, Title: "Goal"}))
	require.Equal(t, 0, outline.FindTitle(list, "**Goal**"))
	require.Equal(t, -1, outline.FindTitle(list, "Goals"))
}

func TestScanKnowsFencesQuotesAndHeadings(t *testing.T) {
	t.Parallel()
	type line struct {
		Text           string
		Fenced, Quoted bool
		Level          int
		Title          string
	}
	for name, tc := range map[string]struct {
		text string
		want []line
		open bool
	}{
		"heading":              {"## Goal ##\n", []line{{Text: "## Goal ##", Level: 2, Title: "Goal"}}, false},
		"sharp in a title":     {"# C#", []line{{Text: "# C#", Level: 1, Title: "C#"}}, false},
		"no space, seven":      {"##Goal\n####### x", []line{{Text: "##Goal"}, {Text: "####### x"}}, false},
		"indented":             {"   ## a\n    ## b\n\t## c", []line{{Text: "   ## a", Level: 2, Title: "a"}, {Text: "    ## b"}, {Text: "\t## c"}}, false},
		"fence":                {"```go\n## a\n```\n## b", []line{{Text: "```go", Fenced: true}, {Text: "## a", Fenced: true}, {Text: "```", Fenced: true}, {Text: "## b", Level: 2, Title: "b"}}, false},
		"longer fence":         {"````\n```\n````", []line{{Text: "````", Fenced: true}, {Text: "```", Fenced: true}, {Text: "````", Fenced: true}}, false},
		"other fence":          {"~~~\n```\n~~~ \n", []line{{Text: "~~~", Fenced: true}, {Text: "```", Fenced: true}, {Text: "~~~ ", Fenced: true}}, false},
		"info closes nothing":  {"```\n``` go", []line{{Text: "```", Fenced: true}, {Text: "``` go", Fenced: true}}, true},
		"code span":            {"``` a ``` b", []line{{Text: "``` a ``` b"}}, false},
		"quote":                {"> ## a\n> ```\nb", []line{{Text: "> ## a", Quoted: true}, {Text: "> ```", Quoted: true}, {Text: "b"}}, false},
		"line ends":            {"a\r\nb\r## c\n", []line{{Text: "a"}, {Text: "b"}, {Text: "## c", Level: 2, Title: "c"}}, false},
		"separators stay":      {"a\u2028## b", []line{{Text: "a\u2028## b"}}, false},
		"empty":                {"", []line{}, false},
		"empty heading":        {"##\n## \n", []line{{Text: "##", Level: 2}, {Text: "## ", Level: 2}}, false},
		"closed by a sequence": {"## a #", []line{{Text: "## a #", Level: 2, Title: "a"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, open := outline.Scan(tc.text)
			got := []line{}
			for _, l := range lines {
				require.Equal(t, l.Text, tc.text[l.Offset:l.Offset+len(l.Text)])
				got = append(got, line{l.Text, l.Fenced, l.Quoted, l.Heading.Level, l.Heading.Title})
			}
			require.Empty(t, cmp.Diff(tc.want, got))
			require.Equal(t, tc.open, open)
		})
	}
}

func TestScanLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "\n", "\r\n", "```", "> ", "## ", " ", "~~~", "語"})).Draw(t, "parts"), "")
		lines, _ := outline.Scan(text)
		at := 0
		for _, l := range lines {
			require.Contains(t, []string{"", "\n", "\r", "\r\n"}, text[at:l.Offset])
			at = l.Offset + len(l.Text)
		}
		require.Contains(t, []string{"", "\n", "\r", "\r\n"}, text[at:])
	})
}

func TestListItem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"- a": "a", "  * b ": "b", "12. c": "c", "3) d": "d", "+ [x] e": "[x] e"} {
		got, ok := outline.Line{Text: text}.ListItem()
		require.True(t, ok, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "-a", "1.5 x", "a - b", "--- x", "1234567890. x"} {
		_, ok := outline.Line{Text: text}.ListItem()
		require.False(t, ok, text)
	}
}
