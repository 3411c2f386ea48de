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
// in bytes, as all bounds of quotations are: they come out of a budget of bytes. The cut is at a
// code point.
func bounded(s string, n int) string {
	limit := 4*n + 64
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// clip returns as many whole characters (grapheme clusters) of s as fit n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	rest, state, end := s, -1, 0
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if end+len(cluster) > n {
			break
		}
		end += len(cluster)
	}
	return s[:end]
}

// clipLeft returns as many whole characters from the end of s as fit n bytes. It looks for the first
// boundary in a stretch before the cut, which is right unless one character is longer than that.
func clipLeft(s string, n int) string {
	const stretch = 128
	if len(s) <= n {
		return s
	}
	from, at := len(s)-n, max(0, len(s)-n-stretch)
	for at < from && !utf8.RuneStart(s[at]) {
		at++
	}
	rest, state := s[at:], -1
	for at < from && rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
	}
	return s[at:]
}

// slack is how many bytes more than allowed are shown rather than left out with a note.
const slack = 32

// left renders what was left out of a quotation.
func left(n int) string { return fmt.Sprintf("[… %d more characters]", n) }

// line quotes text on one line: white space collapsed, at most n bytes.
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

// quotedEnds is quoted, but keeps the end of a long text too: requests often state there what they
// want.
func quotedEnds(s string, n int) string {
	if len(s) > 64*n { // cleaning everything would cost more than it shows
		s = bounded(s, 4*n) + " … " + clipLeft(s, 4*n)
	}
	head, tail, cut := ends(strings.Join(strings.Fields(clean(s)), " "), n)
	if tail != "" {
		head += fmt.Sprintf(" [… %d characters left out …] ", cut) + tail
	}
	return "“" + head + "”"
}

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

// verbatim quotes text as a block quote, line for line. Of a text longer than n bytes it keeps
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

// ends splits s into a head and a tail of together at most n bytes, and counts the characters between.
func ends(s string, n int) (head, tail string, cut int) {
	if len(s) <= n+slack {
		return s, "", 0
	}
	head = clip(s, n*3/4)
	tail = clipLeft(s[len(head):], n/4)
	if sp := strings.IndexAny(tail, " \n"); sp >= 0 && sp < min(32, len(tail)/4) {
		tail = tail[sp+1:] // begin with a whole word where one begins soon
	}
	return head, tail, utf8.RuneCountInString(s[len(head) : len(s)-len(tail)])
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
