package provider

import (
	"fmt"
	"hash/crc32"
	"regexp"
	"slices"
	"strings"
)

// headings of a summary where the request names none.
var headings = []string{
	"## Goal", "## Constraints & Preferences", "## Progress", "### Done", "### In Progress", "### Blocked",
	"## Key Decisions", "## Next Steps", "## Critical Context", "## Additional Notes",
}

// Bounds of what a summary quotes.
const (
	quotedLines = 16
	quotedRunes = 120
	quotedPaths = 60
)

var (
	headingLine = regexp.MustCompile(`(?m)^#{1,3} \S.*$`)
	pathWord    = regexp.MustCompile(`(?:[\w.@-]+/)+[\w.@-]*\w|\b[\w-]+\.(?:go|ts|tsx|js|py|rs|md|json|ya?ml|toml|sql|sh|txt|log)\b`)
)

// GoodSummary answers with a complete summary of the request: every heading that the instruction
// names, in its order, with some lines and paths of the conversation quoted. The same request always
// gets the same summary, and different conversations get different ones.
func GoodSummary(r Request) Step { return Text(Summary(r)) }

// Summary is the text of GoodSummary.
func Summary(r Request) string {
	conversation, instruction := split(r.User)
	names := headingLine.FindAllString(instruction, -1)
	if len(names) == 0 {
		names = headings
	}
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(strings.TrimSpace(name) + "\n")
		b.WriteString(section(i, strings.TrimLeft(name, "# "), conversation))
	}
	return b.String()
}

// split tells the conversation from the instruction after it.
func split(user string) (conversation, instruction string) {
	const end = "</conversation>"
	i := strings.LastIndex(user, end)
	if i < 0 {
		return user, ""
	}
	conversation = user[:i]
	if j := strings.Index(conversation, "<conversation>"); j >= 0 {
		conversation = conversation[j+len("<conversation>"):]
	}
	// The previous summary may stand on either side; its headings are not the instruction's.
	instruction = user[i+len(end):]
	const previous = "</previous-summary>"
	if j := strings.LastIndex(instruction, previous); j >= 0 {
		instruction = instruction[j+len(previous):]
	}
	return conversation, instruction
}

// section is the body below one heading.
func section(i int, name, conversation string) string {
	switch name {
	case "Progress":
		return ""
	case "Critical Context", "Context for Suffix":
		return critical(conversation)
	case "Done":
		return "- [x] Everything that the notes above call finished was looked at and holds.\n"
	case "In Progress":
		return "- [ ] The work that was under way when the conversation stopped is to be taken up where it was left.\n"
	case "Blocked":
		return "- Nothing waits for somebody else at this point.\n"
	case "Key Decisions":
		return "- **Order of work**: the request comes first, because everything else follows from it; other orders were turned down.\n"
	case "Next Steps":
		return "1. Read the quoted lines under the next heading and go on with the open request.\n"
	}
	return fmt.Sprintf("%s: the user wants the work described in this conversation carried on without losing what was already settled.\n",
		[]string{"In short", "To be kept in mind", "As far as it is known"}[i%3])
}

// critical quotes lines from all over the conversation, and its paths.
func critical(conversation string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- These notes stand for %d lines (checksum %08x).\n",
		strings.Count(conversation, "\n")+1, crc32.ChecksumIEEE([]byte(conversation)))
	lines := worthQuoting(conversation)
	step := max(1, len(lines)/quotedLines)
	for i := 0; i < len(lines); i += step {
		fmt.Fprintf(&b, "- Seen: %s\n", clip(lines[i]))
	}
	paths := pathWord.FindAllString(conversation, -1)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if len(paths) > 0 {
		fmt.Fprintf(&b, "- Paths: %s\n", strings.Join(paths[:min(len(paths), quotedPaths)], ", "))
	}
	return b.String()
}

func worthQuoting(conversation string) []string {
	var lines []string
	for line := range strings.SplitSeq(conversation, "\n") {
		line = strings.TrimSpace(line)
		if len(line) >= 12 && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "<") && !strings.Contains(line, "```") {
			lines = append(lines, line)
		}
	}
	return lines
}

func clip(line string) string {
	runes := []rune(strings.ToValidUTF8(line, ""))
	if len(runes) > quotedRunes {
		return string(runes[:quotedRunes]) + " …"
	}
	return string(runes)
}
