package session

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// maxDepth bounds the nesting of an object, so that a hostile line can exhaust no stack anywhere.
const maxDepth = 4096

// field names what the scanner takes from an object while it checks it.
type field uint8

const (
	fieldNone field = iota
	fieldType
	fieldID
	fieldParent
	fieldTimestamp
	fieldTarget
	fieldMessage
	fieldRole // inside message
	fieldCount
)

// span is a value's place in the line; end 0 means that the object has no such key.
type span struct {
	start, end int
	escaped    bool // a string with escapes
}

// scan is one pass over one line: it checks JSON strictly and takes the fields of the index on the
// way. It is iterative and linear.
type scan struct {
	line   []byte
	fields [fieldCount]span
	nest   [maxDepth / 64]uint64 // bit set: the container at that depth is an object
}

// object checks the JSON object at line[i] and returns the offset after it. Of equal keys the later
// one counts, as JSON.parse has it.
func (s *scan) object(i int) (int, bool) {
	b := s.line
	depth := 0
	inMessage := false // depth 2 is the message object
	want := fieldNone  // what the value at i is
	for {
		// A value starts at i.
		start := i
		if i >= len(b) {
			return i, false
		}
		escaped := false
		ok := true
		switch c := b[i]; c {
		case '{', '[':
			if depth == maxDepth {
				return i, false
			}
			if c == '{' {
				s.nest[depth>>6] |= 1 << (depth & 63)
			} else {
				s.nest[depth>>6] &^= 1 << (depth & 63)
			}
			depth++
			if depth == 2 {
				inMessage = want == fieldMessage && c == '{'
			}
			i = skipSpace(b, i+1)
			if i >= len(b) {
				return i, false
			}
			if c == '{' && b[i] != '}' {
				if i, want, ok = s.key(i, depth, inMessage); !ok {
					return i, false
				}
				continue
			}
			if c == '[' && b[i] != ']' {
				want = fieldNone
				continue
			}
			depth--
			i++
		case '"':
			if i, escaped, ok = scanString(b, i+1); !ok {
				return i, false
			}
		case 't':
			i, ok = scanLiteral(b, i, "true")
		case 'f':
			i, ok = scanLiteral(b, i, "false")
		case 'n':
			i, ok = scanLiteral(b, i, "null")
		default:
			i, ok = scanNumber(b, i)
		}
		if !ok {
			return i, false
		}
		if want != fieldNone && want != fieldMessage {
			s.fields[want] = span{start: start, end: i, escaped: escaped}
		}
		// A value ended before i.
		for {
			if depth == 0 {
				return i, true
			}
			i = skipSpace(b, i)
			if i >= len(b) {
				return i, false
			}
			inObject := s.nest[(depth-1)>>6]&(1<<((depth-1)&63)) != 0
			if b[i] == ',' {
				i = skipSpace(b, i+1)
				want = fieldNone
				if inObject {
					if i, want, ok = s.key(i, depth, inMessage); !ok {
						return i, false
					}
				}
				break
			}
			if (inObject && b[i] != '}') || (!inObject && b[i] != ']') {
				return i, false
			}
			i++
			depth--
		}
	}
}

// key reads a key and its colon at line[i] and says which field the value is.
func (s *scan) key(i, depth int, inMessage bool) (int, field, bool) {
	b := s.line
	if i >= len(b) || b[i] != '"' {
		return i, fieldNone, false
	}
	start := i + 1
	i, escaped, ok := scanString(b, start)
	if !ok {
		return i, fieldNone, false
	}
	f := fieldNone
	if depth == 1 || (depth == 2 && inMessage) {
		name := b[start : i-1]
		if escaped {
			name = []byte(unescape(b[start-1 : i]))
		}
		f = fieldOf(name, depth)
		switch f {
		case fieldNone:
		case fieldMessage:
			s.fields[fieldRole] = span{} // a later message replaces an earlier one
		default:
			s.fields[f] = span{}
		}
	}
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != ':' {
		return i, fieldNone, false
	}
	return skipSpace(b, i+1), f, true
}

