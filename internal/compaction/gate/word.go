package gate

import (
	"unicode"
	"unicode/utf8"
)

// forWords hashes each word of s, letters folded to lower case. Of scripts without spaces each
// character is a word.
func forWords(s string, f func(uint64)) {
	const offset, prime = 14695981039346656037, 1099511628211
	h, n := uint64(offset), 0
	flush := func() {
		if n > 0 {
			f(h)
		}
		h, n = offset, 0
	}
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case 'A' <= c && c <= 'Z':
				c += 'a' - 'A'
				fallthrough
			case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
				h = (h ^ uint64(c)) * prime
				n++
			default:
				flush()
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			flush()
			h = (h ^ uint64(r)) * prime
			n++
			flush()
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			h = (h ^ uint64(unicode.ToLower(r))) * prime
			n++
		default:
			flush()
		}
	}
	flush()
}

// shingler turns a stream of words into hashes of every k words in a row.
type shingler struct {
	k     int
	ring  [echoWords]uint64
	count int
	hash  uint64
	top   uint64 // base^(k-1)
}

const shingleBase = 0x9E3779B97F4A7C15

func (s *shingler) init(k int) {
	*s = shingler{k: k, top: 1}
	for range k - 1 {
		s.top *= shingleBase
	}
}

func (s *shingler) reset() { s.count, s.hash = 0, 0 }

// add takes the next word; ok says that k words have been seen and the hash is theirs.
func (s *shingler) add(w uint64) (hash uint64, ok bool) {
	w ^= w >> 29
	w *= 0xBF58476D1CE4E5B9
	slot := s.count % s.k
	if s.count >= s.k {
		s.hash -= s.ring[slot] * s.top
	}
	s.ring[slot] = w
	s.hash = s.hash*shingleBase + w
	s.count++
	return s.hash ^ s.hash>>31, s.count >= s.k
}
