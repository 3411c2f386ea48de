package gate

import (
	"strings"

	"recap/internal/compaction/gate/anchor"
	"recap/internal/compaction/gate/outline"
	"recap/internal/compaction/gate/secret"
)

// referencesHeading heads the block that the gate appends: facts, word for word.
var referencesHeading = outline.Heading{Level: 2, Title: "Exact References"}

const (
	minRecall       = 0.85 // of the mined anchors, by weight (spec/gate §4b, G7)
	referencesShare = 4    // the block is at most one in so many tokens of the summary's budget
	referencesFloor = 600  // tokens it may have in any case
	errorTokens     = 0.8  // of an error's words that must be there
	constraintTerms = 0.6  // of a constraint's words that must be there
	commandTerms    = 0.8
)

// labels begin the lines of the block.
var labels = map[Class]string{
	ClassPath: "File", ClassIdentifier: "Name", ClassError: "Error", ClassCommand: "Command", ClassNumber: "Value",
	ClassConstraint: "The user said", classQuestion: "Open question", classPin: "Pinned", classProtected: "Keep",
}

// Classes of facts that the caller gives (spec/gate §4c).
const (
	classQuestion  Class = "question"
	classPin       Class = "pin"
	classProtected Class = "protected"
)

// holding answers whether a text holds an anchor.
type holding struct {
	text   string // folded
	exact  string
	values map[string]bool // normalised anchors and file names
	terms  map[string]bool
}

func holdingOf(text string) *holding {
	h := &holding{text: fold(text), exact: text, values: map[string]bool{}, terms: termSet(text)}
	anchor.Runs(text, func(run string, _ int) {
		norm := anchor.Normal(run)
		h.values[norm] = true
		h.values[anchor.Base(norm)] = true
	})
	return h
}

// has says how much of an anchor the text holds, from 0 to 1.
func (h *holding) has(a Anchor) float64 {
	switch a.Class {
	case classPin:
		return yes(strings.Contains(h.exact, a.Text))
	case ClassPath:
		norm := anchor.Normal(a.Text)
		switch {
		case h.values[norm] || strings.Contains(h.text, norm):
			return 1
		case h.values[anchor.Base(norm)]:
			return 0.5
		}
		return 0
	case ClassNumber:
		return yes(h.values[anchor.Normal(a.Text)])
	}
	if strings.Contains(h.text, fold(a.Text)) {
		return 1
	}
	switch a.Class {
	case ClassError:
		for _, c := range anchor.Scan(a.Text) {
			if c.Kind == anchor.Error && h.values[c.Norm] {
				return 1
			}
		}
		return yes(shareOf(keyTerms(a.Text), h.terms) >= errorTokens)
	case ClassCommand:
		return yes(shareOf(keyTerms(a.Text), h.terms) >= commandTerms)
	case ClassConstraint, classQuestion:
		return yes(shareOf(keyTerms(a.Text), h.terms) >= constraintTerms)
	}
	return 0
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// recall is the weighted share of the anchors that a text holds, and those it does not hold whole.
func recall(list []Anchor, h *holding) (share float64, missing []Anchor) {
	sum, all := 0.0, 0
	for _, a := range list {
		w := weights[a.Class]
		got := h.has(a)
		all += w
		sum += got * float64(w)
		if got < 1 {
			missing = append(missing, a)
		}
	}
	if all == 0 {
		return 1, missing
	}
	return sum / float64(all), missing
}

// masked is the list with credentials masked: what may not be stored cannot be missed.
func masked(f secret.Finder, list []Anchor) []Anchor {
	out := make([]Anchor, len(list))
	for i, a := range list {
		a.Text, _ = secret.Mask(f, a.Text)
		out[i] = a
	}
	return out
}

// appendReferences adds anchors to the block at the end of a text, as many as fit the bound (in bytes)
// together with what the block holds already; pins are added in any case.
func appendReferences(text string, missing []Anchor, bound int) string {
	begin, end := referencesSpan(text)
	used := end - begin
	var b strings.Builder
	for _, a := range missing {
		entry := referenceLine(a)
		if a.Class != classPin {
			if used+len(entry) > bound {
				continue
			}
			used += len(entry)
		}
		b.WriteString(entry)
	}
	if b.Len() == 0 {
		return text
	}
	if begin < 0 {
		before, after := text, ""
		if at := filesAt(text); at >= 0 {
			before, after = text[:at], "\n\n"+text[at:]
		}
		return strings.TrimRight(before, " \t\r\n") + "\n\n" + referencesHeading.String() + "\n" + strings.TrimRight(b.String(), "\n") + after
	}
	rest := strings.TrimLeft(text[end:], "\r\n")
	if rest != "" {
		rest = "\n\n" + rest
	}
	return strings.TrimRight(text[:end], " \t\r\n") + "\n" + strings.TrimRight(b.String(), "\n") + rest
}

// referenceLine renders one anchor as data: in a code span, or in a fence when it has several lines.
func referenceLine(a Anchor) string {
	label := "- " + labels[a.Class] + ": "
	run := 0
	for i, n := 0, 0; i < len(a.Text); i++ {
		if a.Text[i] != '`' {
			n = 0
			continue
		}
		n++
		run = max(run, n)
	}
	if strings.ContainsAny(a.Text, "\r\n") {
		fence := strings.Repeat("`", max(3, run+1))
		return label + "\n" + fence + "\n" + a.Text + "\n" + fence + "\n"
	}
	ticks, pad := strings.Repeat("`", run+1), ""
	if run > 0 {
		pad = " "
	}
	return label + ticks + pad + a.Text + pad + ticks + "\n"
}

// referencesSpan finds the block in a text: from its heading to the next one, -1 when there is none.
func referencesSpan(text string) (begin, end int) {
	if !strings.Contains(text, referencesHeading.Title) {
		return -1, -1
	}
	lines, _ := outline.Scan(text)
	begin, end = -1, len(text)
	for _, l := range lines {
		switch {
		case begin < 0 && l.Heading == referencesHeading:
			begin = l.Offset
		case begin >= 0 && (l.Heading.Level > 0 || !l.Fenced && isFilesTag(l.Text) || !l.Fenced && l.Text == "---"):
			return begin, l.Offset
		}
	}
	if begin < 0 {
		end = -1
	}
	return begin, end
}

// referencesOf reads the anchors of the block in a summary back.
func referencesOf(text string) []Anchor {
	begin, end := referencesSpan(text)
	if begin < 0 {
		return nil
	}
	var out []Anchor
	for line := range strings.SplitSeq(text[begin:end], "\n") {
		for _, c := range []Class{ClassConstraint, ClassPath, ClassIdentifier, ClassError, ClassNumber, ClassCommand} {
			rest, ok := strings.CutPrefix(line, "- "+labels[c]+": `")
			if value, closed := strings.CutSuffix(rest, "`"); ok && closed {
				out = append(out, Anchor{Class: c, Text: value})
			}
		}
	}
	return out
}

// filesAt is where the file lists begin that end a summary (spec/summary §9.3), -1 when there are none.
func filesAt(text string) int {
	lines, _ := outline.Scan(text)
	for _, l := range lines {
		if !l.Fenced && !l.Quoted && isFilesTag(l.Text) {
			return l.Offset
		}
	}
	return -1
}

func isFilesTag(line string) bool {
	return line == "<files>" || line == "<read-files>" || line == "<modified-files>"
}
