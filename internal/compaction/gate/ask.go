package gate

import (
	"fmt"
	"slices"
	"strings"

	"recap/internal/compaction/gate/outline"
	"recap/internal/compaction/gate/secret"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// The numbers of the check on the latest request (spec/gate §4b, G10).
const (
	askTerms   = 12 // meaningful words that are looked for
	askShared  = 2  // how many of them must be found
	askPercent = 60 // and what share of them
	askLongest = 4000
)

// Ask is the newest request of a user as the planner knows it. Without it the gate reads the source.
type Ask struct {
	Text string
	// Answered says that the request needs no mention: it was answered, in the summarised range or in
	// the kept tail, or the tail holds it word for word.
	Answered bool
}

// findAsk remembers the newest message of a user, and whether the agent has answered it since.
func (s *Source) findAsk(blocks []transcript.Block) {
	for i, b := range slices.Backward(blocks) {
		if b.Role != transcript.User || strings.HasPrefix(b.Text, "Ran `") { // a command the user ran
			continue
		}
		s.ask = b.Text
		last := blocks[len(blocks)-1]
		s.answered = i < len(blocks)-1 && last.Role == transcript.Assistant && last.Text != "" && len(last.Calls) == 0
		return
	}
}

// latestAsk is the request that must be in the text, "" when there is none. The beginning of a turn
// ends before its answer, so there the request is open whatever follows.
func (in *Input) latestAsk() string {
	switch {
	case in.Ask != nil:
		if in.Ask.Answered {
			return ""
		}
		return in.Ask.Text
	case in.Small() || (in.Digest.answered && in.Part != contract.PartTurnPrefix):
		return ""
	}
	return in.Digest.ask
}

// hasAsk reports whether a text mentions the request: literally, or by enough of its words.
func hasAsk(text string, terms map[string]bool, ask string, percent int) bool {
	want := keyTerms(strings.ToValidUTF8(bounded(ask, askLongest), ""))
	if len(want) > askTerms {
		// The words at the end say what is wanted as often as those at the beginning.
		want = append(slices.Clone(want[:askTerms/2]), want[len(want)-askTerms/2:]...)
	}
	if len(want) == 0 || strings.Contains(text, ask) {
		return true
	}
	found := 0
	for _, t := range want {
		if terms[t] {
			found++
		}
	}
	return found >= min(max(askShared, (percent*len(want)+99)/100), len(want))
}

func bounded(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// repairAsk inserts the latest request, word for word and marked as a quotation, where open questions
// belong, and reports whether it did.
func repairAsk(in *Input, d *document, text string) (string, bool) {
	ask, _ := secret.Mask(in.Secrets, strings.TrimSpace(in.latestAsk()))
	percent := askPercent
	if in.Extractive { // it quotes the request as far as there is room
		percent = 0
	}
	if ask == "" || hasAsk(text, termSet(text), ask, percent) {
		return text, false
	}
	head := outline.CriticalContext
	if in.Part == contract.PartTurnPrefix {
		head = outline.OriginalRequest
	}
	item := "- Open request, in the user's words:\n" + quoteLines(ask)
	for i, l := range d.lines {
		if l.Heading.Level == head.Level && outline.FindTitle([]outline.Heading{head}, l.Heading.Title) == 0 {
			end := len(text)
			if i+1 < len(d.lines) {
				end = d.lines[i+1].Offset
			}
			return strings.TrimRight(text[:end], "\r\n") + "\n" + item + "\n\n" + strings.TrimLeft(text[end:], "\r\n"), true
		}
	}
	return insertSection(text, d, in.Part, head, item), true
}

// insertSection puts a section of its own where the order of headings wants it.
func insertSection(text string, d *document, part contract.Part, head outline.Heading, content string) string {
	list := outline.Of(part)
	rank := outline.Find(list, head)
	section := head.String() + "\n" + content + "\n\n"
	for _, l := range d.lines {
		if l.Heading.Level == 0 {
			continue
		}
		if i := outline.Find(list, l.Heading); i > rank || l.Heading == referencesHeading {
			return strings.TrimRight(text[:l.Offset], " \t\r\n") + "\n\n" + section + text[l.Offset:]
		}
	}
	if at := filesAt(text); at >= 0 {
		return strings.TrimRight(text[:at], " \t\r\n") + "\n\n" + section + text[at:]
	}
	return strings.TrimRight(text, " \t\r\n") + "\n\n" + strings.TrimSpace(section)
}

// quoteLines makes a block quote of a text. Lines that do not fit are counted.
func quoteLines(text string) string {
	var b strings.Builder
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
	for i, l := range lines {
		if b.Len()+len(l) > askLongest {
			if i == 0 { // one endless line: its beginning
				b.WriteString("> " + strings.ToValidUTF8(l[:askLongest/2], "") + "\n")
				fmt.Fprintf(&b, "> (the rest of this line, %d bytes, is left out)\n", len(l)-askLongest/2)
				i++
			}
			if i < len(lines) {
				fmt.Fprintf(&b, "> (%d more lines are left out)\n", len(lines)-i)
			}
			break
		}
		b.WriteString(strings.TrimRight("> "+l, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
