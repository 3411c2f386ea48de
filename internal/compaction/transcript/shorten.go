package transcript

import (
	"unicode"
	"unicode/utf8"
)

// ResultLimit is how many characters of a tool result are kept. Characters are UTF-16 code units, as
// the reference agents count them.
const ResultLimit = 2000

// shorten keeps the first ResultLimit characters of a text and says how many it left out. It never
// cuts through a character: neither a surrogate pair nor a base and what modifies it.
func shorten(text string) (kept string, cut int) {
	if len(text) <= ResultLimit {
		return text, 0
	}
	end, n := 0, 0
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if n+units(r) > ResultLimit {
			break
		}
		n += units(r)
		end += size
	}
	if end == len(text) {
		return text, 0
	}
	end = wholeCharacter(text, end)
	for _, r := range text[end:] {
		cut += units(r)
	}
	return text[:end], cut
}

// units is the number of UTF-16 code units of a character.
func units(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// wholeCharacter moves a cut back while it lies within a visible character: before a mark, a joiner,
// a variation selector or a skin tone, behind a joiner, or between the two letters of a flag. It gives
// up after a few steps on text that is only marks.
func wholeCharacter(text string, end int) int {
	if r, size := utf8.DecodeRuneInString(text[end:]); flagLetter(r) && flagLetters(text[:end])%2 == 1 {
		end -= size
	}
	at := end
	for range 16 {
		next, _ := utf8.DecodeRuneInString(text[at:])
		prev, size := utf8.DecodeLastRuneInString(text[:at])
		if size == 0 || (!extends(next) && prev != zeroWidthJoiner) {
			return at
		}
		at -= size
	}
	return end
}

const zeroWidthJoiner = '\u200D'

func extends(r rune) bool {
	return r == zeroWidthJoiner || unicode.In(r, unicode.M) || (r >= 0x1F3FB && r <= 0x1F3FF)
}

// flagLetter reports whether two characters like this make a flag.
func flagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// flagLetters counts the letters of flags that a text ends with.
func flagLetters(text string) int {
	n := 0
	for {
		r, size := utf8.DecodeLastRuneInString(text)
		if !flagLetter(r) {
			return n
		}
		text = text[:len(text)-size]
		n++
	}
}
