package activities

import (
	"context"
	"slices"
	"time"

	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/session"
	"recap/internal/store"
)

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
