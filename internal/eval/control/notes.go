package control

import (
	"fmt"
	"slices"
	"strings"

	"recap/internal/compaction/gate/outline"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/eval/fixture"
)

// Notes is a summary in the making: items by section.
type Notes struct {
	Part  contract.Part
	items map[outline.Heading][]string
}

// Add puts a line into a section.
func (n *Notes) Add(section outline.Heading, line string) {
	if n.items == nil {
		n.items = map[outline.Heading][]string{}
	}
	n.items[section] = append(n.items[section], line)
}

// Drop takes the lines that hold a text out of every section, and reports whether there were any.
func (n *Notes) Drop(text string) bool {
	dropped := false
	for h, lines := range n.items {
		kept := slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, text) })
		dropped = dropped || len(kept) < len(lines)
		n.items[h] = kept
	}
	return dropped
}

// Replace exchanges a text in every section.
func (n *Notes) Replace(old, new string) {
	for _, lines := range n.items {
		for i := range lines {
			lines[i] = strings.ReplaceAll(lines[i], old, new)
		}
	}
}

// Lines are the lines of a section.
func (n *Notes) Lines(section outline.Heading) []string { return n.items[section] }

// Sections are the headings of the part, of which Progress stands above its three parts.
func (n *Notes) Sections() []outline.Heading { return outline.Of(n.Part) }

// String renders the notes: sections in order, those without lines left out.
func (n *Notes) String() string {
	return n.Render(func(h outline.Heading) string { return h.String() })
}

// Render is String with another way to write headings.
func (n *Notes) Render(heading func(outline.Heading) string) string {
	var b strings.Builder
	for _, h := range n.Sections() {
		lines := n.items[h]
		above := h == outline.Progress && len(n.items[outline.Done])+len(n.items[outline.InProgress])+len(n.items[outline.Blocked]) > 0
		if len(lines) == 0 && !above {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(heading(h) + "\n")
		for i, l := range lines {
			switch h {
			case outline.Goal, outline.OriginalRequest:
				b.WriteString(l + "\n")
			case outline.Done:
				b.WriteString("- [x] " + l + "\n")
			case outline.InProgress:
				b.WriteString("- [ ] " + l + "\n")
			case outline.NextSteps:
				fmt.Fprintf(&b, "%d. %s\n", i+1, l)
			default:
				b.WriteString("- " + l + "\n")
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// Reached returns the planted facts whose words are in the request: a summariser can keep no others.
func Reached(s *fixture.Session, req *transcript.Request) []fixture.Fact {
	var out []fixture.Fact
	for _, f := range s.Facts {
		if InRequest(req, f.Needle) {
			out = append(out, f)
		}
	}
	return out
}

// InRequest reports whether a request holds a text.
func InRequest(req *transcript.Request, text string) bool {
	if strings.Contains(req.PreviousSummary, text) || slices.ContainsFunc(req.Context, func(l string) bool { return strings.Contains(l, text) }) {
		return true
	}
	for i := range req.Conversation {
		b := &req.Conversation[i]
		if strings.Contains(b.Text, text) {
			return true
		}
		for _, c := range b.Calls {
			for _, a := range c.Args {
				if strings.Contains(a.JSON, text) {
					return true
				}
			}
		}
	}
	return false
}

// lastAsk is the newest text of the user in a request.
func lastAsk(req *transcript.Request) string {
	for i := len(req.Conversation) - 1; i >= 0; i-- {
		if b := &req.Conversation[i]; b.Role == transcript.User {
			return oneLine(b.Text, 400)
		}
	}
	return ""
}

// oneLine is the end of a text, at most so many characters of it, on one line.
func oneLine(text string, most int) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	return string(r[max(0, len(r)-most):])
}

// changed are the last few files that the conversation of an update changed: the new work.
func changed(req *transcript.Request) []string {
	var out []string
	for i := len(req.Conversation) - 1; i >= 0 && req.PreviousSummary != "" && len(out) < 4; i-- {
		for _, c := range req.Conversation[i].Calls {
			for _, a := range c.Args {
				path := strings.Trim(a.JSON, `"`)
				if c.Name == "edit" && a.Key == "path" && !slices.Contains(out, path) {
					out = append(out, path)
				}
			}
		}
	}
	return out
}

// Take writes the notes a careful summariser makes of a request: every fact that reached it, in its
// section, beside a few sentences of narrative and the newest request.
func Take(s *fixture.Session, req *transcript.Request, facts []fixture.Fact) *Notes {
	n := &Notes{Part: req.Part}
	ask := lastAsk(req)
	narrative := s.Narrative()
	if req.Part == contract.PartTurnPrefix {
		n.Add(outline.OriginalRequest, ask)
		n.Add(outline.EarlyProgress, narrative[2])
		for _, f := range facts {
			section := outline.ContextForSuffix
			if f.Section == outline.Done || f.Section == outline.Blocked {
				section = outline.EarlyProgress
			}
			n.Add(section, f.Noted)
		}
		return n
	}
	n.Add(outline.Goal, narrative[0])
	n.Add(outline.InProgress, narrative[2])
	n.Add(outline.Done, narrative[1])
	for _, path := range changed(req) {
		n.Add(outline.Done, "`"+path+"`")
	}
	for _, f := range facts {
		n.Add(f.Section, f.Noted)
	}
	if ask != "" {
		n.Add(outline.CriticalContext, "“"+ask+"”")
	}
	return n
}
