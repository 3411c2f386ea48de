// Package span finds the blocks in a message's text that can be taken out as a whole: fenced code and
// top-level XML elements (spec/summary §8.4). It is pure and imports the standard library only.
package span

import "strings"

// Span is one block of a text: its bytes are text[Start:End], markers included, without the line's end.
type Span struct {
	Start, End int
	Label      string // "code", or the name of the element
}

// Find returns the outermost blocks of a text, in order. A block that is not closed is none; tags
// within fenced code are text. It is linear in the length of the text.
func Find(text string) []Span {
	fenced := fences(text)
	outer := elements(text, fenced)
	var found []Span
	for _, f := range fenced {
		for len(outer) > 0 && outer[0].End <= f.Start {
			found, outer = append(found, outer[0]), outer[1:]
		}
		if len(outer) == 0 || f.End <= outer[0].Start {
			found = append(found, f)
		}
	}
	return append(found, outer...)
}

// fenceLine is a line that opens or closes fenced code.
type fenceLine struct {
	start, end int // of the line, without its newline
	char       byte
	run        int  // how many fence characters
	bare       bool // nothing behind them: it may close
	opens      bool
	longest    int // the longest closing run of this character on later lines
}

// fences returns the fenced blocks of a text. A fence is closed by a line of at least as many of its
// characters and nothing else.
func fences(text string) []Span {
	var lines []fenceLine
	for start := 0; start < len(text); {
		end := strings.IndexByte(text[start:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += start
		}
		if f, ok := fenceAt(text[start:end]); ok {
			f.start, f.end = start+f.start, end
			lines = append(lines, f)
		}
		start = end + 1
	}
	longest := map[byte]int{}
	for i := len(lines) - 1; i >= 0; i-- {
		f := &lines[i]
		f.longest = longest[f.char]
		if f.bare {
			longest[f.char] = max(longest[f.char], f.run)
		}
	}
	var found []Span
	for i := 0; i < len(lines); i++ {
		open := lines[i]
		if !open.opens || open.longest < open.run {
			continue
		}
		for i++; lines[i].char != open.char || !lines[i].bare || lines[i].run < open.run; i++ {
		}
		found = append(found, Span{open.start, lines[i].end, "code"})
	}
	return found
}

// fenceAt reads one line; start is relative to it.
func fenceAt(line string) (fenceLine, bool) {
	body := strings.TrimLeft(line, " ")
	indent := len(line) - len(body)
	if indent > 3 || len(body) < 3 || (body[0] != '`' && body[0] != '~') {
		return fenceLine{}, false
	}
	rest := strings.TrimLeft(body, body[:1])
	f := fenceLine{start: indent, char: body[0], run: len(body) - len(rest), bare: strings.TrimSpace(rest) == ""}
	// Backticks behind backticks are code within a line.
	f.opens = body[0] == '~' || !strings.Contains(rest, "`")
	return f, f.run >= 3
}

// tag is an opening tag that may begin a block, and where its element ends.
type tag struct {
	name    string
	start   int
	atStart bool // nothing but blanks before it on its line
	end     int  // behind the closing tag; 0 while it is not closed
}

// elements returns the outermost XML elements whose opening tag starts a line.
func elements(text string, fenced []Span) []Span {
	var tags []tag
	open := map[string][]int{} // name → opening tags not closed yet
	for i := 0; i < len(text); {
		next := strings.IndexByte(text[i:], '<')
		if next < 0 {
			break
		}
		i += next
		for len(fenced) > 0 && fenced[0].End <= i {
			fenced = fenced[1:]
		}
		if len(fenced) > 0 && i >= fenced[0].Start {
			i = fenced[0].End
			continue
		}
		name, end, kind := tagAt(text, i)
		switch kind {
		case opening:
			open[name] = append(open[name], len(tags))
			tags = append(tags, tag{name: name, start: i, atStart: startsLine(text, i)})
		case closing:
			if stack := open[name]; len(stack) > 0 {
				tags[stack[len(stack)-1]].end = end
				open[name] = stack[:len(stack)-1]
			}
		}
		i = end
	}
	var found []Span
	behind := 0
	for _, t := range tags {
		if t.atStart && t.end > 0 && t.start >= behind {
			found = append(found, Span{t.start, t.end, t.name})
			behind = t.end
		}
	}
	return found
}

type tagKind int

const (
	noTag tagKind = iota
	opening
	closing
)

// tagAt reads a tag with a lower-case name at text[i] and returns the offset behind it.
func tagAt(text string, i int) (name string, end int, kind tagKind) {
	at, kind := i+1, opening
	if at < len(text) && text[at] == '/' {
		at, kind = at+1, closing
	}
	start := at
	for at < len(text) && isNameByte(text[at], at > start) {
		at++
	}
	if name = text[start:at]; name == "" {
		return "", i + 1, noTag
	}
	for j := at; j < len(text); j++ {
		switch text[j] {
		case '>':
			switch {
			case kind == closing && strings.TrimSpace(text[at:j]) != "",
				kind == opening && j > at && text[at] != ' ' && text[at] != '\t' && text[at] != '/',
				kind == opening && text[j-1] == '/':
				return "", j + 1, noTag
			}
			return name, j + 1, kind
		case '<', '\n':
			return "", j, noTag
		}
	}
	return "", len(text), noTag
}

func isNameByte(c byte, inside bool) bool {
	return (c >= 'a' && c <= 'z') || (inside && (c == '-' || c == '_' || (c >= '0' && c <= '9')))
}

func startsLine(text string, i int) bool {
	for i--; i >= 0 && text[i] != '\n'; i-- {
		if text[i] != ' ' && text[i] != '\t' {
			return false
		}
	}
	return true
}
