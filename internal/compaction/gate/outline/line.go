package outline

import "strings"

// Line is one line of a Markdown text.
type Line struct {
	Text   string // without its newline
	Offset int    // of its first byte in the text
	// Fenced says that the line is a fence or lies inside one.
	Fenced bool
	// Quoted says that the line belongs to a block quote.
	Quoted bool
	// Heading is set for an ATX heading outside fences and quotes; its Level is 0 otherwise.
	Heading Heading
}

// Blank reports whether the line holds white space only.
func (l Line) Blank() bool { return strings.TrimSpace(l.Text) == "" }

// ListItem reports whether the line starts a list item, and returns its text after the marker.
func (l Line) ListItem() (string, bool) {
	s := strings.TrimLeft(l.Text, " \t")
	if len(s) > 1 && (s[0] == '-' || s[0] == '*' || s[0] == '+') && (s[1] == ' ' || s[1] == '\t') {
		return strings.TrimSpace(s[2:]), true
	}
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 0 && n <= 9 && n+1 < len(s) && (s[n] == '.' || s[n] == ')') && s[n+1] == ' ' {
		return strings.TrimSpace(s[n+2:]), true
	}
	return "", false
}

// Scan reads a text into lines. open reports that the last fence was never closed. Lines end at
// "\n", "\r\n" or a lone "\r", as in CommonMark.
func Scan(text string) (lines []Line, open bool) {
	lines = make([]Line, 0, strings.Count(text, "\n")+1)
	var fence string // the opening run of the fence we are in
	for offset := 0; offset < len(text); {
		end := strings.IndexAny(text[offset:], "\r\n")
		next := len(text)
		if end < 0 {
			end = len(text)
		} else {
			end += offset
			next = end + 1
			if text[end] == '\r' && next < len(text) && text[next] == '\n' {
				next++
			}
		}
		line := Line{Text: text[offset:end], Offset: offset}
		trimmed, indented := unindent(line.Text)
		switch {
		case fence != "":
			line.Fenced = true
			if closes(trimmed, fence) && !indented {
				fence = ""
			}
		case indented:
		case strings.HasPrefix(trimmed, ">"):
			line.Quoted = true
		default:
			if run := opens(trimmed); run != "" {
				fence, line.Fenced = run, true
			} else {
				line.Heading = heading(trimmed)
			}
		}
		lines = append(lines, line)
		offset = next
	}
	return lines, fence != ""
}

// unindent drops up to three leading spaces; more make the line code or a continuation.
func unindent(s string) (rest string, indented bool) {
	n := 0
	for n < len(s) && s[n] == ' ' {
		n++
	}
	if n > 3 || (n < len(s) && s[n] == '\t') {
		return strings.TrimLeft(s, " \t"), true
	}
	return s[n:], false
}

// opens returns the run of fence characters that opens a fence, "" when the line opens none.
func opens(s string) string {
	if len(s) < 3 || (s[0] != '`' && s[0] != '~') {
		return ""
	}
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if n < 3 || (s[0] == '`' && strings.ContainsRune(s[n:], '`')) {
		return ""
	}
	return s[:n]
}

// closes reports whether the line closes the fence that the run opened.
func closes(s, run string) bool {
	s = strings.TrimRight(s, " \t")
	return len(s) >= len(run) && strings.Trim(s, run[:1]) == ""
}

// heading reads an ATX heading.
func heading(s string) Heading {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || (n < len(s) && s[n] != ' ' && s[n] != '\t') {
		return Heading{}
	}
	title := strings.TrimSpace(s[n:])
	if bare := strings.TrimRight(title, "#"); bare == "" || strings.HasSuffix(bare, " ") {
		title = strings.TrimSpace(bare)
	}
	return Heading{Level: n, Title: title}
}
