package gate

import (
	"strings"

	"recap/internal/compaction/gate/anchor"
	"recap/internal/compaction/gate/outline"
)

// finding is what G8 and G9 say about an answer.
type finding struct {
	anchors  int      // distinct anchors of the answer
	invented []string // in neither source nor previous summary
	changed  []string // near misses, with what they should be: "wrong → right"
	stripped []int    // lines that can be taken out
	inProse  int      // invented ones that cannot be taken out with their item
}

// inspectAnchors compares the anchors of an answer with the source (spec/gate §4b, G8 and G9).
func inspectAnchors(in *Input, d *document) finding {
	var f finding
	sup := newSupporter(in)
	own := holdingOf(d.text)
	seen := map[string]bool{}
	compared := 0
	for i, l := range d.all {
		if l.Heading.Level > 0 {
			continue
		}
		bad := false
		for _, a := range anchor.Scan(l.Text) {
			if seen[a.Norm] || elided(l.Text, a) {
				continue
			}
			seen[a.Norm] = true
			if a.Kind == anchor.Number {
				if n, unit := anchor.Digits(a.Norm); n < 3 && unit == "" {
					continue
				}
			} else {
				f.anchors++
			}
			if sup.has(a) {
				continue
			}
			if compared++; compared <= nearCandidates {
				if right, found := sup.near(a, l.Text, func(norm string) bool { return own.values[norm] }); found {
					f.changed = append(f.changed, a.Text+" → "+right)
					continue
				}
			}
			if a.Kind == anchor.Number {
				continue // sums and counts are made in a summary
			}
			f.invented = append(f.invented, a.Text)
			bad = true
			if _, item := l.ListItem(); !item || l.Fenced || l.Quoted {
				f.inProse++
			}
		}
		if bad {
			if _, item := l.ListItem(); item && !l.Fenced && !l.Quoted {
				f.stripped = append(f.stripped, i)
			}
		}
	}
	return f
}

// elided reports an anchor that was cut short visibly, by the answer or by what it quotes, or that
// counts what was left out.
func elided(line string, a anchor.Anchor) bool {
	after := strings.TrimLeft(line[a.Start+len(a.Text):], " `\"'")
	before := strings.TrimRight(line[:a.Start], " [(+")
	return strings.HasPrefix(after, "…") || strings.HasPrefix(after, "...") || strings.HasSuffix(before, "…") || strings.HasSuffix(before, "...")
}

// repairInvented takes list items with invented anchors out, when they are few and everything else
// holds. It reports whether the text changed.
func repairInvented(d *document, f finding, text string) (string, bool) {
	if len(f.stripped) == 0 || len(f.stripped) > strippedItems || len(f.changed) > 0 || f.inProse > f.anchors/inventedShare {
		return text, false
	}
	items := 0
	for _, l := range d.all {
		if _, ok := l.ListItem(); ok {
			items++
		}
	}
	if 2*len(f.stripped) > items {
		return text, false
	}
	var b strings.Builder
	at := 0
	for _, i := range f.stripped {
		if d.all[i].Offset < at {
			continue // within an item that is gone already
		}
		b.WriteString(text[at:d.all[i].Offset])
		at = len(text)
		if next := itemEnd(d.all, i); next < len(d.all) {
			at = d.all[next].Offset
		}
	}
	b.WriteString(text[at:])
	return strings.TrimSpace(b.String()), true
}

// itemEnd is the line after a list item with everything indented under it.
func itemEnd(lines []outline.Line, i int) int {
	depth := indent(lines[i].Text)
	j := i + 1
	for j < len(lines) && !lines[j].Blank() && lines[j].Heading.Level == 0 && indent(lines[j].Text) > depth {
		j++
	}
	return j
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }
