package cli

import (
	"fmt"
	"strings"
	"time"

	"recap/internal/event"
	"recap/internal/session"
)

// demoText is what a person wants to know of a compaction.
func demoText(p *printer, r *demoReport, workflowID string) {
	o := r.Outcome
	p.line("")
	if r.Summary == "" {
		outcomeText(p, finalOutcome{Outcome: o})
		addressesText(p, r.addresses)
		return
	}
	p.heading("Result: %s", o.State)
	p.field("tokens", fmt.Sprintf("%s before, %s after", tokens(o.TokensBefore), tokens(o.TokensAfter)))
	p.field("summarised", fmt.Sprintf("%s messages, from %q", grouped(o.Summarized), excerpt(firstUser(r.before.Messages))))
	p.field("kept", fmt.Sprintf("%s messages as they were, from entry %s on, up to %q", grouped(o.Kept), o.FirstKeptEntryID, excerpt(lastUser(r.after.Messages))))
	p.field("candidate", o.Candidate)
	p.field("took", demoTook(r.Events))
	p.line("")
	p.heading("The summary, as the agent will read it")
	p.block(r.Summary)
	p.line("")
	p.heading("Look around")
	p.field("session", r.Session)
	p.field("workflow", workflowID)
	addressesText(p, r.addresses)
	if r.ownStack && !r.keep {
		p.line("  The servers stop now; `recap demo --keep-running` leaves them and the Temporal UI open.")
	}
	p.line("")
	p.line("  recap explain %s", o.Operation)
	p.line("  recap context %s", r.Session)
}

// demoTook is the time between the first and the last event.
func demoTook(events []event.Body) string {
	if len(events) < 2 {
		return ""
	}
	first, err1 := time.Parse(time.RFC3339, events[0].Time)
	last, err2 := time.Parse(time.RFC3339, events[len(events)-1].Time)
	if err1 != nil || err2 != nil {
		return ""
	}
	return took(last.Sub(first).Milliseconds())
}

func firstUser(messages []session.Message) string {
	for i := range messages {
		if messages[i].Role == session.RoleUser {
			return messages[i].Text(" ")
		}
	}
	return ""
}

func lastUser(messages []session.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == session.RoleUser {
			return messages[i].Text(" ")
		}
	}
	return ""
}

// excerptRunes is how much of a message is quoted in one line.
const excerptRunes = 80

func excerpt(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	r := []rune(s)
	if len(r) <= excerptRunes {
		return s
	}
	return strings.TrimSpace(string(r[:excerptRunes])) + " …"
}
