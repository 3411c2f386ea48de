package extractive

import (
	"fmt"
	"strings"

	"recap/internal/compaction/gate/outline"
)

// turnPrefixSections fills the three sections about the beginning of a turn whose rest is kept.
func turnPrefixSections(f *facts, limit int) []*section {
	n := lengthsFor(limit)
	n.request = within(2*n.request, 60, 4800)
	return []*section{prefixRequest(f, n), prefixProgress(f, n), prefixContext(f, n)}
}

func prefixRequest(f *facts, n lengths) *section {
	s := newSection(outline.OriginalRequest, "", 50)
	switch {
	case f.last.request != "":
		s.add(rankVital, append([]string{"The user asked, verbatim:", ""}, verbatim(f.last.request, n.request)...)...)
	default:
		for _, t := range f.notes.all() {
			s.add(rankVital, append([]string{"The turn was started by this note to the agent:", ""}, verbatim(t, n.request)...)...)
		}
	}
	return s
}

func prefixProgress(f *facts, n lengths) *section {
	s := newSection(outline.EarlyProgress, "- ", 35)
	var said [][]string
	for _, t := range f.replies.all() {
		said = append(said, []string{"Agent: " + quoted(prose(t), n.rule)})
	}
	s.addAll(rankMiddle, said)
	var did [][]string
	for _, a := range f.early.all() {
		did = append(did, []string{a.describe()})
	}
	s.addAll(rankMiddle, did)
	s.omitted = f.early.dropped + f.replies.dropped
	return s
}

func prefixContext(f *facts, n lengths) *section {
	s := newSection(outline.ContextForSuffix, "- ", 40)
	h := historyWriter{facts: f, prev: readPrevious(""), n: n}
	for _, c := range f.constraints.all() {
		s.add(rankHigh, "Constraint: "+quoted(c.text, n.rule))
	}
	for _, x := range f.open() {
		s.add(rankHigh, h.failed(x)...)
	}
	h.fileItems(s)
	s.addAll(rankMiddle, sayings(f.decisions.all(), n.rule))
	acts := f.actions.all()
	for i := len(acts) - 1; i >= 0 && i >= len(acts)-3; i-- {
		a := acts[i]
		if strings.TrimSpace(a.output) == "" {
			continue
		}
		s.add(rankMiddle, append([]string{"Result of " + a.describe() + ":"}, quoteLines(a.output, 6, n.output)...)...)
	}
	for _, a := range f.repository {
		s.add(rankLow, append([]string{labelRepo + code(a.command, 160) + ":"}, quoteLines(a.output, 6, n.output)...)...)
	}
	s.add(rankPadding, fmt.Sprintf("%s%s.", labelExtract, count(f.blocks, "message")))
	return s
}
