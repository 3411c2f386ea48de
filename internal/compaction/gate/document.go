package gate

import (
	"strings"
	"unicode/utf8"

	"recap/internal/compaction/gate/outline"
)

// tokenCount is the documented estimate (DESIGN §11): UTF-8 bytes / 4, rounded up.
func tokenCount(s string) int { return (len(s) + 3) / 4 }

// document is an answer read once for all checks.
type document struct {
	text    string
	all     []outline.Line // without the file lists at the end
	lines   []outline.Line // of these, without the block of references
	open    bool           // a fence was never closed
	letters int
	order   []int // positions of the known headings, in the order they appear
	known   int   // distinct known headings
	any     int   // headings of any kind, localised ones included
}

func (j *judgement) read(text string) {
	d := &document{text: strings.TrimSpace(text)}
	if !utf8.ValidString(d.text) {
		d.text = strings.TrimSpace(strings.ToValidUTF8(d.text, "\uFFFD"))
	}
	d.all, d.open = outline.Scan(d.text)
	d.all = withoutFiles(d.all)
	d.lines = withoutReferences(d.all)
	list := outline.Of(j.in.Part)
	seen := make(map[int]bool, len(list))
	for _, l := range d.lines {
		if l.Heading.Level == 0 {
			continue
		}
		if l.Heading.Level > 1 {
			d.any++
		}
		if i := outline.Find(list, l.Heading); i >= 0 {
			d.order = append(d.order, i)
		}
		if i := outline.FindTitle(list, l.Heading.Title); i >= 0 && !seen[i] {
			seen[i] = true
			d.known++
		}
	}
	d.letters = letters(d.all) // with the block of references: what is appended never takes substance away
	j.d = d
}

// withoutFiles leaves out file lists: they are the service's own and have a form of their own.
func withoutFiles(lines []outline.Line) []outline.Line {
	for i := 0; i < len(lines); i++ {
		if lines[i].Fenced || lines[i].Quoted || !isFilesTag(lines[i].Text) {
			continue
		}
		closing := "</" + lines[i].Text[1:]
		for k := i + 1; k < len(lines); k++ {
			if lines[k].Text == closing {
				lines = append(lines[:i:i], lines[k+1:]...)
				i--
				break
			}
		}
	}
	return lines
}

func withoutReferences(lines []outline.Line) []outline.Line {
	for i := range lines {
		if lines[i].Heading != referencesHeading {
			continue
		}
		for k := i + 1; k < len(lines); k++ {
			if lines[k].Heading.Level > 0 || !lines[k].Fenced && lines[k].Text == "---" {
				return append(lines[:i:i], lines[k:]...)
			}
		}
		return lines[:i:i]
	}
	return lines
}
