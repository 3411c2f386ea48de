package transcript

import "strings"

// frameTags delimit the parts of a request. Inside a part they are neutralised.
var frameTags = []string{"conversation", "previous-summary", "additional-context"}

// headerNames begin a segment when they stand at the start of a line.
var headerNames = []string{"[User]:", "[Developer]:", "[Assistant]:", "[Tool Call]:", "[Tool Result]:"}

// quote writes text so that it cannot end the part it is in or begin a segment of its own: a frame
// tag becomes <\tag>, a header at the start of a line gets a backslash. Nothing else changes.
func quote(out emit, text string) {
	from := 0
	angle, square := next(text, 0, '<'), next(text, 0, '[')
	for i := min(angle, square); i < len(text); i = min(angle, square) {
		if text[i] == '<' {
			angle = next(text, i+1, '<')
			if isFrameTag(text[i+1:]) {
				out(text[from : i+1])
				out(`\`)
				from = i + 1
			}
			continue
		}
		square = next(text, i+1, '[')
		if i > 0 && (text[i-1] == '\n' || text[i-1] == '\r') && isHeader(text[i:]) {
			out(text[from:i])
			out(`\`)
			from = i
		}
	}
	out(text[from:])
}

// next is the index of the first c at or behind i, the length of the text when there is none.
func next(text string, i int, c byte) int {
	if n := strings.IndexByte(text[i:], c); n >= 0 {
		return i + n
	}
	return len(text)
}

// isFrameTag reports whether what follows a < makes it a frame tag, opening or closing, in any case
// and with white space where a lenient reader would allow it.
func isFrameTag(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "/"), " \t\r\n")
	for _, tag := range frameTags {
		if len(rest) < len(tag) || !strings.EqualFold(rest[:len(tag)], tag) {
			continue
		}
		if len(rest) == len(tag) || strings.IndexByte(" \t\r\n/>", rest[len(tag)]) >= 0 {
			return true
		}
	}
	return false
}

func isHeader(line string) bool {
	for _, h := range headerNames {
		if strings.HasPrefix(line, h) {
			return true
		}
	}
	return false
}
