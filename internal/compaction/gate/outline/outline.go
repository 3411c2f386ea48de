// Package outline knows the headings a summary has (spec/summary §5.3) and reads Markdown line by
// line, aware of fences and block quotes, so that quoted text can never pass for structure. The gate
// judges with it and the extractive summariser writes and re-reads its own text with it.
//
// It is pure and imports the standard library and contract only.
package outline

import (
	"strings"

	"recap/internal/contract"
)

// Heading is one heading of a summary: its level and its title.
type Heading struct {
	Level int
	Title string
}

// String renders the heading as a Markdown line.
func (h Heading) String() string { return strings.Repeat("#", h.Level) + " " + h.Title }

// Headings of a history summary, in order.
var (
	Goal            = Heading{2, "Goal"}
	Constraints     = Heading{2, "Constraints & Preferences"}
	Progress        = Heading{2, "Progress"}
	Done            = Heading{3, "Done"}
	InProgress      = Heading{3, "In Progress"}
	Blocked         = Heading{3, "Blocked"}
	KeyDecisions    = Heading{2, "Key Decisions"}
	NextSteps       = Heading{2, "Next Steps"}
	CriticalContext = Heading{2, "Critical Context"}
	AdditionalNotes = Heading{2, "Additional Notes"}
)

// Headings of the summary of a turn's beginning, in order.
var (
	OriginalRequest  = Heading{2, "Original Request"}
	EarlyProgress    = Heading{2, "Early Progress"}
	ContextForSuffix = Heading{2, "Context for Suffix"}
)

var (
	history = []Heading{
		Goal, Constraints, Progress, Done, InProgress, Blocked, KeyDecisions, NextSteps, CriticalContext, AdditionalNotes,
	}
	turnPrefix = []Heading{OriginalRequest, EarlyProgress, ContextForSuffix}
	whole      = append(append([]Heading{}, history...), turnPrefix...)
)

// Of returns the headings of a part in their order. The empty part is the assembled text: the
// history's headings, then the turn prefix's. The caller must not change the slice.
func Of(part contract.Part) []Heading {
	switch part {
	case contract.PartHistory:
		return history
	case contract.PartTurnPrefix:
		return turnPrefix
	default:
		return whole
	}
}

// Find returns the position of a heading in the list, -1 when it is none of them. Level and title
// must match; case and white space do not matter.
func Find(list []Heading, h Heading) int {
	for i, known := range list {
		if known.Level == h.Level && sameTitle(known.Title, h.Title) {
			return i
		}
	}
	return -1
}

// FindTitle is Find for any level.
func FindTitle(list []Heading, title string) int {
	for i, known := range list {
		if sameTitle(known.Title, title) {
			return i
		}
	}
	return -1
}

func sameTitle(a, b string) bool {
	return strings.EqualFold(a, b) || strings.EqualFold(normalTitle(a), normalTitle(b))
}

// normalTitle drops what writers vary: "and" for "&", a closing colon, emphasis marks.
func normalTitle(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "*_:： ")
	return strings.Join(strings.Fields(strings.ReplaceAll(s, " and ", " & ")), " ")
}
