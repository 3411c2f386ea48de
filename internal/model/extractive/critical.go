package extractive

import (
	"fmt"
	"strings"

	"recap/internal/compaction/gate/outline"
)

// The section Critical Context: what is pending, files, repository, last steps, commands.

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
	for i := range s.items {
		s.items[i].rung = -1 // when room is short, what is pending comes before everything
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
