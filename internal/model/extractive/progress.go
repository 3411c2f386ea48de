package extractive

import (
	"fmt"
	"strings"

	"recap/internal/compaction/gate/outline"
)

// The sections Done, In Progress and Blocked.

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
		lines = append(lines, "Asked: "+quotedEnds(t.request, h.n.row))
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
