package probe

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Answer asks a view for one fact (spec/gate §5c).
func (v *View) Answer(p *Probe) State {
	accepted, misplaced := v.find(p)
	switch {
	case p.Class == Negative:
		if accepted {
			return Mutated
		}
		return Missing
	case p.Ended:
		if accepted && !v.any(p.Now) {
			return Stale
		}
		return Missing
	case misplaced || v.any(p.Reject):
		return Mutated
	case accepted:
		return Retained
	case v.otherValue(p) || v.nearMiss(p):
		return Mutated
	case v.leadsTo(p):
		return Recoverable
	}
	return Missing
}

// find looks for an accepted form, in the sections where it counts and in those where it is wrong.
func (v *View) find(p *Probe) (accepted, misplaced bool) {
	for _, form := range p.Accept {
		form = Normalize(form)
		for i := range v.lines {
			l := &v.lines[i]
			if l.heading || !has(l.text, form) {
				continue
			}
			switch {
			case slices.Contains(p.Wrong, l.section):
				misplaced = true
			case len(p.Where) == 0 || l.section == "" || slices.Contains(p.Where, l.section):
				accepted = true
			}
		}
	}
	return accepted, misplaced && !accepted
}

func (v *View) any(forms []string) bool {
	for _, form := range forms {
		form = Normalize(form)
		for i := range v.lines {
			if has(v.lines[i].text, form) {
				return true
			}
		}
	}
	return false
}

var quantity = regexp.MustCompile(`\d+(?:\.\d+)?`)

// otherValue looks for another value of the same quantity.
func (v *View) otherValue(p *Probe) bool {
	if p.Unit == "" {
		return false
	}
	unit := Normalize(p.Unit)
	for i := range v.lines {
		text := v.lines[i].text
		if !slices.ContainsFunc(p.Labels, func(label string) bool { return has(text, Normalize(label)) }) {
			continue
		}
		for _, at := range quantity.FindAllStringIndex(text, -1) {
			if strings.HasPrefix(strings.TrimPrefix(text[at[1]:], " "), unit) {
				return true
			}
		}
	}
	return false
}

// nearMiss looks for a path or an identifier one or two characters away from the fact.
func (v *View) nearMiss(p *Probe) bool {
	if p.Class != Path && p.Class != Identifier {
		return false
	}
	for _, form := range p.Accept {
		form = Normalize(form)
		if len(form) < 4 {
			continue
		}
		for w := range v.tokenSet() {
			if p.Class == Path && strings.Count(w, "/") != strings.Count(form, "/") {
				continue
			}
			if d := distance(w, form, 2); d == 1 || d == 2 {
				return true
			}
		}
	}
	return false
}

// leadsTo reports whether a reference leads to the fact: the stored lists, or a file's bare name.
func (v *View) leadsTo(p *Probe) bool {
	for _, form := range p.Accept {
		form = Normalize(form)
		if p.RecoverableBy == ByLedger && v.ledger[form] {
			return true
		}
		if p.Class == Path && v.any([]string{path.Base(form)}) {
			return true
		}
	}
	return false
}

// distance is the edit distance of two words, or more than limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal, best := row[0], i
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
			best = min(best, row[j])
		}
		if best > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}