func fieldOf(name []byte, depth int) field {
	if depth == 2 {
		if string(name) == "role" {
			return fieldRole
		}
		return fieldNone
	}
	switch string(name) {
	case "type":
		return fieldType
	case "id":
		return fieldID
	case "parentId":
		return fieldParent
	case "timestamp":
		return fieldTimestamp
	case "targetId":
		return fieldTarget
	case "message":
		return fieldMessage
	}
	return fieldNone
}

// bytes returns the content of a field: of a string what is between the quotes, of a number or
// boolean its text, nothing for anything else.
func (s *scan) bytes(f field) []byte {
	sp := s.fields[f]
	if sp.end == 0 {
		return nil
	}
	raw := s.line[sp.start:sp.end]
	switch raw[0] {
	case '"':
		if sp.escaped || !utf8.Valid(raw) {
			return []byte(unescape(raw))
		}
		return raw[1 : len(raw)-1]
	case '{', '[', 'n':
		return nil
	}
	return raw
}

// unescape decodes a checked JSON string with its quotes to valid UTF-8.
func unescape(raw []byte) string {
	return validUTF8(gjson.ParseBytes(raw).String())
}

func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

func scanLiteral(b []byte, i int, word string) (int, bool) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, false
	}
	return i + len(word), true
}

// The lowest and the highest bit of each byte of a word, to look at eight bytes at once: for an ASCII
// character c, the first byte of x that is c has its highest bit set in
// (x ^ c*lowBits - lowBits) &^ x & highBits, and no byte before it has.
const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// stops marks, by the high bit, the bytes of x that are a quote, a backslash or a control character. Only
// the first mark counts: a borrow may mark a byte behind it.
func stops(x uint64) uint64 {
	return ((x ^ '"'*lowBits - lowBits) | (x ^ '\\'*lowBits - lowBits) | (x - ' '*lowBits)) &^ x & highBits
}

// plainEscape says which characters make an escape with the backslash alone.
var plainEscape = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// scanString checks a string whose first character is at b[i] and returns the offset after its
// closing quote.
func scanString(b []byte, i int) (end int, escaped, ok bool) {
	for {
		// Eight bytes at a time, over escapes too: text has one in every few words.
		for len(b)-i > 8 {
			hit := stops(binary.LittleEndian.Uint64(b[i:]))
			if hit == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(hit) >> 3
			if b[i] != '\\' || !plainEscape[b[i+1]] {
				break
			}
			escaped = true
			i += 2
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			i++
		}
		if i >= len(b) || b[i] < ' ' {
			return i, escaped, false
		}
		if b[i] == '"' {
			return i + 1, escaped, true
		}
		escaped = true
		if i++; i >= len(b) {
			return i, true, false
		}
		switch {
		case plainEscape[b[i]]:
			i++
		case b[i] == 'u':
			if len(b)-i < 5 {
				return i, true, false
			}
			for _, c := range b[i+1 : i+5] {
				if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
					return i, true, false
				}
			}
			i += 5
		default:
			return i, true, false
		}
	}
}

// skipString is scanString without the check: it only looks for the closing quote, which the processor
// does many bytes at a time.
func skipString(b []byte, i int) (end int, escaped, ok bool) {
	from := i
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b), true, false
		}
		i += n + 1
		slash := i - 1
		for slash > from && b[slash-1] == '\\' {
			slash--
		}
		if (i-1-slash)%2 == 0 { // not escaped itself
			return i, bytes.IndexByte(b[from:i], '\\') >= 0, true
		}
	}
}

// skipContainer moves behind the object or array at b[i] by its brackets alone.
func skipContainer(b []byte, i int) (end int, ok bool) {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i, _, ok = skipString(b, i+1); !ok {
				return i, false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		i++
		if depth == 0 {
			return i, true
		}
	}
	return i, false
}

// scanNumber checks a number at b[i] by the grammar of JSON.
func scanNumber(b []byte, i int) (int, bool) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && b[i] >= '1' && b[i] <= '9':
		i = skipDigits(b, i)
	default:
		return i, false
	}
	if i < len(b) && b[i] == '.' {
		at := i + 1
		if i = skipDigits(b, at); i == at {
			return i, false
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		at := i
		if i = skipDigits(b, at); i == at {
			return i, false
		}
	}
	return i, true
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}
