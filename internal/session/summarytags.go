package session

import "strings"

// StripSummaryTags removes one enclosing <summary …> … </summary> pair, in any case and with any
// attributes, when it spans the whole trimmed text; every other element of that name is content
// (spec/summary §1.8). Otherwise the text is returned trimmed.
func StripSummaryTags(s string) string {
	s = strings.TrimSpace(s)
	open, ok := summaryTag(s, 0)
	if !ok || open.closing || open.selfClosing {
		return s
	}
	depth := 1
	for i := open.end; ; {
		at := strings.IndexByte(s[i:], '<')
		if at < 0 {
			return s
		}
		i += at
		tag, ok := summaryTag(s, i)
		if !ok {
			i++
			continue
		}
		switch {
		case tag.closing:
			depth--
		case !tag.selfClosing:
			depth++
		}
		if depth == 0 {
			if tag.end != len(s) {
				return s
			}
			return strings.TrimSpace(s[open.end:i])
		}
		i = tag.end
	}
}

type tag struct {
	closing, selfClosing bool
	end                  int // offset after the tag
}

// summaryTag reads a tag named summary at s[i].
func summaryTag(s string, i int) (tag, bool) {
	const name = "summary"
	if i >= len(s) || s[i] != '<' {
		return tag{}, false
	}
	j := i + 1
	closing := j < len(s) && s[j] == '/'
	if closing {
		j++
	}
	if len(s)-j < len(name) || !strings.EqualFold(s[j:j+len(name)], name) {
		return tag{}, false
	}
	j += len(name)
	if j < len(s) && s[j] != '>' && s[j] != '/' && !strings.ContainsRune(" \t\r\n", rune(s[j])) {
		return tag{}, false
	}
	end := strings.IndexByte(s[j:], '>')
	if end < 0 {
		return tag{}, false
	}
	end += j
	return tag{closing: closing, selfClosing: !closing && s[end-1] == '/', end: end + 1}, true
}
