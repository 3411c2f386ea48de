package extractive

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"recap/internal/compaction/gate/outline"
)

// carried is one item of the previous summary: its first line without list marker, and what belongs
// to it.
type carried struct{ lines []string }

func (c carried) head() string { return c.lines[0] }

// quote returns the block quote that belongs to the item, as text.
func (c carried) quote() string {
	var out []string
	for _, l := range c.lines[1:] {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(l, " "), ">"); ok {
			out = append(out, strings.TrimPrefix(rest, " "))
		}
	}
	return strings.Join(out, "\n")
}

// previous is the summary that is to be updated, taken apart by sections.
type previous struct {
	items map[outline.Heading][]carried
	// omitted is how many items earlier generations left out, per section.
	omitted map[outline.Heading]int
}

func (p *previous) empty() bool { return len(p.items) == 0 }

var (
	fileBlocks = regexp.MustCompile(`(?s)<(files|read-files|modified-files)>.*?</(?:files|read-files|modified-files)>`)
	omittedRow = regexp.MustCompile(`^\[… (\d+) items? left out …\]$`)
	taskMark   = regexp.MustCompile(`^\[[ xX]\] `)
	splitMark  = "**Turn Context (split turn):**"
	noneMark   = regexp.MustCompile(`(?i)^[(\[]?none(?: found| noted)?[)\]]?\.?$`)
)

// longestCarried bounds one carried item, in bytes: an item may be taken over whole or not at
// all, so a page of prose is taken apart.
const longestCarried = 1500

// readPrevious takes a summary apart. It reads its own form, a model's, the assembled form with the
// beginning of a split turn, and text without any heading.
func readPrevious(text string) *previous {
	p := &previous{items: map[outline.Heading][]carried{}, omitted: map[outline.Heading]int{}}
	text = fileBlocks.ReplaceAllString(strings.TrimSpace(text), "")
	if text == "" {
		return p
	}
	lines, open := outline.Scan(text)
	section, prefix := outline.AdditionalNotes, ""
	var item []string
	flush := func() {
		p.take(section, item)
		item = nil
	}
	for i, l := range lines {
		if l.Heading.Level > 0 {
			flush()
			section, prefix = sectionOf(section, l.Heading)
			if prefix != "" {
				item = []string{prefix}
			}
			continue
		}
		marker, isItem := l.ListItem()
		switch {
		case l.Fenced:
			item = append(item, l.Text)
		case l.Blank():
			if len(item) > 0 && i+1 < len(lines) && continues(lines[i+1]) {
				item = append(item, "")
			} else {
				flush()
			}
		case strings.TrimSpace(l.Text) == "---" || strings.TrimSpace(l.Text) == splitMark:
			flush()
		case isItem && indent(l.Text) < 2:
			flush()
			item = []string{taskMark.ReplaceAllString(marker, "")}
		case len(item) == 0:
			item = []string{strings.TrimSpace(l.Text)}
		default:
			item = append(item, dedent(l.Text))
		}
	}
	if open {
		item = append(item, "```")
	}
	flush()
	return p
}

// sectionOf maps a heading of the previous summary to a section of the new one. prefix labels what
// has no section of its own.
func sectionOf(current outline.Heading, h outline.Heading) (section outline.Heading, prefix string) {
	switch i := outline.FindTitle(outline.Of(""), h.Title); {
	case i < 0 && h.Level > 3:
		return current, "**" + line(h.Title, 80) + "**"
	case i < 0:
		return outline.AdditionalNotes, "**" + line(h.Title, 80) + "**"
	default:
		switch known := outline.Of("")[i]; known {
		case outline.OriginalRequest, outline.EarlyProgress:
			return outline.Done, ""
		case outline.ContextForSuffix:
			return outline.CriticalContext, ""
		case outline.Progress:
			return outline.Done, ""
		default:
			return known, ""
		}
	}
}

func (p *previous) take(section outline.Heading, item []string) {
	if len(item) == 0 || item[0] == "" || noneMark.MatchString(item[0]) {
		return
	}
	if m := omittedRow.FindStringSubmatch(item[0]); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			p.omitted[section] += n
		}
		return
	}
	if len(item) == 1 && len(item[0]) > longestCarried {
		rest := item[0]
		for rest != "" {
			part := clip(rest, longestCarried)
			if part == "" { // a single character of that size is none
				break
			}
			if sp := strings.LastIndexAny(part, ".!?。！？؟ "); len(part) < len(rest) && sp > len(part)/2 {
				_, size := utf8.DecodeRuneInString(part[sp:])
				part = part[:sp+size]
			}
			p.items[section] = append(p.items[section], carried{lines: sound([]string{strings.TrimSpace(part)})})
			rest = strings.TrimSpace(rest[len(part):])
		}
		return
	}
	p.items[section] = append(p.items[section], carried{lines: sound(item)})
}

// sound makes an item of foreign text safe to stand in a section, with or without a list marker: our
// tags are defused, and text that would read as a heading or leave a fence open is quoted.
func sound(item []string) []string {
	for i, l := range item {
		item[i] = strings.TrimRight(clean(l), "\n")
	}
	if selfContained("", item) && selfContained("- ", item) {
		return item
	}
	lines := []string{"From the earlier summary:"}
	for _, l := range item {
		lines = append(lines, "> "+l)
	}
	return lines
}

func selfContained(bullet string, item []string) bool {
	indent := strings.Repeat(" ", len(bullet))
	lines, open := outline.Scan(bullet + strings.Join(item, "\n"+indent))
	for i, l := range lines {
		if l.Heading.Level > 0 {
			return false
		}
		// An underline would make the line before it a heading.
		t := strings.TrimSpace(l.Text)
		if i > 0 && t != "" && !l.Fenced && (strings.Trim(t, "=") == "" || strings.Trim(t, "-") == "") {
			return false
		}
		// Raw HTML can swallow what follows it.
		if strings.HasPrefix(t, "<") && !l.Fenced {
			return false
		}
	}
	return !open
}

// continues reports whether a line after a blank one still belongs to the item before it.
func continues(l outline.Line) bool {
	return l.Quoted && l.Heading.Level == 0 || (indent(l.Text) >= 2 && !l.Blank())
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// dedent removes the indentation that the list marker of an item asked for.
func dedent(s string) string {
	for range 3 {
		if !strings.HasPrefix(s, " ") {
			break
		}
		s = s[1:]
	}
	return s
}
