package model

import "strings"

// thinkingTags open reasoning that some models leak into their text.
var thinkingTags = []string{"think", "thinking", "thought", "reasoning"}

// StripThinking removes leading reasoning blocks (<think>…</think> and its like) from an answer and
// reports whether there were any. A block that never closes is all reasoning. Blocks further down
// are part of the text.
func StripThinking(text string) (string, bool) {
	found := false
	for {
		rest, ok := stripBlock(text)
		if !ok {
			return text, found
		}
		text, found = rest, true
	}
}

func stripBlock(text string) (string, bool) {
	body := strings.TrimLeft(text, " \t\r\n")
	for _, tag := range thinkingTags {
		after, ok := cutPrefixFold(body, "<"+tag+">")
		if !ok {
			continue
		}
		end := indexFold(after, "</"+tag+">")
		if end < 0 {
			return "", true
		}
		return strings.TrimLeft(after[end+len(tag)+3:], " \t\r\n"), true
	}
	return text, false
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// indexFold finds an ASCII needle without case.
func indexFold(s, needle string) int {
	for i := 0; ; {
		j := strings.IndexByte(s[i:], needle[0])
		if j < 0 {
			return -1
		}
		i += j
		if _, ok := cutPrefixFold(s[i:], needle); ok {
			return i
		}
		i++
	}
}
