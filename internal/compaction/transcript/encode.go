package transcript

import "strconv"

// Encode is the JSON of the request, the same document that encoding/json reads and writes. It
// allocates once, which matters for the first compaction of a very long session: its request is as
// long as the session.
func (r Request) Encode() []byte {
	size := 0
	r.encode(func(piece string) { size += len(piece) })
	out := make([]byte, 0, size)
	r.encode(func(piece string) { out = append(out, piece...) })
	return out
}

func (r Request) encode(out emit) {
	out(`{"part":`)
	quoteJSON(out, string(r.Part))
	out(`,"system":`)
	quoteJSON(out, r.System)
	out(`,"conversation":[`)
	for i := range r.Conversation {
		if i > 0 {
			out(",")
		}
		r.Conversation[i].encode(out)
	}
	out("]")
	field(out, "previousSummary", r.PreviousSummary)
	if len(r.Context) > 0 {
		out(`,"context":[`)
		for i, line := range r.Context {
			if i > 0 {
				out(",")
			}
			quoteJSON(out, line)
		}
		out("]")
	}
	out(`,"instruction":`)
	quoteJSON(out, r.Instruction)
	out("}")
}

func (b *Block) encode(out emit) {
	out(`{"role":`)
	quoteJSON(out, string(b.Role))
	field(out, "text", b.Text)
	if len(b.Calls) > 0 {
		out(`,"calls":[`)
		for i := range b.Calls {
			if i > 0 {
				out(",")
			}
			b.Calls[i].encode(out)
		}
		out("]")
	}
	field(out, "tool", b.Tool)
	if b.Error {
		out(`,"error":true`)
	}
	if b.Cut != 0 {
		out(`,"cut":`)
		out(strconv.Itoa(b.Cut))
	}
	field(out, "entry", b.Entry)
	out("}")
}

func (c *Call) encode(out emit) {
	out(`{"name":`)
	quoteJSON(out, c.Name)
	if len(c.Args) > 0 {
		out(`,"args":[`)
		for i := range c.Args {
			if i > 0 {
				out(",")
			}
			out(`{"key":`)
			quoteJSON(out, c.Args[i].Key)
			out(`,"json":`)
			quoteJSON(out, c.Args[i].JSON)
			out("}")
		}
		out("]")
	}
	out("}")
}

// field writes a further member of an object, nothing for an empty value.
func field(out emit, key, value string) {
	if value == "" {
		return
	}
	out(`,"`)
	out(key)
	out(`":`)
	quoteJSON(out, value)
}

const hexDigits = "0123456789abcdef"

func quoteJSON(out emit, text string) {
	out(`"`)
	from := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out(text[from:i])
		from = i + 1
		switch c {
		case '"':
			out(`\"`)
		case '\\':
			out(`\\`)
		case '\n':
			out(`\n`)
		case '\t':
			out(`\t`)
		default:
			out(`\u00`)
			out(hexDigits[c>>4 : c>>4+1])
			out(hexDigits[c&15 : c&15+1])
		}
	}
	out(text[from:])
	out(`"`)
}
