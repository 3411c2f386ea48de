// Package anchor finds the exact things in a text that a summary must not lose, invent or change:
// paths, URLs, commit ids, tickets, error codes, numbers (spec/gate §5a). It knows their shapes only,
// and reads text once, in linear time.
//
// It is pure and imports the standard library only.
package anchor

import "strings"

// Kind is the shape of an anchor.
type Kind uint8

// Kinds of anchors. None is a word like others.
const (
	None   Kind = iota
	Path        // with a directory and a name
	File        // a bare file name
	URL         //
	ID          // commit, UUID, hash
	Ticket      // ABC-123
	Error       // ENOENT, TS2345, ERR_NAME
	Number      // with its unit, when it is written to it
)

// Anchor is one anchor in a text, from byte Start on. Text is as written, Norm normalised: ASCII in
// lower case, slashes forward, without line numbers, without thousands separators.
type Anchor struct {
	Kind       Kind
	Text, Norm string
	Start      int
}

// runChars are the characters anchors consist of besides letters and digits.
var runChar = func() (t [256]bool) {
	for c := range 128 {
		t[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	}
	for _, c := range []byte(`_./\:@#%+~-`) {
		t[c] = true
	}
	return t
}()

// Runs calls f for each maximal run of characters anchors consist of, trimmed of punctuation, that
// holds more than plain letters.
func Runs(text string, f func(run string, start int)) {
	for i := 0; i < len(text); {
		if !runChar[text[i]] {
			i++
			continue
		}
		start, plain := i, true
		for i < len(text) {
			c := text[i]
			if !runChar[c] {
				// A comma within a number belongs to it.
				if c != ',' || i+3 >= len(text) || !digit(text[i-1]) || !digit(text[i+1]) || !digit(text[i+2]) || !digit(text[i+3]) {
					break
				}
			}
			if c|0x20 < 'a' || c|0x20 > 'z' {
				plain = false
			}
			i++
		}
		if plain && !upper(text[start:i]) {
			continue
		}
		run := strings.TrimRight(text[start:i], `.:-+@#~\`)
		trimmed := strings.TrimLeft(run, ":-+@#")
		if start += len(run) - len(trimmed); len(trimmed) > 1 {
			f(trimmed, start)
		}
	}
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// upper reports a word of capitals, as error names are written.
func upper(s string) bool {
	if len(s) < 4 || s[0] != 'E' {
		return false
	}
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return true
}

// Scan lists the anchors of a text in order.
func Scan(text string) []Anchor {
	var out []Anchor
	Runs(text, func(run string, start int) {
		if k := Classify(run); k != None {
			out = append(out, Anchor{Kind: k, Text: run, Norm: Normal(run), Start: start})
		}
	})
	return out
}

// Normal is the form in which equal anchors are equal.
func Normal(run string) string {
	b := make([]byte, 0, len(run))
	for i := range len(run) {
		c := run[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == '\\':
			c = '/'
		case c == ',':
			continue
		}
		b = append(b, c)
	}
	s := string(b)
	if strings.Contains(s, "://") {
		return strings.TrimRight(s, "/")
	}
	s = strings.TrimLeft(withoutLine(s), "~")
	for {
		rest := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(s, ".../"), "../"), "./")
		if rest == s {
			break
		}
		s = rest
	}
	return strings.TrimRight(withoutV(s), "/")
}

// withoutV drops the "v" of a version.
func withoutV(s string) string {
	if len(s) < 2 || s[0] != 'v' || strings.Trim(s[1:], "0123456789.") != "" {
		return s
	}
	return s[1:]
}

// withoutLine drops a position behind a file name: ":12", ":12:3", "#L40", ":Func".
func withoutLine(s string) string {
	for _, sep := range []byte{':', '#'} {
		if i := strings.IndexByte(s, sep); i > 1 && extension(s[strings.LastIndexByte(s[:i], '/')+1:i]) != "" {
			return s[:i]
		}
	}
	return s
}

// Base is the last part of a path.
func Base(norm string) string { return norm[strings.LastIndexByte(norm, '/')+1:] }
