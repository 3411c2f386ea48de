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
	for i := 0; i < len(text); {
		n := strings.IndexAny(text[i:], "<[")
		if n < 0 {
			break
		}
		i += n
		if text[i] == '<' {
			if isFrameTag(text[i+1:]) {
				out(text[from : i+1])
				out(`\`)
				from = i + 1
			}
		} else if i > 0 && (text[i-1] == '\n' || text[i-1] == '\r') && isHeader(text[i:]) {
			out(text[from:i])
			out(`\`)
			from = i
		}
		i++
	}
	out(text[from:])
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
