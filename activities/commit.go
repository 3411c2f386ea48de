package activities

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/store"
)

// commitTries bounds how often a commit starts over because somebody else wrote in between.
const commitTries = 10

// Commit writes the one entry of the operation, or hands the compaction to the caller, and writes
// the receipt. It may run twice: the entry carries its operation, and that is what a second run
// finds (promise G2). Its result is the run's outcome, whatever was cancelled meanwhile.
func (a *Activities) Commit(ctx context.Context, in contract.CommitInput) (contract.CommitResult, error) {
	var progress atomic.Int64
	defer beat(ctx, &progress)()

	var plan compaction.Plan
	if in.Plan != "" {
		if found, err := a.getJSON(ctx, "plan", in.Plan, &plan); err != nil {
			return contract.CommitResult{}, err
		} else if !found {
			return contract.CommitResult{}, fmt.Errorf("the plan %.12s of operation %s is gone", in.Plan, in.Request.Operation)
		}
	}
	outcome, err := a.decideCommit(ctx, in, &plan)
	if err != nil {
		return contract.CommitResult{}, err
	}
	outcome, err = a.writeReceipt(ctx, contract.Receipt{
		Request: in.Request, Outcome: outcome, Plan: in.Plan, Attempts: in.Attempts,
	}, plan, in.Review)
	return contract.CommitResult{Outcome: outcome}, err
}

// decideCommit writes the entry or says why not.
func (a *Activities) decideCommit(ctx context.Context, in contract.CommitInput, plan *compaction.Plan) (contract.Outcome, error) {
	if in.Request.Commit == contract.CommitReturn && in.Reanchor == "" {
		o := in.Outcome
		o.State = contract.StateReturned
		o.Message = "the compaction is ready for the caller, who owns the session file"
		return o, nil
	}
	driver, err := a.Stores.Driver(in.Request.Session.Store)
	if err != nil {
		return contract.Outcome{}, err
	}
	c := &committer{Activities: a, in: in, plan: plan, driver: driver, id: in.Request.Session.ID}
	for range commitTries {
		outcome, again, err := c.once(ctx)
		if err != nil || !again {
			return outcome, err
		}
	}
	return end(in.Outcome, contract.StateSkipped, contract.CodeBusy,
		"the session was written to at every try to commit; retry when it is quiet, nothing will be paid again"), nil
}

// end completes an outcome.
func end(o contract.Outcome, state contract.State, code contract.Code, message string) contract.Outcome {
	o.State, o.Reason, o.Message = state, code, message
	return o
}

// committer is one commit under way.
type committer struct {
	*Activities
	in     contract.CommitInput
	plan   *compaction.Plan
	driver store.Driver
	id     string
	// progress is how the compaction stands against its bar, once it was checked.
	progress compaction.Progress
}

// once re-reads the session, checks that the plan still fits it, and appends. again asks for another
// try because the session changed between reading and writing.
func (c *committer) once(ctx context.Context) (outcome contract.Outcome, again bool, err error) {
	snap, err := c.driver.Load(ctx, c.id, store.ScopeLive)
	if err != nil {
		return c.failed(err, "")
	}
	defer func() { _ = snap.Close() }() // read only
	if done, err := compaction.FindOperation(snap.Log(), snap, c.in.Request.Operation); err != nil {
		return c.failed(err, "")
	} else if done != nil {
		return c.committed(done.EntryID, done.FirstKeptEntryID), false, nil
	}
	if refused, err := c.check(snap); err != nil || refused != nil {
		if err != nil {
			return c.failed(err, "")
		}
		return *refused, false, nil
	}
	w, err := c.write(ctx, snap)
	if err != nil || w.moved != "" {
		if err != nil {
			return c.failed(err, "")
		}
		return end(c.in.Outcome, contract.StateStale, contract.CodeSessionChanged,
			"entry "+w.moved+" is no longer as it was when the plan was made; nothing was written"), false, nil
	}
	expect := store.Expect{Revision: snap.Revision(), Backup: c.in.Request.Settings.SkipDamaged}
	written, err := c.driver.Rewrite(ctx, c.id, expect, w.change)
	if store.KindOf(err) == store.KindConflict {
		return contract.Outcome{}, true, nil
	}
	if err != nil {
		return c.failed(err, "the history is unchanged; cure the cause and retry, nothing will be paid again")
	}
	outcome = c.committed(w.entryID, w.firstKept)
	if written.Backup != "" {
		outcome.Warnings = append(slices.Clone(outcome.Warnings), "the session file as it was before is kept as "+written.Backup)
	}
	return outcome, false, nil
}

// committed is the outcome of an operation whose entry is in the session.
func (c *committer) committed(entryID, firstKept string) contract.Outcome {
	o := c.in.Outcome
	o.EntryID, o.FirstKeptEntryID = entryID, firstKept
	o.Reduced = len(c.progress.Reductions)
	if c.progress.Tokens > 0 {
		o.TokensAfter = &c.progress.Tokens
	}
	for _, said := range []string{c.progress.Notice, c.progress.Warning} {
		if said != "" {
			o.Warnings = append(slices.Clone(o.Warnings), said)
		}
	}
	o.DeadEnd = c.progress.Warning != ""
	// Who ran into the window sends the same request again, now that it fits.
	o.WillRetry = !o.DeadEnd && (c.in.Request.Reason == contract.ReasonOverflow || c.in.Request.Reason == contract.ReasonIncomplete)
	switch {
	case c.plan.ReducedOnly:
		after := c.plan.KeptTokens
		o.TokensAfter = &after
		return end(o, contract.StateCommitted, contract.CodeReduced, fmt.Sprintf(
			"%d entries reduced in place (about %d tokens); the context is under its threshold without a summary", o.Reduced, c.plan.FreedTokens))
	case c.in.Reanchor != "":
		return end(o, contract.StateCommitted, contract.CodeReanchored, "an entry that an agent's append had left off the path was put back on it, without a model call")
	}
	return end(o, contract.StateCommitted, contract.CodeNone, fmt.Sprintf("%d messages summarised, %d kept", o.Summarized, o.Kept))
}

// failed maps a driver's failure to an outcome; what only another try can cure stays an error.
func (c *committer) failed(err error, advice string) (contract.Outcome, bool, error) {
	state, code, ok := storeFailure(err)
	if !ok {
		return contract.Outcome{}, false, err
	}
	if code == contract.CodeSessionNotFound {
		state, code = contract.StateStale, contract.CodeSessionGone
	}
	message := err.Error()
	if advice != "" {
		message += "; " + advice
	}
	return end(c.in.Outcome, state, code, message), false, nil
}
