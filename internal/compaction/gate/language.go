package gate

import (
	"strings"
	"unicode"

	"recap/internal/compaction/gate/outline"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// The numbers of the language check (spec/gate §4b, G12).
const (
	languageLetters = 200 // of an answer, below which it is not judged; wide characters count double
	userLetters     = 80  // of a session's users, below which they have no language
	tongueShare     = 0.2 // of the users' letters, from which on a language is one of theirs
	languageSample  = 48 << 10
)

// checkLanguage is G12: notes are in the language the users write in, whatever language the tools'
// output is in. Sessions in several languages accept each of them.
func checkLanguage(in *Input, d *document, m *Measurements) contract.Code {
	if in.Extractive || len(in.Digest.tongues) == 0 {
		return ""
	}
	text := body(d.lines)
	if wideLetters(text) < languageLetters {
		return ""
	}
	m.Language = tongueName(text)
	if m.Language == "" || in.Digest.tongues[m.Language] {
		return ""
	}
	return CodeLanguage
}

// body is what an answer says itself: no headings, fences, quotations, code, paths or URLs.
func body(lines []outline.Line) string {
	var b strings.Builder
	for _, l := range lines {
		if l.Fenced || l.Quoted || l.Heading.Level > 0 || b.Len() > languageSample {
			continue
		}
		b.WriteString(prose(l.Text))
		b.WriteByte('\n')
	}
	return b.String()
}

// prose leaves out what is in no language: quotations, code spans, and words with digits or with the
// characters of paths, URLs and names.
func prose(text string) string {
	if strings.ContainsAny(text, "`\"“«「『„") {
		text = quotation.ReplaceAllString(text, " ")
	}
	var b strings.Builder
	b.Grow(len(text))
	for word := range strings.FieldsSeq(text) {
		if technical(word) {
			continue
		}
		b.WriteString(word)
		b.WriteByte(' ')
	}
	return b.String()
}

func technical(word string) bool {
	for i := range len(word) {
		switch c := word[i]; {
		case c >= 0x80: // scripts without spaces: what looks like a word may be a sentence
			return false
		case digitByte(c), strings.IndexByte(`/\_=<>{}@#$|`, c) >= 0, c == '.' && i > 0 && i < len(word)-1:
			return true
		}
	}
	return false
}

func digitByte(c byte) bool { return '0' <= c && c <= '9' }

func wideLetters(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 2
		case unicode.IsLetter(r):
			n++
		}
	}
	return n
}

// tonguesOf finds the languages the users write in, from the newest message back.
func tonguesOf(blocks []transcript.Block) map[string]bool {
	letters, total, seen := map[string]int{}, 0, 0
	var all []string
	for i := len(blocks) - 1; i >= 0 && seen < languageSample; i-- {
		if blocks[i].Role != transcript.User {
			continue
		}
		text := blocks[i].Text
		if len(text) > userBytes {
			text = strings.ToValidUTF8(text[:userBytes], "")
		}
		text = prose(unfenced(text))
		seen += len(text) + 64
		all = append(all, text)
		n := wideLetters(text)
		total += n
		if name := tongueName(text); name != "" {
			letters[name] += n
		}
	}
	tongues := map[string]bool{}
	if total < userLetters {
		return tongues
	}
	for name, n := range letters {
		if float64(n) >= tongueShare*float64(total) {
			tongues[name] = true
		}
	}
	// Short messages say little one by one and enough together.
	if name := tongueName(strings.Join(all, "\n")); name != "" {
		tongues[name] = true
	}
	return tongues
}
