package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/session"
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

// check refuses what the plan no longer fits, and a session that an agent may be writing to.
func (c *committer) check(snap store.Snapshot) (*contract.Outcome, error) {
	path, _, err := compaction.Path(snap.Log(), c.in.Request.Settings.SkipDamaged)
	if err != nil {
		return nil, err
	}
	refuse := func(state contract.State, code contract.Code, message string) *contract.Outcome {
		o := end(c.in.Outcome, state, code, message)
		return &o
	}
	if c.in.Reanchor == "" {
		if !onPath(path, c.plan.Leaf) {
			return refuse(contract.StateStale, contract.CodeBranchMoved, "the session moved to another branch meanwhile; nothing was written"), nil
		}
		kept := c.plan.FirstKeptEntryID
		if !c.plan.ReducedOnly && kept != session.KeepNothing && !onPath(path, kept) {
			return refuse(contract.StateStale, contract.CodeSessionChanged, "the first kept entry is no longer on the session's path; nothing was written"), nil
		}
	}
	if !c.quiet(snap) && (c.in.Request.Writer == contract.WriterLive || c.outdated(snap)) {
		return refuse(contract.StateSkipped, contract.CodeLiveWriter, liveWriterMessage), nil
	}
	open, err := compaction.CallInFlight(snap.Log(), snap, c.Now(), snap.LastWrite())
	if err != nil {
		return nil, err
	}
	if open {
		return refuse(contract.StateSkipped, contract.CodeCallInFlight, "a tool call at the leaf is not answered yet; retry when it is, nothing will be paid again"), nil
	}
	return nil, nil
}

const liveWriterMessage = "an agent may have the session open: it was written to a moment ago; use --no-writer if none has, or --return (commit: return)"

// quietFor is the silence after which nobody is taken to write to a session (DESIGN §6).
func (a *Activities) quietFor(s contract.Settings) time.Duration {
	return time.Duration(s.WithDefaults().QuietForMs) * time.Millisecond
}

// quiet reports whether nobody wrote to the session for that long.
func (c *committer) quiet(snap store.Snapshot) bool {
	return c.Now().Sub(snap.LastWrite()) >= c.quietFor(c.in.Request.Settings)
}

// outdated reports whether the caller's word that no agent has the session open is too old to hold: it
// was given longer ago than the quiet time, and somebody has written since the plan was made.
func (c *committer) outdated(snap store.Snapshot) bool {
	said := time.UnixMilli(c.in.StartedAt)
	leaf := snap.Log().Leaf()
	return c.in.StartedAt > 0 && c.Now().Sub(said) >= c.quietFor(c.in.Request.Settings) && leaf != nil && leaf.ID != c.plan.Leaf
}

func onPath(path []*session.Entry, id string) bool {
	return slices.ContainsFunc(path, func(e *session.Entry) bool { return e.ID == id })
}

// write is what a commit does to the session in one step.
type write struct {
	change             store.Change
	entryID, firstKept string
	moved              string // an entry that is not as it was planned: nothing may be written
}

// write collects the rewrites that the plan recorded, and the entry unless the plan only reduces.
func (c *committer) write(ctx context.Context, snap store.Snapshot) (w write, err error) {
	if err := c.checkProgress(ctx, snap); err != nil {
		return w, err
	}
	w.change.Replace, w.moved, err = compaction.Rewrites(snap.Log(), snap, c.progress.Reductions)
	if err != nil || w.moved != "" || c.plan.ReducedOnly {
		return w, err
	}
	entry, kept, err := c.entry(ctx, snap)
	w.change.Append = []store.NewEntry{entry}
	w.entryID, w.firstKept = entry.ID, kept
	return w, err
}

// checkProgress compares the context to come with the plan's bar, before anything is written, so that
// rescue and warning are part of the one step.
func (c *committer) checkProgress(ctx context.Context, snap store.Snapshot) error {
	c.progress = compaction.Progress{Reductions: c.plan.Reductions}
	if c.plan.Bar == 0 || c.plan.ReducedOnly || c.in.Reanchor != "" {
		return nil
	}
	summary, err := c.summaryText(ctx, c.in.Summary)
	if err != nil {
		return err
	}
	if c.progress, err = compaction.Check(c.plan, snap.Log(), snap, summary, c.Now()); err != nil {
		return err
	}
	return c.storeArtifacts(ctx, c.progress.Artifacts)
}

// entry makes the entry to append: the new compaction, or an orphaned one once more.
func (c *committer) entry(ctx context.Context, snap store.Snapshot) (store.NewEntry, string, error) {
	id, err := freeID(c.in.Request.Operation, snap.Taken)
	if err != nil {
		return store.NewEntry{}, "", err
	}
	now := c.Now().UTC()
	mark := session.RecapMark{Operation: c.in.Request.Operation, Attempt: c.in.Request.Attempt}
	var content session.NewCompaction
	if c.in.Reanchor != "" {
		orphan := snap.Log().Find(c.in.Reanchor)
		if orphan == nil {
			return store.NewEntry{}, "", fmt.Errorf("the orphaned entry %s is gone", c.in.Reanchor)
		}
		body, err := snap.Body(orphan)
		if err != nil {
			return store.NewEntry{}, "", err
		}
		old, err := session.DecodeCompaction(body)
		if err != nil {
			return store.NewEntry{}, "", err
		}
		content = compaction.Again(old)
	} else {
		summary, err := c.summaryText(ctx, c.in.Summary)
		if err != nil {
			return store.NewEntry{}, "", err
		}
		content = compaction.NewEntry(c.plan, summary)
		if content.PreserveData, err = compaction.Preserved(snap.Log(), snap, c.plan); err != nil {
			return store.NewEntry{}, "", err
		}
		content.Warning = c.progress.Warning
	}
	content.ID, content.Timestamp, content.Recap = id, now.Format("2006-01-02T15:04:05.000Z"), mark
	dialect := snap.Dialect()
	return store.NewEntry{ID: id, Build: func(parent string) ([]byte, error) {
		content.ParentID = parent
		return session.BuildCompaction(dialect, content)
	}}, content.FirstKeptEntryID, nil
}

// freeID is the first free 8 hex digits of SHA-256(operation, n) (DESIGN §5.6).
func freeID(operation string, taken func(id string) (bool, error)) (string, error) {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", operation, n))
		id := hex.EncodeToString(sum[:4])
		if used, err := taken(id); err != nil || !used {
			return id, err
		}
	}
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
