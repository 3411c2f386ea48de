package probe

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var (
	thousands = regexp.MustCompile(`(\d)[,_'’\x{00A0}\x{202F}\x{2009}](\d{3})(?:\b|_)`)
	invisible = strings.NewReplacer("\u200b", "", "\u200c", "", "\u200e", "", "\u200f", "", "\u2060", "", "\ufeff", "", "\u00ad", "")
	marks     = strings.NewReplacer("`", "", "*", "", `\`, "/")
)

// Normalize brings text into the form in which facts are compared: compatibility characters and case
// folded, composed, without invisible characters, code marks and emphasis, path separators alike,
// thousands separators gone, one space between words. Lines stay lines.
func Normalize(s string) string {
	s = joinThousands(marks.Replace(invisible.Replace(s)))
	s = strings.ToLower(joinThousands(norm.NFKC.String(s)))
	var b strings.Builder
	b.Grow(len(s))
	space := true
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteByte('\n')
			space = true
		case unicode.IsSpace(r):
			if !space {
				b.WriteByte(' ')
			}
			space = true
		default:
			b.WriteRune(r)
			space = false
		}
	}
	return b.String()
}

// joinThousands takes the separators out of numbers.
func joinThousands(s string) string {
	for {
		joined := thousands.ReplaceAllString(s, "$1$2")
		if joined == s {
			return s
		}
		s = joined
	}
}

// has reports whether normalised text holds a normalised form at token boundaries. Boundaries matter
// only where the form begins or ends in a letter or digit of a script that writes spaces.
func has(text, form string) bool { return index(text, form) >= 0 }

func index(text, form string) int {
	if form == "" {
		return -1
	}
	for from := 0; ; {
		i := strings.Index(text[from:], form)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		first, _ := utf8.DecodeRuneInString(form)
		last, _ := utf8.DecodeLastRuneInString(form)
		after, _ := utf8.DecodeRuneInString(text[i+len(form):])
		if !(wordy(before) && wordy(first)) && !(wordy(last) && wordy(after)) {
			return i
		}
		from = i + 1
	}
}

func wordy(r rune) bool {
	if r == utf8.RuneError || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
		return false
	}
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
