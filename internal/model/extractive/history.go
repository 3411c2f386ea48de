package extractive

import (
	"fmt"
	"strings"
	"unicode/utf8"

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

// lengths are the bounds of quotations in characters; they follow the size of the text.
type lengths struct{ request, row, rule, output int }

func lengthsFor(limit int) lengths {
	chars := 4 * limit
	return lengths{
		request: within(chars/6, 60, 1600),
		row:     within(chars/40, 50, 220),
		rule:    within(chars/30, 80, 400),
		output:  within(chars/40, 80, 240),
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

func (h *historyWriter) done() *section {
	s := h.section(outline.Done, "- [x] ", 25)
	h.carry(s, rankLow)
	var all, slight [][]string
	turns := h.turns.all()
	if h.last.answered {
		turns = append(turns, h.last)
	}
	common := h.files.common()
	for i, t := range turns {
		if i == 0 && t.request == "" {
			t.request = h.earlier() // the range starts inside the turn of that request
		}
		lines := h.finished(t, common)
		if len(t.changed) == 0 && !weighty(t.request) && !weighty(t.reply) {
			slight = append(slight, lines)
		} else {
			all = append(all, lines)
		}
	}
	s.addAll(rankMiddle, all)
	s.addAll(rankPadding, slight)
	s.omitted += h.turns.dropped
	return s
}

// finished tells what became of one request.
func (h *historyWriter) finished(t turn, common string) []string {
	var lines []string
	if t.request != "" {
		lines = append(lines, "Asked: "+quoted(t.request, h.n.row))
	}
	if t.reply != "" {
		lines = append(lines, "Agent: "+quoted(prose(t.reply), h.n.row))
	}
	if len(t.changed) > 0 {
		short := make([]string, len(t.changed))
		for i, p := range t.changed {
			short[i] = strings.TrimPrefix(p, common)
		}
		lines = append(lines, "Changed: "+codes(short, len(short)))
	}
	if t.calls > 0 && (len(t.changed) == 0 || t.failed > 0) {
		row := count(t.calls, "tool call")
		if t.failed > 0 {
			row += fmt.Sprintf(", %d failed", t.failed)
		}
		lines = append(lines, row)
	}
	return lines
}

func codes(paths []string, most int) string {
	var out []string
	for i, p := range paths {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(paths)-most))
			break
		}
		out = append(out, code(p, 200))
	}
	return strings.Join(out, ", ")
}

func (h *historyWriter) inProgress() *section {
	s := h.section(outline.InProgress, "- [ ] ", 12)
	h.carry(s, rankLow, "The turn was still running", "The newest request was not begun")
	if h.last.answered {
		s.items = nil // the agent has answered since
	}
	if h.last.answered || (h.last.request == "" && h.last.calls == 0) {
		return s
	}
	if h.last.calls == 0 && h.last.reply == "" {
		s.add(rankHigh, "The newest request was not begun in this range.")
		return s
	}
	lines := []string{"The turn was still running when this range ended."}
	if len(h.last.changed) > 0 {
		lines = append(lines, "Changed so far: "+codes(h.last.changed, changedMax))
	}
	s.add(rankHigh, lines...)
	return s
}

func (h *historyWriter) blocked() *section {
	s := h.section(outline.Blocked, "- ", 18)
	h.carry(s, rankLow, labelFailed)
	var all, old [][]string
	for _, x := range h.open() {
		if x.turn < h.users-recentTurns {
			old = append(old, h.failed(x))
		} else {
			all = append(all, h.failed(x))
		}
	}
	// A failure of an earlier range stays until the same command goes right.
	for _, c := range h.prev.items[outline.Blocked] {
		if strings.HasPrefix(c.head(), labelFailed) && !h.settles(c.head()) {
			s.add(rankLow, c.lines...)
		}
	}
	s.addAll(rankPadding, old)
	s.addAll(rankHigh, all)
	return s
}

// recentTurns is how far back a failure still stands in the way.
const recentTurns = 8

// settles reports whether something that failed in an earlier range was done again in this one.
func (h *historyWriter) settles(head string) bool {
	for _, c := range h.commands {
		if strings.Contains(head, code(c.text, 160)) {
			return true
		}
	}
	for p := range h.files.state {
		if strings.Contains(head, code(p, 160)) {
			return true
		}
	}
	return false
}

