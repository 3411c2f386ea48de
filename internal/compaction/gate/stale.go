package gate

import (
	"recap/internal/compaction/gate/outline"
	"recap/internal/contract"
)

// The numbers of the check on finished work (spec/gate §3, F11).
const (
	staleShare = 0.8 // of the terms of two items that must be the same
	staleTerms = 4   // an item with fewer says too little
	staleItems = 200 // items on either side that are compared
)

// checkStale refuses an answer that lists as pending what it, the summary before or the ledger lists
// as done.
func checkStale(in *Input, d *document, m *Measurements) contract.Code {
	if in.Extractive {
		return ""
	}
	done := itemsUnder(d.lines, outline.Done)
	if in.Digest.previous != "" {
		lines, _ := outline.Scan(in.Digest.previous)
		done = append(done, itemsUnder(lines, outline.Done)...)
	}
	if in.Ledger != nil {
		done = append(done, in.Ledger.Done...)
	}
	pending := append(itemsUnder(d.lines, outline.InProgress), itemsUnder(d.lines, outline.NextSteps)...)
	var sets []map[string]bool
	for _, t := range done[:min(len(done), staleItems)] {
		if set := termSet(t); len(set) >= staleTerms {
			sets = append(sets, set)
		}
	}
	for _, t := range pending[:min(len(pending), staleItems)] {
		terms := keyTerms(t)
		if len(terms) < staleTerms {
			continue
		}
		for _, set := range sets {
			if shareOf(terms, set) >= staleShare && float64(len(set))*staleShare <= float64(len(terms)) {
				m.note(CodeStale, t)
				return CodeStale
			}
		}
	}
	return ""
}

// itemsUnder lists the items below a heading.
func itemsUnder(lines []outline.Line, head outline.Heading) []string {
	var out []string
	under := false
	for _, l := range lines {
		if l.Heading.Level > 0 {
			under = outline.FindTitle([]outline.Heading{head}, l.Heading.Title) == 0
			continue
		}
		if item, ok := l.ListItem(); ok && under && !l.Fenced && !l.Quoted {
			out = append(out, item)
		}
	}
	return out
}
