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
	end, _ := advance(text, ResultLimit)
	if end == len(text) {
		return text, 0
	}
	end = wholeCharacter(text, end)
	_, cut = advance(text[end:], len(text))
	return text[:end], cut
}

// advance passes over as many characters as have at most limit code units, and returns how many bytes
// and code units that were.
func advance(text string, limit int) (end, n int) {
	for end < len(text) {
		// Most text is ASCII: eight bytes at a time.
		for len(text)-end >= 8 && limit-n >= 8 {
			t := text[end : end+8]
			if (t[0]|t[1]|t[2]|t[3]|t[4]|t[5]|t[6]|t[7])&0x80 != 0 {
				break
			}
			end, n = end+8, n+8
		}
		if end == len(text) {
			break
		}
		r, size := utf8.DecodeRuneInString(text[end:])
		if n+units(r) > limit {
			break
		}
		n += units(r)
		end += size
	}
	return end, n
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
