package cli

import (
	"context"
	"fmt"

	"recap/internal/client/record"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/workers"
)

// finalOutcome is what compact prints: the outcome and, where the caller is to write it, the
// compaction.
type finalOutcome struct {
	contract.Outcome
	Compaction *record.Compaction `json:"compaction,omitempty"`
}

func (a *app) finished(ctx context.Context, l *link, out contract.Outcome, failOnNoop bool) error {
	final := finalOutcome{Outcome: out}
	if out.State == contract.StateReturned {
		c, err := a.compaction(ctx, l.cfg, out)
		if err != nil {
			return err
		}
		final.Compaction = &c
	}
	if err := a.print(final, func(p *printer) { outcomeText(p, final) }); err != nil {
		return err
	}
	return exitWith(exitOfOutcome(out, failOnNoop))
}

func (a *app) compaction(ctx context.Context, cfg *config.Config, out contract.Outcome) (record.Compaction, error) {
	blobs, err := workers.OpenBlobs(cfg)
	if err != nil {
		return record.Compaction{}, err
	}
	return record.Read(ctx, blobs, out.Session.Tenant, out.Operation)
}

// outcomeText prints an outcome for a person.
func outcomeText(p *printer, o finalOutcome) {
	p.heading("%s: %s", o.State, printable(o.Message))
	p.field("operation", fmt.Sprintf("%s (attempt %d)", o.Operation, o.Attempt))
	p.field("session", o.Session.String())
	p.field("reason", string(o.Reason))
	p.field("entry", o.EntryID)
	if o.Summarized+o.Kept > 0 {
		p.field("tokens", fmt.Sprintf("%s before, %s after", tokens(o.TokensBefore), tokens(o.TokensAfter)))
		p.field("messages", fmt.Sprintf("%s summarised, %s kept (first kept entry %s)", grouped(o.Summarized), grouped(o.Kept), o.FirstKeptEntryID))
	}
	p.field("candidate", o.Candidate)
	if u := o.Usage; u != (contract.Usage{}) {
		p.field("usage", usageText(u, o.Cost))
	}
	for _, a := range o.Attempts {
		if a.Class != "" {
			p.field("attempt", attemptText(a))
		}
	}
	for _, w := range o.Warnings {
		p.field("warning", printable(w))
	}
	if o.Compaction != nil {
		p.line("")
		p.block(o.Compaction.Summary)
	}
}

func usageText(u contract.Usage, cost float64) string {
	s := fmt.Sprintf("%s tokens in, %s out", grouped(u.InputTokens+u.CacheReadTokens+u.CacheWriteTokens), grouped(u.OutputTokens))
	if u.Estimated {
		s += " (estimated)"
	}
	if cost > 0 {
		s += fmt.Sprintf(", $%.4f", cost)
	}
	return s
}

func attemptText(a contract.Attempt) string {
	s := fmt.Sprintf("%d %s %s", a.Number, a.Candidate, a.Part)
	switch {
	case a.Class == "":
		s += ": accepted"
	case len(a.Reasons) > 0:
		s += fmt.Sprintf(": %s %v", a.Class, a.Reasons)
	default:
		s += ": " + a.Class
	}
	if a.Reused {
		s += ", answer reused"
	}
	if a.TookMs > 0 {
		s += ", " + took(a.TookMs)
	}
	if a.Message != "" {
		s += ": " + printable(a.Message)
	}
	return s
}
