package gate

import (
	"slices"
	"strings"
	"unicode"

	"recap/internal/compaction/gate/outline"
	"recap/internal/contract"
)

// The detector's numbers (spec/summary §5.6); lengths are in characters.
const (
	unitMax          = 60   // longest unit that counts as a stutter
	stutterMin       = 180  // length of a stutter
	stutterMinDigits = 600  // the same for units without letters: tables of numbers exist
	stutterMinFenced = 1200 // the same for quoted output

	paragraphMin  = 60 // normalised length of a paragraph that counts
	paragraphsMin = 8
	clusterMin    = 4
	clusterMinRow = 8 // for lines of a list, which are alike by nature
	clusterWindow = 16
	clusterAlike  = 0.8

	dullRun   = 8   // consecutive paragraphs that say nothing new
	dullKnown = 0.9 // share of their words that were there before
)

// checkRepetition refuses an answer in which the model got stuck. A summariser without a model cannot
// get stuck; what it repeats, the session repeats.
func checkRepetition(in *Input, d *document, _ *Measurements) contract.Code {
	if in.Extractive {
		return ""
	}
	if stutters(d.lines) || clusters(paragraphs(d.lines), clusterMin, 0) || clusters(rows(d.lines), clusterMinRow, 4) ||
		dull(paragraphs(d.lines)) {
		return CodeRepetition
	}
	return ""
}

// stutters looks for one short unit repeated back to back, in text and in quotations apart.
func stutters(lines []outline.Line) bool {
	var prose, fenced []rune
	for _, l := range lines {
		if l.Fenced || l.Quoted {
			fenced = append(append(fenced, []rune(l.Text)...), '\n')
		} else {
			prose = append(append(prose, []rune(l.Text)...), '\n')
		}
	}
	return stutter(prose, stutterMin, stutterMinDigits) || stutter(fenced, stutterMinFenced, stutterMinFenced)
}

// stutter reports whether text holds a run of at least min characters whose period is at most
// unitMax. Every such run covers a whole window that starts at a multiple of unitMax, so only those
// windows are looked at: linear time.
func stutter(text []rune, minLetters, minDigits int) bool {
	const window = 2 * unitMax
	var border [window]int
	for at := 0; at+window <= len(text); at += unitMax {
		period := smallestPeriod(text[at:at+window], border[:])
		if period > unitMax {
			continue
		}
		from, to := at, at+window
		for from > 0 && text[from-1] == text[from-1+period] {
			from--
		}
		for to < len(text) && text[to] == text[to-period] {
			to++
		}
		limit := minDigits
		unit := text[at : at+period]
		switch {
		case slices.ContainsFunc(unit, unicode.IsLetter):
			limit = minLetters
		case !slices.ContainsFunc(unit, unicode.IsDigit):
			continue // rules, dot leaders, indentation
		}
		if to-from >= limit {
			return true
		}
		at = max(at, (to-window)/unitMax*unitMax)
	}
	return false
}

// smallestPeriod is the length of the shortest unit whose repetition gives w (the prefix function).
func smallestPeriod(w []rune, border []int) int {
	k := 0
	border[0] = 0
	for i := 1; i < len(w); i++ {
		for k > 0 && w[i] != w[k] {
			k = border[k-1]
		}
		if w[i] == w[k] {
			k++
		}
		border[i] = k
	}
	return len(w) - k
}

// paragraphs returns the substantial paragraphs outside fences, quotes and lists, normalised.
func paragraphs(lines []outline.Line) []string {
	var out []string
	var cur strings.Builder
	flush := func() {
		if p := normal(cur.String()); len([]rune(p)) >= paragraphMin {
			out = append(out, p)
		}
		cur.Reset()
	}
	for _, l := range lines {
		_, item := l.ListItem()
		if l.Blank() || l.Fenced || l.Quoted || l.Heading.Level > 0 || item {
			flush()
			continue
		}
		cur.WriteString(l.Text)
		cur.WriteByte(' ')
	}
	flush()
	return out
}

// rows returns the substantial list items, normalised.
func rows(lines []outline.Line) []string {
	var out []string
	for _, l := range lines {
		if item, ok := l.ListItem(); ok && !l.Fenced && !l.Quoted {
			if p := normal(item); len([]rune(p)) >= paragraphMin {
				out = append(out, p)
			}
		}
	}
	return out
}

func normal(s string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r == '*' || r == '_' || r == '`' || r == '#' || unicode.IsSpace(r)
	}), " "))
}

// clusters reports whether at least size of the texts near each other say the same. When share is not
// 0, the cluster must also be at least one in share of all.
func clusters(texts []string, size, share int) bool {
	if len(texts) < paragraphsMin {
		return false
	}
	grams := make([]map[uint64]struct{}, len(texts))
	for i, t := range texts {
		grams[i] = trigrams(t)
	}
	alike := make([]int, len(texts)) // how many near-duplicates of text i lie in the window after it
	for i := range texts {
		alike[i] = 1
		for j := i + 1; j < len(texts) && j <= i+clusterWindow; j++ {
			if jaccard(grams[i], grams[j]) >= clusterAlike {
				alike[i]++
			}
		}
		if alike[i] >= size && (share == 0 || alike[i]*share >= min(len(texts), clusterWindow)) {
			return true
		}
	}
	return false
}

func trigrams(s string) map[uint64]struct{} {
	set := map[uint64]struct{}{}
	var h shingler
	h.init(3)
	forWords(s, func(w uint64) {
		if g, ok := h.add(w); ok {
			set[g] = struct{}{}
		}
	})
	return set
}

func jaccard(a, b map[uint64]struct{}) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	both := 0
	for g := range a {
		if _, ok := b[g]; ok {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// dull reports a run of paragraphs that use old words only and name nothing.
func dull(texts []string) bool {
	seen := map[uint64]bool{}
	run := 0
	for _, t := range texts {
		total, known := 0, 0
		forWords(t, func(w uint64) {
			total++
			if seen[w] {
				known++
			}
			seen[w] = true
		})
		if total > 0 && float64(known) >= dullKnown*float64(total) && !strings.ContainsAny(t, "0123456789/`\"“«「") {
			if run++; run >= dullRun {
				return true
			}
			continue
		}
		run = 0
	}
	return false
}
