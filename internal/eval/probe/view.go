package probe

import (
	"strings"
	"unicode"

	"recap/internal/compaction/gate/outline"
)

// line is one line of a view, normalised, with the title of the section it stands in. Lines outside a
// summary are in no section, and in none that could be wrong.
type line struct {
	text, section string
	heading       bool
}

// View is what can be asked: a summary, what follows it in the context, and what the entry stores
// beside it.
type View struct {
	lines  []line
	ledger map[string]bool
	tokens map[string]bool // path- and identifier-shaped, for near misses
}

// NewView reads a summary. The file tree at its end is read back into paths.
func NewView(summary string) *View {
	v := &View{ledger: map[string]bool{}}
	section := ""
	body, files := splitFiles(summary)
	scanned, _ := outline.Scan(body)
	for _, l := range scanned {
		if h := l.Heading; h.Level > 0 {
			section = title(h.Title)
		}
		v.lines = append(v.lines, line{text: Normalize(l.Text), section: section, heading: l.Heading.Level > 0})
	}
	for _, p := range files {
		v.lines = append(v.lines, line{text: Normalize(p)})
	}
	return v
}

// title is a heading's title as sections are compared.
func title(s string) string {
	for _, h := range outline.Of("") {
		if outline.Find([]outline.Heading{h}, outline.Heading{Level: h.Level, Title: s}) == 0 {
			return h.Title
		}
	}
	return s
}

// Follow adds text that stands outside the summary: the kept tail.
func (v *View) Follow(text string) {
	for l := range strings.SplitSeq(Normalize(text), "\n") {
		v.lines = append(v.lines, line{text: l})
	}
	v.tokens = nil
}

// Store adds what the compaction entry stores beside its summary.
func (v *View) Store(list ...string) {
	for _, s := range list {
		v.ledger[Normalize(s)] = true
	}
}

// tokenSet returns the words of the view that could be paths or identifiers.
func (v *View) tokenSet() map[string]bool {
	if v.tokens == nil {
		v.tokens = map[string]bool{}
		for i := range v.lines {
			for _, w := range strings.FieldsFunc(v.lines[i].text, func(r rune) bool {
				return r > unicode.MaxASCII || !(r == '_' || r == '-' || r == '/' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r))
			}) {
				if w = strings.Trim(w, ".-/"); len(w) >= 4 {
					v.tokens[w] = true
				}
			}
		}
	}
	return v.tokens
}

// splitFiles takes the <files> block off a summary and lists its paths in full.
func splitFiles(summary string) (body string, paths []string) {
	body, rest, found := strings.Cut(summary, "<files>\n")
	if !found {
		return summary, nil
	}
	block, after, _ := strings.Cut(rest, "</files>")
	return body + after, ReadTree(block)
}

// ReadTree reads the lines of a <files> block back into paths: directories are headings, their depth
// is the number of marks, and a mode stands behind each file.
func ReadTree(block string) []string {
	var paths, dirs []string
	for l := range strings.SplitSeq(block, "\n") {
		name := strings.TrimLeft(l, "#")
		depth := len(l) - len(name)
		if depth > 0 && strings.HasPrefix(name, " ") {
			dirs = append(dirs[:min(depth-1, len(dirs))], strings.TrimSuffix(name[1:], "/"))
			continue
		}
		file, mode, found := cutLast(l, " (")
		if !found || !strings.HasSuffix(mode, ")") {
			continue
		}
		paths = append(paths, strings.Join(append(append([]string{}, dirs...), file), "/"))
	}
	return paths
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
