package session

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// reader decodes one JSON value in one pass and skips what is not wanted. After a failure every method returns zero values, and bad is set.
type reader struct {
	b   []byte
	i   int
	bad bool
	// checked says that b passed the scanner before. Then strings and what is skipped are not checked
	// again, which is most of the work; what is read still is, and no bytes whatever make it panic.
	checked bool
	// reuse, when set, lends its memory, and strings without escapes share memory with b. Without it
	// everything is copied.
	reuse *Decoder
}

// fail stops the reader.
func (r *reader) fail() { r.bad, r.i = true, len(r.b) }

// peek returns the first byte of the next value, 0 at the end.
func (r *reader) peek() byte {
	if r.i >= len(r.b) {
		return 0
	}
	return r.b[r.i]
}

// each calls f for every key of an object, in order, with the reader at the key's value, which f must
// read or skip. A value that is no object is skipped and has no keys.
func (r *reader) each(f func(key string)) (isObject bool) {
	if r.peek() != '{' {
		r.skip()
		return false
	}
	r.i = skipSpace(r.b, r.i+1)
	if r.peek() == '}' {
		r.i++
		return true
	}
	for !r.bad {
		key := r.key()
		if r.bad {
			break
		}
		f(key)
		if !r.next('}') {
			break
		}
	}
	return true
}

// items calls f for every item of an array, with the reader at it. A value that is no array is skipped.
func (r *reader) items(f func()) {
	if r.peek() != '[' {
		r.skip()
		return
	}
	r.i = skipSpace(r.b, r.i+1)
	if r.peek() == ']' {
		r.i++
		return
	}
	for !r.bad {
		f()
		if !r.next(']') {
			break
		}
	}
}

// next moves behind a comma to the next key or item; false behind the closing byte.
func (r *reader) next(closing byte) bool {
	r.i = skipSpace(r.b, r.i)
	switch r.peek() {
	case ',':
		r.i = skipSpace(r.b, r.i+1)
		return true
	case closing:
		r.i++
		return false
	}
	r.fail()
	return false
}

// key reads a key and its colon. The result shares memory with the input.
func (r *reader) key() string {
	start, end, escaped := r.span()
	if r.bad {
		return ""
	}
	r.i = skipSpace(r.b, r.i)
	if r.peek() != ':' {
		r.fail()
		return ""
	}
	r.i = skipSpace(r.b, r.i+1)
	if escaped {
		return unquote(r.b[start:end])
	}
	return share(r.b[start:end])
}

// span reads a string and returns where its content lies.
func (r *reader) span() (start, end int, escaped bool) {
	if r.peek() != '"' {
		r.fail()
		return 0, 0, false
	}
	start = r.i + 1
	scan := scanString
	if r.checked {
		scan = skipString
	}
	end, escaped, ok := scan(r.b, start)
	if !ok {
		r.fail()
		return 0, 0, false
	}
	r.i = end
	return start, end - 1, escaped
}

// text reads a string as valid UTF-8; anything else is skipped and "".
func (r *reader) text() string { return r.decoded(r.chars()) }

// chars is a string that may be wanted later: its content as it stands.
type chars struct {
	raw     []byte
	escaped bool
}

func (r *reader) chars() chars {
	if r.peek() != '"' {
		r.skip()
		return chars{}
	}
	start, end, escaped := r.span()
	return chars{r.b[start:end], escaped}
}

// decoded is what a string says.
func (r *reader) decoded(q chars) string {
	switch {
	case q.escaped && r.reuse != nil:
		from := len(r.reuse.text)
		r.reuse.text = appendUnquoted(r.reuse.text, q.raw)
		return validUTF8(share(r.reuse.text[from:]))
	case q.escaped:
		return unquote(q.raw)
	case r.reuse != nil:
		return validUTF8(share(q.raw))
	}
	return validUTF8(string(q.raw))
}

// value reads any value as its bytes; null is nil.
func (r *reader) value() json.RawMessage {
	start := r.i
	null := r.peek() == 'n'
	r.skip()
	if r.bad || null {
		return nil
	}
	if r.reuse != nil {
		return r.b[start:r.i:r.i]
	}
	return bytes.Clone(r.b[start:r.i])
}