func (h *historyWriter) failed(x failure) []string {
	head := labelFailed + code(x.tool, 40)
	if t := x.target(160); t != "" {
		head += " " + t
	}
	if x.times > 1 {
		head += fmt.Sprintf(" (%d times)", x.times)
	}
	lines := []string{head}
	for _, l := range errorLines(x.output, 4) {
		lines = append(lines, "> "+line(l, h.n.output))
	}
	return lines
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

func (h *historyWriter) critical() *section {
	s := h.section(outline.CriticalContext, "- ", 35)
	text, _ := h.latest()
	switch {
	case text != "" && h.pending():
		s.add(rankVital, append([]string{labelPending}, verbatim(text, h.n.request)...)...)
	case h.last.answered && asks(h.last.reply):
		s.add(rankVital, append([]string{labelAsked}, verbatim(h.last.reply, h.n.request)...)...)
	case h.blocks == 0: // nothing new: what was asked still is
		h.again(s, labelAsked)
	}
	if h.last.reply != "" && !(h.last.answered && asks(h.last.reply)) {
		s.add(rankMiddle, append([]string{labelReply}, verbatim(h.last.reply, h.n.request/2)...)...)
	}
	h.fileItems(s)
	for _, a := range h.repository {
		lines := []string{labelRepo + code(a.command, 160) + ":"}
		s.add(rankMiddle, append(lines, quoteLines(a.output, 8, h.n.output)...)...)
	}
	if acts := h.actions.all(); len(acts) > 0 {
		lines := []string{"Last steps, oldest first:"}
		for _, a := range acts {
			if row := "- " + a.describe(); row != lines[len(lines)-1] {
				lines = append(lines, row)
			}
		}
		s.add(rankMiddle, lines...)
	}
	h.carry(s, rankLow, labelPending, labelAsked, labelReply, labelChanged, labelRead, "Last steps", labelRepo, labelCommand)
	var all [][]string
	for _, c := range h.commands {
		row := labelCommand + code(c.text, 200) + " — " + c.state
		if c.times > 1 {
			row += fmt.Sprintf(", %d times", c.times)
		}
		all = append(all, []string{row})
	}
	s.addAll(rankPadding, all)
	return s
}

func (h *historyWriter) again(s *section, labels ...string) {
	for _, l := range labels {
		if c, ok := h.labelled(s.heading, l); ok {
			s.add(rankVital, c.lines...)
		}
	}
}

func quoteLines(out string, most, n int) []string {
	var lines []string
	for l := range strings.SplitSeq(out, "\n") {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if len(lines) == most {
			return append(lines, "> …")
		}
		lines = append(lines, "> "+line(l, n))
	}
	return lines
}

// The most files listed by name; the full list is the service's own (spec/summary §9).
const filesListed = 30

func (h *historyWriter) fileItems(s *section) {
	changed := merge(h.files.of(accessChange), h.namesIn(labelChanged))
	read := without(merge(h.files.of(accessRead), h.namesIn(labelRead)), changed)
	if len(changed) > 0 {
		s.add(rankHigh, labelChanged+codes(changed, filesListed))
	}
	if len(read) > 0 {
		s.add(rankMiddle, labelRead+codes(read, filesListed*2/3))
	}
}

// namesIn reads a file list of the previous generation back.
func (h *historyWriter) namesIn(label string) []string {
	c, ok := h.labelled(outline.CriticalContext, label)
	if !ok {
		return nil
	}
	var out []string
	for i, part := range strings.Split(strings.TrimPrefix(c.head(), label), "`") {
		if i%2 == 1 && part != "" {
			out = append(out, strings.TrimSpace(part))
		}
	}
	return out
}

func merge(lists ...[]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, list := range lists {
		for _, p := range list {
			if !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

func without(list, drop []string) []string {
	gone := map[string]bool{}
	for _, p := range drop {
		gone[p] = true
	}
	var out []string
	for _, p := range list {
		if !gone[p] {
			out = append(out, p)
		}
	}
	return out
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

func firstRune(s string) (rune, int) { return utf8.DecodeRuneInString(s) }
