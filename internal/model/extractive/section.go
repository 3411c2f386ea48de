package extractive

import (
	"fmt"
	"slices"
	"strings"

	"recap/internal/compaction/gate/outline"
	"recap/internal/tokens"
)

// item is one thing a section says. It is taken whole or left out.
type item struct {
	lines []string // the first without list marker, the rest without indentation
	// rank orders what is taken when room is short: 0 first.
	rank int
	// rung orders items of equal rank.
	rung  int
	taken bool
}

func (it item) tokens(s *section) int {
	n := len(s.bullet) + 1
	for _, l := range it.lines {
		n += len(l) + 1 + len(s.indent)
	}
	return (n + 3) / 4
}

// The ranks of items.
const (
	rankVital   = iota // requests, what is pending
	rankHigh           // constraints, open failures, files
	rankMiddle         // decisions, recent progress, state
	rankLow            // what earlier generations handed on, commands
	rankPadding        // nice to have
)

// section is one heading with its items.
type section struct {
	heading  outline.Heading
	bullet   string // before an item's first line; "1" numbers them
	indent   string // before its other lines
	share    int    // per cent of the whole text that it may take before others had their turn
	group    bool   // only holds other sections
	items    []item
	omitted  int // left out by earlier generations
	seen     map[string]bool
	numbered bool
}

func newSection(h outline.Heading, bullet string, share int) *section {
	return &section{
		heading: h, bullet: bullet, indent: strings.Repeat(" ", min(2, len(bullet))), share: share, seen: map[string]bool{},
	}
}

// add appends an item unless the section says it already.
func (s *section) add(rank int, lines ...string) {
	key := normal(strings.Join(lines, "\n"))
	if len(lines) == 0 || key == "" || s.seen[key] {
		return
	}
	s.seen[key] = true
	s.items = append(s.items, item{lines: lines, rank: rank})
}

// addAll appends items of one kind and ranks them among each other: the newest first.
func (s *section) addAll(rank int, all [][]string) {
	from := len(s.items)
	for _, lines := range all {
		s.add(rank, lines...)
	}
	for i := from; i < len(s.items); i++ {
		s.items[i].rung = len(s.items) - i
	}
}

// addEnds is addAll for items whose first ones matter as much as the last ones.
func (s *section) addEnds(rank int, all [][]string) {
	from := len(s.items)
	for _, lines := range all {
		s.add(rank, lines...)
	}
	for i := from; i < len(s.items); i++ {
		s.items[i].rung = min(i-from, len(s.items)-1-i)
	}
}

func normal(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// barely is the limit in tokens under which empty sections lose their headings: omitting them is
// allowed, and there is no room for politeness.
const barely = 300

// render takes the items that fit the limit, the important ones first, and writes the sections.
func render(sections []*section, limit int) string {
	room := limit - overhead(sections, limit)
	type ref struct{ s, i int }
	var order []ref
	for si, s := range sections {
		for ii := range s.items {
			order = append(order, ref{si, ii})
		}
	}
	slices.SortStableFunc(order, func(a, b ref) int {
		x, y := sections[a.s].items[a.i], sections[b.s].items[b.i]
		if x.rank != y.rank {
			return x.rank - y.rank
		}
		return x.rung - y.rung
	})
	spent := make([]int, len(sections))
	for _, capped := range []bool{true, false} {
		for _, r := range order {
			s := sections[r.s]
			it := &s.items[r.i]
			cost := it.tokens(s)
			if it.taken || cost > room || (capped && it.rank > rankVital && spent[r.s]+cost > limit*s.share/100) {
				continue
			}
			it.taken = true
			room -= cost
			spent[r.s] += cost
		}
	}
	return write(sections, limit)
}

// overhead estimates what headings and notes about omissions take.
func overhead(sections []*section, limit int) int {
	n := 0
	for _, s := range sections {
		if limit < barely && len(s.items) == 0 {
			continue
		}
		n += tokens.Text(s.heading.String()) + 2
		if len(s.items) == 0 && !s.group {
			n += tokens.Text(none)
		} else if len(s.items) > 0 && limit >= barely {
			n += 10
		}
	}
	return n
}

// none marks an empty section.
const none = "- (none)"

func write(sections []*section, limit int) string {
	var b strings.Builder
	for _, s := range sections {
		omitted, number := s.omitted, 0
		var body strings.Builder
		for i, it := range s.items {
			if !it.taken {
				omitted++
				continue
			}
			number++
			s.write(&body, it, number, i > 0)
		}
		if omitted > 0 && limit >= barely {
			fmt.Fprintf(&body, "%s[… %s left out …]\n", s.plainBullet(), count(omitted, "item"))
		}
		if body.Len() == 0 && limit < barely {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.heading.String() + "\n")
		switch {
		case body.Len() > 0:
			b.WriteString(body.String())
		case !s.group:
			b.WriteString(none + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func (s *section) plainBullet() string {
	if s.bullet == "" {
		return "\n"
	}
	return "- "
}

func (s *section) write(b *strings.Builder, it item, number int, apart bool) {
	bullet, indent := s.bullet, s.indent
	if s.numbered {
		bullet = fmt.Sprintf("%d. ", number)
		indent = strings.Repeat(" ", len(bullet))
	}
	if bullet == "" && apart && b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(bullet + it.lines[0] + "\n")
	for _, l := range it.lines[1:] {
		if l != "" {
			l = indent + l
		}
		b.WriteString(l + "\n")
	}
}

// count renders a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