// isTrue reads any value and reports whether it is true.
func (r *reader) isTrue() bool {
	is := r.peek() == 't'
	r.skip()
	return is && !r.bad
}

// float reads a number; ok is false for any other value.
func (r *reader) float() (n float64, ok bool) {
	c := r.peek()
	if c != '-' && (c < '0' || c > '9') {
		r.skip()
		return 0, false
	}
	start := r.i
	r.skip()
	if r.bad {
		return 0, false
	}
	n, err := strconv.ParseFloat(share(r.b[start:r.i]), 64)
	return n, err == nil
}

// skip checks and skips the next value.
func (r *reader) skip() {
	var end int
	var ok bool
	switch c := r.peek(); {
	case c == '"':
		_, _, _ = r.span()
		return
	case (c == '{' || c == '[') && r.checked:
		end, ok = skipContainer(r.b, r.i)
	case c == '{' || c == '[':
		s := scan{line: r.b}
		end, ok = s.object(r.i)
	case c == 't':
		end, ok = scanLiteral(r.b, r.i, "true")
	case c == 'f':
		end, ok = scanLiteral(r.b, r.i, "false")
	case c == 'n':
		end, ok = scanLiteral(r.b, r.i, "null")
	default:
		end, ok = scanNumber(r.b, r.i)
	}
	if !ok {
		r.fail()
		return
	}
	r.i = end
}

// share views bytes as a string; they must not change while it is used.
func share(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(&b[0], len(b))
}

// unquote decodes the content of a checked JSON string with escapes to valid UTF-8.
func unquote(raw []byte) string {
	return validUTF8(share(appendUnquoted(make([]byte, 0, len(raw)), raw)))
}

// appendUnquoted appends what the content of a JSON string decodes to, which is never longer. What is no
// escape decodes to anything.
func appendUnquoted(out, raw []byte) []byte {
	o := len(out)
	out = slices.Grow(out, len(raw))[:o+len(raw)]
	for i := 0; i < len(raw); {
		if len(raw)-i >= 8 {
			// Eight bytes at a time; what is copied from the first backslash on is overwritten.
			x := binary.LittleEndian.Uint64(raw[i:])
			binary.LittleEndian.PutUint64(out[o:], x)
			hit := (x ^ '\\'*lowBits - lowBits) &^ x & highBits
			if hit == 0 {
				i, o = i+8, o+8
				continue
			}
			n := bits.TrailingZeros64(hit) >> 3
			i, o = i+n, o+n
		} else if raw[i] != '\\' {
			out[o] = raw[i]
			i, o = i+1, o+1
			continue
		}
		if i++; i == len(raw) {
			break
		}
		c := raw[i]
		i++
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			if len(raw)-i < 4 {
				return out[:o]
			}
			u := hex4(raw[i:])
			i += 4
			if utf16.IsSurrogate(u) && len(raw)-i >= 6 && raw[i] == '\\' && raw[i+1] == 'u' {
				if pair := utf16.DecodeRune(u, hex4(raw[i+2:])); pair != utf8.RuneError {
					u, i = pair, i+6
				}
			}
			o += utf8.EncodeRune(out[o:], u)
			continue
		}
		out[o] = c
		o++
	}
	return out[:o]
}

// hex4 reads four hex digits.
func hex4(b []byte) rune {
	var u rune
	for _, c := range b[:4] {
		switch {
		case c <= '9':
			c -= '0'
		case c <= 'F':
			c -= 'A' - 10
		default:
			c -= 'a' - 10
		}
		u = u<<4 | rune(c)
	}
	return u
}

// length is the length of the decoded content in bytes.
func (q chars) length() int {
	if q.escaped {
		return len(unquote(q.raw))
	}
	return len(q.raw)
}

// EachMember calls f for every member of a JSON object, in order. Key and value share memory with raw.
// raw is JSON that was read from an entry, so strings and what is nested in it are not checked again. It
// returns false, perhaps after some calls, when raw is no object.
func EachMember(raw json.RawMessage, f func(key string, value json.RawMessage)) bool {
	r := reader{b: raw, i: skipSpace(raw, 0), checked: true}
	is := r.each(func(key string) {
		start := r.i
		r.skip()
		if !r.bad {
			f(key, r.b[start:r.i])
		}
	})
	return is && !r.bad && skipSpace(raw, r.i) == len(raw)
}
