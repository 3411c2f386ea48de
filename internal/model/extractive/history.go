package extractive

import (
	"fmt"
	"strings"

	"recap/internal/compaction/gate/outline"
)

// Labels of items that a later generation recognises.
const (
	labelFirst   = "First request of the session, verbatim:"
	labelLatest  = "Latest request, verbatim:"
	labelWeighty = "Latest longer request, verbatim:"
	labelPending = "Unanswered at the end of this range, verbatim:"
	labelAsked   = "The agent's open question to the user, verbatim:"
	labelReply   = "The agent's last words in this range, verbatim:"
	labelChanged = "Files changed: "
	labelRead    = "Files read: "
	labelAhead   = "Announced by the agent: "
	labelExtract = "Extracted without a model from "
	labelRepo    = "Repository, by "
	labelCommand = "Ran "
	labelFailed  = "Failed: "
)

// lengths are the bounds of quotations in bytes; they follow the size of the text.
type lengths struct{ request, row, rule, output int }

func lengthsFor(limit int) lengths {
	size := 4 * limit
	return lengths{
		request: within(size/5, 60, 2400),
		row:     within(size/24, 60, 420),
		rule:    within(size/20, 90, 480),
		output:  within(size/40, 80, 240),
	}
}

func within(n, low, high int) int { return max(low, min(high, n)) }

// historySections fills the ten sections.
func historySections(f *facts, prev *previous, limit int) []*section {
	n := lengthsFor(limit)
	h := &historyWriter{facts: f, prev: prev, n: n}
	progress := newSection(outline.Progress, "", 0)
	progress.group = true
	return []*section{
		h.goal(), h.constraints(), progress, h.done(), h.inProgress(), h.blocked(), h.decisions(), h.nextSteps(),
		h.critical(), h.notes(),
	}
}

type historyWriter struct {
	*facts
	prev *previous
	n    lengths
}

// section makes a section and notes what its predecessor left out.
func (h *historyWriter) section(head outline.Heading, bullet string, share int) *section {
	s := newSection(head, bullet, share)
	s.omitted = h.prev.omitted[head]
	return s
}

// carry takes over items of the previous summary, except those that start with one of the labels.
func (h *historyWriter) carry(s *section, rank int, except ...string) {
	var all [][]string
	for _, c := range h.prev.items[s.heading] {
		if !hasLabel(c.head(), except) {
			all = append(all, c.lines)
		}
	}
	s.addEnds(rank, all)
}

func hasLabel(s string, labels []string) bool {
	for _, l := range labels {
		if strings.HasPrefix(s, l) {
			return true
		}
	}
	return false
}

func (h *historyWriter) labelled(head outline.Heading, label string) (carried, bool) {
	for _, c := range h.prev.items[head] {
		if strings.HasPrefix(c.head(), label) {
			return c, true
		}
	}
	return carried{}, false
}

// latest is the newest request there is, and whether it is in this range.
func (h *historyWriter) latest() (text string, here bool) {
	if h.last.request != "" {
		return h.last.request, true
	}
	return h.earlier(), false
}

// earlier is the newest request of the previous summary: it is answered in this range, or still open.
func (h *historyWriter) earlier() string {
	if c, ok := h.labelled(outline.CriticalContext, labelPending); ok {
		return c.quote()
	}
	if c, ok := h.labelled(outline.Goal, labelLatest); ok {
		return c.quote()
	}
	return ""
}

// pending reports whether the newest request waits for its answer; it is then shown under Critical
// Context, else under Goal.
func (h *historyWriter) pending() bool { return !h.last.answered }

func (h *historyWriter) goal() *section {
	s := h.section(outline.Goal, "", 30)
	h.carry(s, rankHigh, labelLatest, labelWeighty)
	for i := range s.items {
		if i == 0 {
			s.items[i].rank = rankVital
		}
	}
	if len(s.items) == 0 && h.first != "" {
		s.add(rankVital, append([]string{labelFirst, ""}, verbatim(h.first, h.n.request)...)...)
	}
	if text, here := h.latest(); here && h.weighty != "" && h.weighty != text && h.weighty != h.first {
		s.add(rankVital, append([]string{labelWeighty, ""}, verbatim(h.weighty, h.n.request)...)...)
	} else if c, ok := h.labelled(outline.Goal, labelWeighty); ok && h.weighty == "" {
		s.add(rankVital, c.lines...)
	}
	if text, _ := h.latest(); text != "" && !h.pending() && (text != h.first || len(h.prev.items) > 0) {
		s.add(rankVital, append([]string{labelLatest, ""}, verbatim(text, h.n.request)...)...)
	}
	return s
}

func (h *historyWriter) constraints() *section {
	s := h.section(outline.Constraints, "- ", 22)
	h.carry(s, rankHigh)
	var all [][]string
	for _, c := range h.facts.constraints.all() {
		all = append(all, []string{quoted(c.text, h.n.rule)})
	}
	s.addEnds(rankHigh, all)
	s.omitted += h.facts.constraints.dropped
	return s
}

func (h *historyWriter) decisions() *section {
	s := h.section(outline.KeyDecisions, "- ", 15)
	h.carry(s, rankLow)
	s.addAll(rankMiddle, sayings(h.facts.decisions.all(), h.n.rule))
	s.omitted += h.facts.decisions.dropped
	return s
}

func sayings(all []statement, n int) [][]string {
	var out [][]string
	for _, d := range all {
		who := "**Agent**"
		if d.user {
			who = "**User**"
		}
		out = append(out, []string{who + ": " + quoted(d.text, n)})
	}
	return out
}

func (h *historyWriter) nextSteps() *section {
	s := h.section(outline.NextSteps, "- ", 12)
	s.numbered = true
	switch text, _ := h.latest(); {
	case h.last.answered && asks(h.last.reply):
		s.add(rankVital, "Get the user's answer to the agent's question (see Critical Context).")
	case !h.last.answered && text != "":
		s.add(rankVital, "Finish the unanswered request (see Critical Context).")
	}
	if open := h.open(); len(open) > 0 {
		s.add(rankHigh, "Settle what is under Blocked, beginning with the newest.")
	}
	if h.last.reply != "" {
		var all [][]string
		eachSentence(h.last.reply, func(t string) {
			if planMarks.in(strings.ToLower(t)) {
				all = append(all, []string{labelAhead + quoted(t, h.n.rule)})
			}
		})
		s.addAll(rankMiddle, all[max(0, len(all)-5):])
	}
	h.carry(s, rankLow, labelAhead, "Get the user's answer", "Finish the unanswered request", "Settle what is under Blocked")
	return s
}

func (h *historyWriter) notes() *section {
	s := h.section(outline.AdditionalNotes, "- ", 20)
	h.carry(s, rankMiddle, labelExtract)
	var all [][]string
	for _, t := range h.facts.notes.all() {
		all = append(all, []string{"Note to the agent: " + quoted(t, 2*h.n.rule)})
	}
	s.addAll(rankMiddle, all)
	s.omitted += h.facts.notes.dropped
	s.add(rankPadding, fmt.Sprintf("%s%s, %s by the user.", labelExtract, count(h.blocks, "message"), count(h.users, "request")))
	return s
}
