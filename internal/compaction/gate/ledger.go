package gate

import (
	"fmt"
	"slices"
	"strings"

	"recap/internal/compaction/fileops"
	"recap/internal/compaction/transcript"
)

// Ledger holds the facts that the service keeps by itself, whatever a model writes (spec/gate §4c).
// What a text lacks of them is appended, and then the gate verifies that it is all there.
type Ledger struct {
	// Files are the files read and changed, over all generations. They are looked for and appended only
	// where the whole is judged; FlatFiles says in which form.
	Files     fileops.Lists
	FlatFiles bool
	// Errors are the last distinct errors with the commands that produced them.
	Errors []ErrorFact
	// Questions are requests and questions that nobody has answered, word for word.
	Questions []string
	// Pins must be there byte for byte.
	Pins []string
	// Done lists finished work, in the words of the agent's to-do list; it must not come up as pending.
	Done []string
}

// ErrorFact is one entry of the error ledger.
type ErrorFact struct {
	Command string // may be empty
	Text    string // one line
}

func (e ErrorFact) String() string {
	if e.Command == "" {
		return e.Text
	}
	return fmt.Sprintf("%s ⇒ %s", e.Command, e.Text)
}

// given are the facts the caller gives, as anchors that must all be there.
func (in *Input) given() []Anchor {
	var out []Anchor
	for _, p := range in.Protected {
		if strings.TrimSpace(p) != "" {
			out = append(out, Anchor{Class: classProtected, Text: p})
		}
	}
	l := in.Ledger
	if l == nil {
		return out
	}
	for _, p := range l.Pins {
		if p != "" {
			out = append(out, Anchor{Class: classPin, Text: p})
		}
	}
	for _, e := range l.Errors {
		if e.Text != "" {
			out = append(out, Anchor{Class: ClassError, Text: oneLine(e.String())})
		}
	}
	for _, q := range l.Questions {
		if strings.TrimSpace(q) != "" {
			out = append(out, Anchor{Class: classQuestion, Text: oneLine(q)})
		}
	}
	return out
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (l *Ledger) paths() []string {
	if l == nil {
		return nil
	}
	return append(append([]string{}, l.Files.Read...), l.Files.Modified...)
}

// block is the file list as it ends a summary, "" when there is none.
func (l *Ledger) block() string {
	if l == nil || l.Files.Empty() {
		return ""
	}
	if l.FlatFiles {
		return fileops.Flat(l.Files)
	}
	return fileops.Tree(l.Files)
}

// repairFiles puts the file list at the end of the whole, in place of any other.
func (in *Input) repairFiles(text string) (string, bool) {
	block := in.Ledger.block()
	if in.Part != "" || block == "" || strings.HasSuffix(text, block) {
		return text, false
	}
	return fileops.Upsert(text, block), true
}

// ErrorLedger lists the last distinct errors of a conversation, the newest first and at most n, each
// with the command or tool call that produced it. Messages longer than a line give the line that names
// the error. The caller carries the list through generations and cuts it.
func ErrorLedger(blocks []transcript.Block, n int) []ErrorFact {
	var out []ErrorFact
	seen := map[string]bool{}
	for i := len(blocks) - 1; i >= 0 && len(out) < n; i-- {
		b := &blocks[i]
		if b.Role != transcript.ToolResult || !b.Error {
			continue
		}
		text := strings.TrimSpace(errorLine(b.Text))
		if text == "" || len(text) > anchorBytes || seen[text] {
			continue
		}
		seen[text] = true
		out = append(out, ErrorFact{Command: producer(blocks, i), Text: text})
	}
	return out
}

// producer names the call that the result at i answers: results follow their calls in order.
func producer(blocks []transcript.Block, i int) string {
	nth := 0
	for i--; i >= 0 && blocks[i].Role == transcript.ToolResult; i-- {
		nth++
	}
	if i < 0 || nth >= len(blocks[i].Calls) {
		return ""
	}
	c := blocks[i].Calls[nth]
	for _, a := range c.Args {
		if v := argument(a); (a.Key == "command" || a.Key == "path") && len(v) <= anchorBytes {
			if a.Key == "command" {
				return oneLine(v)
			}
			return c.Name + " " + oneLine(v)
		}
	}
	return c.Name
}

// MustKeep lists what a summary of the conversation must not lose (spec/gate §5a): what users named
// exactly and demanded, changed files, the last errors, and what the summary before kept word for word.
func (s *Source) MustKeep() []Anchor { return slices.Clone(s.mined) }

// LatestAsk is the newest request of a user, and whether the conversation answers it.
func (s *Source) LatestAsk() (text string, answered bool) { return s.ask, s.answered }
