package gate

import (
	"regexp"
	"strings"

	"recap/internal/compaction/gate/outline"
	"recap/internal/contract"
)

// repair removes what surrounds a summary and is no part of it, until nothing more comes off.
func repair(text string) (string, []contract.Code) {
	var made []contract.Code
	note := func(code contract.Code) {
		for _, c := range made {
			if c == code {
				return
			}
		}
		made = append(made, code)
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF"))
	for range 8 { // wrappers nest, but not without end
		rest, code := repairOnce(text)
		if code == "" {
			break
		}
		text = rest
		note(code)
	}
	return text, made
}

func repairOnce(text string) (string, contract.Code) {
	if rest, ok := stripThinking(text); ok {
		return rest, RepairThinking
	}
	if rest, ok := stripWrapper(text); ok {
		return rest, RepairWrapper
	}
	if rest, ok := stripFence(text); ok {
		return rest, RepairFence
	}
	if rest, ok := stripPreamble(text); ok {
		return rest, RepairPreamble
	}
	return text, ""
}

// thinkingTags are the marks that open and close leaked reasoning.
var thinkingTags = [][2]string{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"<reasoning>", "</reasoning>"},
	{"<analysis>", "</analysis>"},
	{"<scratchpad>", "</scratchpad>"},
	{"[THINK]", "[/THINK]"},
	{"◁think▷", "◁/think▷"},
	{"<|channel|>analysis<|message|>", "<|end|>"},
}

// stripThinking removes a leading block of reasoning. One that is never closed takes everything with
// it: what follows cannot be told from reasoning. A closing tag alone, before any heading, means that
// the chat template swallowed the opening one.
func stripThinking(text string) (string, bool) {
	for _, tag := range thinkingTags {
		if hasPrefixFold(text, tag[0]) {
			if _, after, found := cutFold(text, tag[1]); found {
				return strings.TrimSpace(after), true
			}
			return "", true
		}
	}
	before, after, found := cutFold(text, "</think>")
	if found && !hasHeading(before) && strings.HasPrefix(strings.TrimLeft(after, " \t"), "\n") {
		return strings.TrimSpace(after), true
	}
	return text, false
}

func hasHeading(text string) bool {
	lines, _ := outline.Scan(text)
	for _, l := range lines {
		if l.Heading.Level > 0 {
			return true
		}
	}
	return false
}

var (
	summaryOpen = regexp.MustCompile(`(?i)^<summary(?:\s[^<>]*)?>`)
	summaryTag  = regexp.MustCompile(`(?i)<(/?)summary(?:\s[^<>]*)?>`)
)

// stripWrapper removes a <summary> element that encloses the whole text, counting nested ones
// (spec/summary §1.8).
func stripWrapper(text string) (string, bool) {
	open := summaryOpen.FindString(text)
	if open == "" || strings.HasSuffix(open, "/>") {
		return text, false
	}
	depth := 0
	for _, m := range summaryTag.FindAllStringSubmatchIndex(text, -1) {
		switch {
		case m[2] != m[3]:
			depth--
		case !strings.HasSuffix(text[m[0]:m[1]], "/>"):
			depth++
		}
		if depth == 0 {
			if m[1] != len(text) {
				return text, false
			}
			return strings.TrimSpace(text[len(open):m[0]]), true
		}
	}
	return text, false
}

// stripFence removes a code fence around the whole text, when what it holds has headings.
func stripFence(text string) (string, bool) {
	if !strings.HasPrefix(text, "```") && !strings.HasPrefix(text, "~~~") {
		return text, false
	}
	first := strings.IndexByte(text, '\n')
	last := strings.LastIndexByte(text, '\n')
	if first < 0 || last <= first {
		return text, false
	}
	run := text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
	closing := strings.TrimSpace(text[last:])
	if len(closing) < len(run) || strings.Trim(closing, run[:1]) != "" {
		return text, false
	}
	if lang := strings.ToLower(strings.TrimSpace(text[len(run):first])); lang != "" && lang != "markdown" && lang != "md" {
		return text, false
	}
	inner := strings.TrimSpace(text[first:last])
	if _, open := outline.Scan(inner); open || !hasHeading(inner) {
		return text, false
	}
	return inner, true
}

var preamble = regexp.MustCompile(`(?i)^(?:sure|certainly|of course|okay|ok|here(?:'s| is| are)|below is|the following|` +
	`voici|hier ist|aquí|aqui está|segue|вот|ниже|以下|这是|これは|فيما يلي|إليك)`)

// stripPreamble removes one short announcing line that ends in a colon and stands right before the
// first heading ("Here is the summary:"). Any other text before the headings is kept.
func stripPreamble(text string) (string, bool) {
	line, rest, found := strings.Cut(text, "\n")
	line, rest = strings.TrimSpace(line), strings.TrimSpace(rest)
	if !found || len(line) > 160 || !strings.HasPrefix(rest, "#") || !hasHeading(rest) {
		return text, false
	}
	if !(strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")) || !preamble.MatchString(line) {
		return text, false
	}
	return rest, true
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// cutFold is strings.Cut that ignores the case of ASCII letters.
func cutFold(s, sep string) (before, after string, found bool) {
	for i := 0; ; {
		j := strings.IndexByte(s[i:], sep[0])
		if j < 0 {
			return s, "", false
		}
		i += j
		if hasPrefixFold(s[i:], sep) {
			return s[:i], s[i+len(sep):], true
		}
		i++
	}
}
