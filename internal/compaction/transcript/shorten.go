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
// a variation selector or a skin tone, or behind a joiner. It gives up after a few steps on text that
// is only marks.
func wholeCharacter(text string, end int) int {
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
