// Package artifact is the form in which text that a reducer took out of a session is kept and named
// (spec/summary §4.6, §8.4): one document for each pass, and the address that markers in the session
// point to. It is pure and imports the standard library only; storing a document is the caller's part.
package artifact

import (
	"fmt"
	"strings"
)

// Kinds of documents.
const (
	Tail  = "compaction-tail" // outputs elided to bound the kept tail
	Shake = "shake"           // everything else that a pass took out
)

// maxKind bounds the kind in a file name.
const maxKind = 64

// URI is the address of an artifact as markers name it.
func URI(id string) string { return "artifact://" + id }

// FileName is the name under which the reference agents keep an artifact: kind is reduced to letters,
// digits, "_" and "-", 64 of them at most.
func FileName(id, kind string) string {
	kind = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, kind)
	return id + "." + kind[:min(len(kind), maxKind)] + ".log"
}

// Section is one piece of original text in a document.
type Section struct {
	Number  int
	Label   string // of a region what it was, of an elision the tool
	EntryID string // entry it was taken from
	Tokens  int
	Text    string
}

// Document renders the document of a kind. Each section is a heading line, a blank line, the original
// text, and a blank line.
func Document(kind string, sections []Section) string {
	var b strings.Builder
	for _, s := range sections {
		if kind == Tail {
			fmt.Fprintf(&b, "### elision %d (%s, ~%d tokens, entry %s)\n\n", s.Number, oneLine(s.Label), s.Tokens, s.EntryID)
		} else {
			fmt.Fprintf(&b, "### region %d (%s, ~%d tok)\n\n", s.Number, oneLine(s.Label), s.Tokens)
		}
		b.WriteString(s.Text)
		b.WriteString("\n\n")
	}
	return b.String()
}

// oneLine keeps a heading on its line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, s)
}
