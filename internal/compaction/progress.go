package compaction

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"recap/internal/compaction/reduce"
	"recap/internal/contract"
	"recap/internal/session"
	"recap/internal/tokens"
)

// recoveryBand is the share of the threshold that a compaction must get below, so that the next turn
// does not reach it again at once (spec/summary §3.10).
const recoveryBand = 0.8

// deadEnd begins the warning of a compaction that freed too little; frontends look for it.
const deadEnd = "Compaction freed too little context to make progress"

// bar is what the context must get below for an automatic compaction to have made progress, in
// tokens; 0 = no bar: the window is unknown, or nothing waits for the result.
func bar(in Input) int {
	if in.Window <= 0 {
		return 0
	}
	switch in.Reason {
	case contract.ReasonOverflow, contract.ReasonIncomplete: // the same request is sent again and must fit
		return max(1, in.Window-tokens.BudgetReserve(in.Window, in.Settings.ReserveTokens))
	case contract.ReasonThreshold, contract.ReasonMidTurn:
		return band(in)
	}
	return 0
}

// band is the bar of requests that wait for no retry.
func band(in Input) int {
	t := tokens.ParseThreshold(in.Settings.Threshold)
	return max(1, int(recoveryBand*float64(tokens.Resolve(t, in.Window, in.Settings.ReserveTokens).Tokens)))
}

// blocked warns of an automatic request for which there is nothing to compact while the context is
// over the band: it is a dead end as well (spec/summary §3.10).
func (p *preparation) blocked(err error) error {
	var skip *Skip
	if !errors.As(err, &skip) || skip.Code != contract.CodeNothingToCompact || p.keep == 0 || p.in.Window <= 0 ||
		p.in.Reason == contract.ReasonManual || p.in.Reason == contract.ReasonIdle {
		return err
	}
	if bar := band(p.in); p.measured.Tokens > bar {
		skip.Warning = noProgress(p.measured.Tokens, bar)
	}
	return skip
}

func noProgress(left, bar int) string {
	return fmt.Sprintf("%s: about %d tokens are left where at most %d would do. Automatic compaction pauses until "+
		"something new is said; start a fresh session, or use a model with a larger window.", deadEnd, left, bar)
}

// Progress is how a compaction stands against its bar.
type Progress struct {
	Tokens     int // estimate of the context afterwards, rescue included
	Reductions []Reduction
	Artifacts  []Artifact
	Notice     string // what the rescue did, "" when nothing
	Warning    string // the dead end, "" when the bar is met
}

// Check compares the context after a compaction with the plan's bar. Over it, and where entries may be
// rewritten, the rescue tiers shrink the kept tail; what is still over it is a dead end, which is said
// on the entry and ends automatic work until something new comes (spec/summary §3.10–§3.12).
func Check(p *Plan, l *session.Log, b session.Bodies, summary string, now time.Time) (Progress, error) {
	out := Progress{Tokens: TokensAfter(p, summary), Reductions: p.Reductions}
	if p.Bar == 0 || out.Tokens <= p.Bar {
		return out, nil
	}
	if p.Settings.ReduceInPlace && p.FirstKeptEntryID != session.KeepNothing {
		if err := out.rescue(p, l, b, now); err != nil {
			return out, err
		}
	}
	if out.Tokens > p.Bar {
		out.Warning = noProgress(out.Tokens, p.Bar)
	}
	return out, nil
}

// rescue runs the tiers in order until the bar is met.
func (out *Progress) rescue(p *Plan, l *session.Log, b session.Bodies, now time.Time) error {
	path, _, err := Path(l, p.Settings.SkipDamaged)
	if err != nil {
		return err
	}
	kept := slices.IndexFunc(path, func(e *session.Entry) bool { return e.ID == p.FirstKeptEntryID })
	if kept < 0 {
		return nil // who commits refuses such a plan
	}
	tail, err := reduce.ReadFrom(reduce.Source{Path: path, Bodies: b, Partial: l.Partial, Now: now}, kept)
	if err != nil {
		return err
	}
	r := reductions{operation: p.Operation + " rescue", tail: tail}
	for _, made := range p.Reductions {
		if err := r.make(reduce.Pass{Decisions: made.Decisions}); err != nil {
			return nil // an entry is not as planned: who commits refuses such a plan
		}
	}
	before := r.tail.Tokens()
	rules := reduce.DefaultRescueRules()
	rules.Point = r.point
	rescued, err := r.tail.Rescue(rules, func(t *reduce.Tail) int { return out.Tokens - (before - t.Tokens()) - p.Bar })
	if err != nil {
		return err
	}
	for _, pass := range rescued.Passes {
		if err := r.make(pass); err != nil {
			return err
		}
	}
	out.Tokens -= before - r.tail.Tokens()
	out.Reductions, _ = r.from(kept)
	out.Artifacts, out.Notice = r.artifacts, rescued.Notice(true)
	return nil
}
