package gate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"recap/internal/compaction/gate/outline"
	"recap/internal/contract"
)

// checkFences is the first half of G3.
func checkFences(_ *Input, d *document, _ *Measurements) contract.Code {
	if d.open {
		return CodeOpenFence
	}
	return ""
}

// checkCut is the second half of G3: does the last sentence break off? A finish reason has said that
// it does not, so the text must say clearly that it does.
func checkCut(in *Input, d *document, _ *Measurements) contract.Code {
	last, before := lastLine(d.lines)
	if last == nil || last.Fenced || last.Quoted || last.Heading.Level > 0 {
		return ""
	}
	text := strings.TrimSpace(last.Text)
	item, isItem := last.ListItem()
	if isItem {
		text = item
	}
	if strings.HasPrefix(text, "|") || strings.HasPrefix(text, "<") { // a table row, a tag
		return ""
	}
	end, _ := utf8.DecodeLastRuneInString(text)
	switch {
	case endsSentence(end):
		return ""
	case strings.ContainsRune(",，、(（[［{«„“‘=&+–—", end):
		return CodeCutOff
	case connective(text) && (!isItem || words(text) > 2):
		return CodeCutOff
	case strings.Count(text, "`")%2 == 1 || strings.Count(text, "**")%2 == 1:
		return CodeCutOff
	case isItem || !(unicode.IsLetter(end) || end == '-'):
		return ""
	}
	// Prose that ends in a word: suspicious only beside other prose that always ends its sentences,
	// or when the budget was used up.
	if in.MaxOutput > 0 && 100*tokenCount(d.text) >= 98*in.MaxOutput {
		return CodeCutOff
	}
	if before >= 2 && !in.Small() && words(text) >= 5 {
		return CodeCutOff
	}
	return ""
}

// lastLine returns the last line with text, and how many prose lines before it end a sentence, 0 as
// soon as one does not.
func lastLine(lines []outline.Line) (last *outline.Line, sentences int) {
	for i := len(lines) - 1; i >= 0; i-- {
		l := &lines[i]
		if l.Blank() {
			continue
		}
		if last == nil {
			last = l
			continue
		}
		_, item := l.ListItem()
		if item || l.Fenced || l.Quoted || l.Heading.Level > 0 || (i+1 < len(lines) && !lines[i+1].Blank()) {
			continue
		}
		end, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(l.Text))
		if !endsSentence(end) {
			return last, 0
		}
		sentences++
	}
	return last, sentences
}

func endsSentence(r rune) bool {
	return strings.ContainsRune(".!?:;…。！？：；.।॥؟۔؛)）]］}\"'`*_|»”’」』>~", r)
}

func words(s string) int { return len(strings.Fields(s)) }

// connectives end no sentence in any of the languages: words that can, in one of them, are left out
// ("what we wait for", "known as", "must not die").
var connectives = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`the an and or because which whose und oder weil dem eine les un une et ou des du parce
		el los las y del porque uma dos das или на для из потому في إلى على التي الذي أو`) {
		m[w] = true
	}
	return m
}()

func connective(s string) bool {
	f := strings.Fields(s)
	return len(f) > 0 && utf8.RuneCountInString(f[len(f)-1]) > 1 && connectives[f[len(f)-1]]
}

// checkOrder is G4: known headings must come in order, however many are left out. It stays on for
// small sessions (DESIGN §11).
func checkOrder(_ *Input, d *document, _ *Measurements) contract.Code {
	for i := 1; i < len(d.order); i++ {
		if d.order[i] < d.order[i-1] && !repeats(d.order, i) {
			return CodeSectionOrder
		}
	}
	return ""
}

// checkRepeated is G4: no known heading twice. It stays on for small sessions (DESIGN §11).
func checkRepeated(_ *Input, d *document, _ *Measurements) contract.Code {
	for i := range d.order {
		if repeats(d.order, i) {
			return CodeSectionRepeated
		}
	}
	return ""
}

// repeats reports whether the i-th heading was there before.
func repeats(order []int, i int) bool {
	for _, o := range order[:i] {
		if o == order[i] {
			return true
		}
	}
	return false
}

// checkPresence is G4: sections may be left out, but an answer without any is no summary. Headings in
// another language count when there are several.
func checkPresence(in *Input, d *document, _ *Measurements) contract.Code {
	if in.Small() || d.known > 0 || d.any >= 3 {
		return ""
	}
	return CodeSectionsMissing
}

// checkHollow is G4: headings alone are no sections. A few empty ones are forgiven: leaving a section
// out and leaving it empty say the same.
func checkHollow(in *Input, d *document, _ *Measurements) contract.Code {
	if in.Small() {
		return ""
	}
	list := outline.Of(in.Part)
	full, hollow := 0, 0
	for i, l := range d.lines {
		if l.Heading.Level == 0 || outline.Find(list, l.Heading) < 0 {
			continue
		}
		content := false
		k := i + 1
		for ; k < len(d.lines) && d.lines[k].Heading.Level == 0; k++ {
			content = content || !d.lines[k].Blank()
		}
		switch {
		case content:
			full++
		case k < len(d.lines) && d.lines[k].Heading.Level > l.Heading.Level: // its sections are below it
		default:
			hollow++
		}
	}
	if hollow >= 3 && hollow > full {
		return CodeSectionsHollow
	}
	return ""
}
