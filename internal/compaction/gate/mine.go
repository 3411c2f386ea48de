package gate

import (
	"regexp"
	"strings"
	"unicode"

	"recap/internal/compaction/gate/anchor"
	"recap/internal/compaction/transcript"
)

// Class is what a must-keep anchor is (spec/gate §5a).
type Class string

// Classes of anchors.
const (
	ClassPath       Class = "path"
	ClassIdentifier Class = "identifier"
	ClassError      Class = "error"
	ClassCommand    Class = "command"
	ClassNumber     Class = "number"
	ClassConstraint Class = "constraint"
)

// weights of the classes (spec/gate §5a).
var weights = map[Class]int{
	ClassPath: 3, ClassIdentifier: 3, ClassError: 3, ClassCommand: 2, ClassNumber: 2, ClassConstraint: 4,
	classPin: 4, classProtected: 4, classQuestion: 4,
}

// Anchor is something a summary of its source must not lose.
type Anchor struct {
	Class Class  `json:"class"`
	Text  string `json:"text"` // one line, as the source has it
}

// How many anchors of each kind are mined, the newest first. Together they are few enough to be
// appended to a summary whole.
const (
	minedUser        = 16
	minedConstraints = 8
	minedEdited      = 12
	minedErrors      = 4
	minedPrevious    = 32
	anchorBytes      = 200
	userBytes        = 4 << 10 // a longer message is a paste; its beginning counts
	previousBytes    = 64 << 10
	userMessages     = 64 // how many messages of users are looked at
)

// miner collects anchors, newest first, each once.
type miner struct {
	seen map[string]bool
	list []Anchor
	left map[string]int // by group
}

func (m *miner) add(group string, c Class, text string) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > anchorBytes || strings.ContainsAny(text, "`\r\n\x00") || m.left[group] == 0 {
		return
	}
	key := string(c) + strings.ToLower(text)
	if m.seen[key] {
		return
	}
	m.seen[key] = true
	m.left[group]--
	m.list = append(m.list, Anchor{Class: c, Text: text})
}

func (m *miner) full() bool {
	for group, n := range m.left {
		if n > 0 && group != "previous" {
			return false
		}
	}
	return true
}

// mine finds what a summary must keep: what users named exactly and demanded, the files that were
// changed, the last errors, and what the summary before kept so. What an agent ran is not among it: most
// of it matters to nobody.
func mine(blocks []transcript.Block, previous string) []Anchor {
	m := &miner{seen: map[string]bool{}, left: map[string]int{
		"user": minedUser, "constraint": minedConstraints, "edited": minedEdited, "error": minedErrors, "previous": minedPrevious,
	}}
	users := 0
	for i := len(blocks) - 1; i >= 0 && !m.full(); i-- {
		b := &blocks[i]
		switch b.Role {
		case transcript.User:
			if users++; users <= userMessages {
				m.user(b.Text)
			}
		case transcript.Assistant:
			for j := len(b.Calls) - 1; j >= 0; j-- {
				m.call(&b.Calls[j])
			}
		case transcript.ToolResult:
			if b.Error && m.left["error"] > 0 {
				m.add("error", ClassError, errorLine(b.Text))
			}
		}
	}
	for _, a := range referencesOf(previous) {
		m.add("previous", a.Class, a.Text)
	}
	m.exact("previous", bounded(previous, previousBytes))
	return m.list
}

// exact adds what a text names exactly: code spans, paths, ids, numbers.
func (m *miner) exact(group, text string) {
	if m.left[group] == 0 {
		return
	}
	for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
		if strings.ContainsRune(strings.TrimSpace(span[1]), ' ') {
			m.add(group, ClassCommand, span[1])
		} else {
			m.add(group, ClassIdentifier, span[1])
		}
	}
	for _, a := range anchor.Scan(text) {
		switch a.Kind {
		case anchor.Path, anchor.File:
			m.add(group, ClassPath, a.Text)
		case anchor.URL, anchor.ID, anchor.Ticket, anchor.Error:
			m.add(group, ClassIdentifier, a.Text)
		case anchor.Number:
			if n, unit := anchor.Digits(a.Norm); n >= 3 || unit != "" {
				m.add(group, ClassNumber, a.Text)
			}
		}
	}
}

var (
	codeSpan   = regexp.MustCompile("`([^`\n]{2,120})`")
	fencedPart = regexp.MustCompile("(?s)```.*?(?:```|$)")
)

func (m *miner) user(text string) {
	if len(text) > userBytes {
		text = text[:userBytes]
	}
	text = unfenced(strings.ToValidUTF8(text, ""))
	m.exact("user", text)
	if m.left["constraint"] == 0 {
		return
	}
	for _, sentence := range sentences(text) {
		if isConstraint(sentence) && len(keyTerms(sentence)) >= 2 {
			m.add("constraint", ClassConstraint, sentence)
		}
	}
}

// unfenced drops fenced code.
func unfenced(text string) string {
	if !strings.Contains(text, "```") {
		return text
	}
	return fencedPart.ReplaceAllString(text, "\n")
}

// How users word what must and what must not be.
var (
	ruleWords = func() map[string]bool {
		m := map[string]bool{}
		for _, w := range strings.Fields(`must never always only don't don’t nunca sempre somente jamais deve debe siempre niemals immer toujours никогда нельзя обязательно только всегда يجب ممنوع`) {
			m[w] = true
		}
		return m
	}()
	rulePhrases = []string{"必ず", "絶対", "しないで", "ないでください", "してはいけ", "禁止", "必须", "不要", "不得", "务必", "只能", "لا تقم"}
)

func isConstraint(sentence string) bool {
	ascii, before := true, ""
	for word := range strings.FieldsFuncSeq(sentence, func(r rune) bool {
		ascii = ascii && r < 0x80
		return !unicode.IsLetter(r) && r != '\'' && r != '’'
	}) {
		word = strings.ToLower(word)
		if ruleWords[word] || before == "do" && word == "not" {
			return true
		}
		before = word
	}
	return !ascii && containsOne(sentence, rulePhrases)
}

// sentences cuts a text at line ends and at the marks that end sentences.
func sentences(text string) []string {
	var out []string
	from := 0
	cut := func(to int) {
		if s := strings.TrimSpace(text[from:to]); s != "" {
			out = append(out, s)
		}
		from = to
	}
	for i, r := range text {
		switch r {
		case '\n', '\r':
			cut(i)
		case '。', '！', '？', '؟', '।':
			cut(i + len(string(r)))
		case '.', '!', '?', ';':
			if i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n') {
				cut(i + 1)
			}
		}
	}
	cut(len(text))
	return out
}

func (m *miner) call(c *transcript.Call) {
	if edits := c.Name == "write" || c.Name == "edit" || strings.Contains(c.Name, "patch") || strings.Contains(c.Name, "Edit") || c.Name == "Write"; !edits {
		return
	}
	for _, a := range c.Args {
		if a.Key == "path" || a.Key == "file_path" || a.Key == "filePath" {
			m.add("edited", ClassPath, argument(a))
		}
	}
}

var errorWord = regexp.MustCompile(`(?i)error|fail|panic|exception|fatal|denied|refused|not found|timed? ?out`)

// errorLine is the line that says what went wrong: the last one that names an error, else the first.
func errorLine(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= max(0, len(lines)-40); i-- {
		if errorWord.MatchString(lines[i]) && len(lines[i]) <= anchorBytes {
			return lines[i]
		}
	}
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			return l
		}
	}
	return ""
}
