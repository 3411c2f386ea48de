package extractive

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// ownTags are elements that requests, contexts and file lists are framed with. In quoted text they
// get a backslash, so that a quotation can neither close a frame nor be cut out with one. This is the
// only change made to quoted words.
var ownTags = regexp.MustCompile(`(?i)<(/?(?:summary|conversation|previous-summary|additional-context|files|read-files|modified-files)\b)`)

// ansi matches terminal escape sequences, which tool output is full of.
var ansi = regexp.MustCompile(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])`)

// clean makes text safe to quote: valid UTF-8, "\n" as the only line end, no control characters, our
// own tags defused.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = ansi.ReplaceAllString(s, "")
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	s = strings.Map(func(r rune) rune {
		if (r < 0x20 && r != '\n' && r != '\t') || r == 0x7f || r == 0xFEFF {
			return -1
		}
		return r
	}, s)
	if strings.IndexByte(s, '<') >= 0 {
		s = ownTags.ReplaceAllString(s, `<\$1`)
	}
	return s
}

// bounded cuts a long text roughly before it is cleaned, so that cost depends on what is shown. n is
// in characters; the result is cut at a character, never inside one.
func bounded(s string, n int) string {
	limit := 8*n + 64
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// clip returns the first n characters (grapheme clusters) of s.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	rest, state, end := s, -1, 0
	for range n {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		end += len(cluster)
		if rest == "" {
			break
		}
	}
	return s[:end]
}

// slack is how many bytes more than allowed are shown rather than left out with a note.
const slack = 32

// left renders what was left out of a quotation.
func left(n int) string { return fmt.Sprintf("[… %d more characters]", n) }

// line quotes text on one line: white space collapsed, at most n characters.
func line(s string, n int) string {
	whole := strings.Join(strings.Fields(clean(bounded(s, n))), " ")
	head := clip(whole, n)
	if len(whole)-len(head) <= slack && len(bounded(s, n)) == len(s) {
		return whole // the note would be longer than what it stands for
	}
	if cut := utf8.RuneCountInString(whole) - utf8.RuneCountInString(head) + beyond(s, n); cut > 0 {
		head = strings.TrimRight(head, " ") + " " + left(cut)
	}
	return head
}

// beyond is how many characters of s bounded has left out.
func beyond(s string, n int) int { return utf8.RuneCountInString(s[len(bounded(s, n)):]) }

// prose is text without its fenced blocks, which make no sense on one line.
func prose(s string) string {
	if !strings.Contains(s, "```") {
		return s
	}
	var b strings.Builder
	fenced := false
	for l := range strings.SplitSeq(s, "\n") {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			if fenced = !fenced; fenced {
				b.WriteString("[code]\n")
			}
			continue
		}
		if !fenced {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// quoted is line in quotation marks.
func quoted(s string, n int) string { return "“" + line(s, n) + "”" }

// verbatim quotes text as a block quote, line for line. Of a text longer than n characters it keeps
// the beginning and the end, because requests state what they want at either.
func verbatim(s string, n int) []string {
	head, tail, cut := ends(strings.TrimSpace(s), n)
	var out []string
	for _, part := range []string{head, tail} {
		if part == "" {
			continue
		}
		if len(out) > 0 {
			out = append(out, "> "+fmt.Sprintf("[… %d characters left out …]", cut))
		}
		for l := range strings.SplitSeq(strings.Trim(clean(part), "\n"), "\n") {
			out = append(out, strings.TrimRight("> "+l, " \t"))
		}
	}
	return out
}

// ends splits s into a head and a tail of together at most n characters, and counts what is between.
func ends(s string, n int) (head, tail string, cut int) {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s, "", 0
	}
	head = clip(bounded(s, n), n*3/4)
	rest := s[len(head):]
	// The tail starts at a word where one starts soon, else at a character.
	from := len(rest)
	for i := 0; i < n/4 && from > 0; i++ {
		_, size := utf8.DecodeLastRuneInString(rest[:from])
		from -= size
	}
	for from < len(rest) {
		r, _ := utf8.DecodeRuneInString(rest[from:])
		if !joins(r) {
			break
		}
		from += utf8.RuneLen(r)
	}
	if sp := strings.IndexAny(rest[from:], " \n"); sp >= 0 && sp < 32 {
		from += sp + 1
	}
	return head, rest[from:], utf8.RuneCountInString(rest[:from])
}

// joins reports whether r continues the character before it.
func joins(r rune) bool {
	return r == '\u200d' || r == '\ufe0f' || r == utf8.RuneError ||
		(r >= 0x0300 && r <= 0x036f) || (r >= 0x1f3fb && r <= 0x1f3ff) || (r >= 0x064b && r <= 0x0652)
}

// code renders s as a code span on one line, with a fence longer than any run of backticks in it.
func code(s string, n int) string {
	s = line(s, n)
	if s == "" {
		return "``"
	}
	run, longest := 0, 0
	for i := range len(s) {
		if s[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 || s[0] == '`' {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
