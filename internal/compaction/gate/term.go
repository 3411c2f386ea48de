package gate

import (
	"strings"
	"unicode"
)

// keyTerms are the words of a text that carry its meaning, each once, in order: three letters or more,
// no stop words, cut to their stems' first letters so that inflected forms are equal. Scripts without
// spaces give pairs of characters.
func keyTerms(text string) []string {
	var out []string
	seen := map[string]bool{}
	add := func(t string) {
		if t != "" && !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	var word []rune
	var last rune // the character before, of a script without spaces
	flush := func() {
		add(term(word))
		word = word[:0]
	}
	for _, r := range text {
		switch {
		case unspaced(r):
			flush()
			if last != 0 {
				add(string([]rune{last, r}))
			}
			last = r
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			word = append(word, unicode.ToLower(r))
		default:
			flush()
		}
		last = 0
	}
	flush()
	return out
}

// unspaced reports characters of scripts that put no space between words. Hiragana alone is mostly
// grammar and is left out of pairs by stopping them.
func unspaced(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Katakana)
}

const stemLetters = 6

func term(word []rune) string {
	if len(word) < 3 && !hasDigit(word) || len(word) < 2 {
		return ""
	}
	s := string(word)
	if stopWords[s] {
		return ""
	}
	if len(word) > stemLetters {
		return string(word[:stemLetters])
	}
	return strings.TrimSuffix(s, "s")
}

func hasDigit(word []rune) bool {
	for _, r := range word {
		if unicode.IsDigit(r) {
			return true
		}
	}
	return false
}

// stopWords are frequent words that tell nothing about a request.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`the and for are was were with that this these those from have has had not but you your our can could would should will shall may
		please also then than them they their there here what when where which who why how all any into out its about just now let make sure need want like get got see use
		one two more some such only very too via per yes okay thanks thank hello still again next continue going keep
		que para com uma por não dos das mais como mas foi ele ela isso esta este está você também fazer favor agora ainda
		los las una por con del pero como más esto hay cuando ese muy que para está
		les des est dans une pour pas avec sur qui vous nous mais aussi cette sont
		der die das und ist nicht mit ein eine auf für bitte wir ich auch wird noch aber sind oder den dem
		это что как для или его она они все так уже еще если при надо нужно пожалуйста теперь
		في من على إلى هذا هذه أن لا ما مع عن التي الذي كان قد ثم أو`) {
		m[w] = true
	}
	return m
}()

// termSet is the key terms of a text as a set.
func termSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, t := range keyTerms(text) {
		set[t] = true
	}
	return set
}

// shareOf says what share of the terms the set has.
func shareOf(terms []string, set map[string]bool) float64 {
	if len(terms) == 0 {
		return 1
	}
	n := 0
	for _, t := range terms {
		if set[t] {
			n++
		}
	}
	return float64(n) / float64(len(terms))
}
