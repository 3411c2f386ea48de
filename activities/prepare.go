package activities

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"recap/internal/blob"
	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/session"
	"recap/internal/store"
	"recap/prompts"
)

// PreparePlan decides once what a compaction of the session would do, and stores the decision
// (DESIGN §5.1). Nothing to do costs no model call: the result then is the end of the operation.
func (a *Activities) PreparePlan(ctx context.Context, in contract.PreparePlanInput) (contract.PreparePlanResult, error) {
	var progress atomic.Int64
	defer beat(ctx, &progress)()

	p := &preparer{Activities: a, request: in.Request.Normalize()}
	result, err := p.prepare(ctx)
	if err != nil || result.End == nil || result.End.Receipt != "" {
		return result, err
	}
	outcome, err := a.writeReceipt(ctx, contract.Receipt{Request: p.request, Outcome: *result.End}, compaction.Plan{}, nil)
	result.End = &outcome
	return result, err
}

// preparer is one preparation under way.
type preparer struct {
	*Activities
	request contract.Request
}

// over is the result of an operation that ends before any model call.
func (p *preparer) over(state contract.State, code contract.Code, message string) contract.PreparePlanResult {
	o := contract.Outcome{Operation: p.request.Operation, Attempt: p.request.Attempt, Session: p.request.Session}
	o = end(o, state, code, message)
	return contract.PreparePlanResult{End: &o}
}

// prepare reads as much of the session as its live context needs, and all of it where that does not
// suffice.
func (p *preparer) prepare(ctx context.Context) (contract.PreparePlanResult, error) {
	result, err := p.prepareFrom(ctx, store.ScopeLive)
	if errors.Is(err, session.ErrPartial) {
		return p.prepareFrom(ctx, store.ScopeAll)
	}
	return result, err
}

func (p *preparer) prepareFrom(ctx context.Context, scope store.Scope) (contract.PreparePlanResult, error) {
	driver, err := p.Stores.Driver(p.request.Session.Store)
	if err != nil {
		return contract.PreparePlanResult{}, err
	}
	snap, err := driver.Load(ctx, p.request.Session.ID, scope)
	if err != nil {
		if state, code, ok := storeFailure(err); ok {
			return p.over(state, code, err.Error()), nil
		}
		return contract.PreparePlanResult{}, err
	}
	defer func() { _ = snap.Close() }() // read only
	if result, err := p.before(ctx, snap); err != nil || result != nil {
		if result == nil {
			result = &contract.PreparePlanResult{}
		}
		return *result, err
	}
	return p.plan(ctx, snap)
}

// before ends the operation where it was done before, where a writer may be at work, or where an
// entry of recap only has to be put back on the path.
func (p *preparer) before(ctx context.Context, snap store.Snapshot) (*contract.PreparePlanResult, error) {
	earlier, err := p.earlier(ctx, p.request)
	if err != nil {
		return nil, err
	}
	done, err := p.find(ctx, snap, earlier != nil && earlier.State == contract.StateCommitted)
	if err != nil {
		return nil, err
	}
	if done != nil {
		if earlier == nil || earlier.State != contract.StateCommitted {
			earlier = &contract.Outcome{
				Operation: p.request.Operation, Attempt: p.request.Attempt, Session: p.request.Session,
				EntryID: done.EntryID, FirstKeptEntryID: done.FirstKeptEntryID, TokensBefore: done.TokensBefore,
			}
		}
		*earlier = end(*earlier, contract.StateCommitted, contract.CodeAlreadyApplied, "the operation's entry is in the session already")
		return &contract.PreparePlanResult{End: earlier}, nil
	}
	if earlier != nil && earlier.State == contract.StateReturned && p.request.Commit == contract.CommitReturn {
		return &contract.PreparePlanResult{End: earlier}, nil
	}
	if why := disabled(p.request); why != "" {
		result := p.over(contract.StateSkipped, contract.CodeDisabled, why)
		return &result, nil
	}
	if again, err := p.unchanged(ctx, snap.Log()); err != nil || again {
		result := p.over(contract.StateSkipped, contract.CodeUnchanged,
			"an automatic request failed on this very state of the session before; it is tried again when something new is said, or by retry")
		return &result, err
	}
	if p.request.Commit != contract.CommitStore {
		return nil, nil
	}
	if p.request.Writer == contract.WriterLive && p.Now().Sub(snap.LastWrite()) < p.quietFor(p.request.Settings) {
		result := p.over(contract.StateSkipped, contract.CodeLiveWriter, liveWriterMessage)
		return &result, nil
	}
	orphan, err := compaction.FindOrphan(snap.Log(), snap)
	if err != nil || orphan == "" {
		return nil, err
	}
	return &contract.PreparePlanResult{Reanchor: orphan}, nil
}

// disabled says which setting switches operations of the request's reason off, "" when none does.
// What a person asks for, and idle compaction, which has a switch of its own, are never off.
func disabled(r contract.Request) string {
	switch r.Reason {
	case contract.ReasonManual, contract.ReasonIdle:
		return ""
	case contract.ReasonMidTurn:
		if !contract.On(r.Settings.MidTurnEnabled) {
			return "compaction.midTurnEnabled is off"
		}
	}
	if !contract.On(r.Settings.Enabled) {
		return "compaction.enabled is off: only manual and idle requests are served"
	}
	return ""
}

// unchanged reports whether an automatic request would only repeat one that failed on the same leaf
// (spec/summary §3.10). What an operator retries, and what a person asks for, is tried.
func (p *preparer) unchanged(ctx context.Context, log *session.Log) (bool, error) {
	leaf := log.Leaf()
	if p.request.Reason == contract.ReasonManual || p.request.Attempt > 1 || leaf == nil {
		return false, nil
	}
	_, err := p.Blobs.Resolve(ctx, contract.UnchangedBlob(p.request.Session, leaf.ID))
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// find looks for the operation's entry: in what was read, and where a receipt says that there is one,
// in the whole session.
func (p *preparer) find(ctx context.Context, snap store.Snapshot, told bool) (*compaction.Done, error) {
	done, err := compaction.FindOperation(snap.Log(), snap, p.request.Operation)
	if err != nil || done != nil || !told || !snap.Log().Partial {
		return done, err
	}
	driver, err := p.Stores.Driver(p.request.Session.Store)
	if err != nil {
		return nil, err
	}
	whole, err := driver.Load(ctx, p.request.Session.ID, store.ScopeAll)
	if err != nil {
		return nil, err
	}
	defer func() { _ = whole.Close() }() // read only
	return compaction.FindOperation(whole.Log(), whole, p.request.Operation)
}

// plan prepares, stores plan and requests, and sizes them for every candidate.
func (p *preparer) plan(ctx context.Context, snap store.Snapshot) (contract.PreparePlanResult, error) {
	own, err := compaction.SessionModel(snap.Log(), snap)
	if err != nil {
		return contract.PreparePlanResult{}, err
	}
	prepared, err := compaction.Prepare(compaction.Input{
		Log: snap.Log(), Bodies: snap, Dialect: snap.Dialect(),
		Operation: p.request.Operation, Settings: p.request.Settings, Reason: p.request.Reason, Focus: p.request.Focus,
		Window: p.Catalog.window(own), Prompts: prompts.All(), Now: p.Now(), LastWrite: snap.LastWrite(),
		InPlace:  p.request.Settings.ReduceInPlace && p.request.Commit == contract.CommitStore,
		Parallel: runtime.GOMAXPROCS(0),
	})
	var skip *compaction.Skip
	if errors.As(err, &skip) {
		if skip.Code == contract.CodeDamagedSession && snap.Log().Partial {
			return contract.PreparePlanResult{}, session.ErrPartial // count and place the damage over the whole file
		}
		result := p.over(skip.State, skip.Code, skip.Message)
		if skip.Warning != "" {
			result.End.DeadEnd, result.End.Warnings = true, []string{skip.Warning}
		}
		return result, nil
	}
	if err != nil {
		return contract.PreparePlanResult{}, err
	}
	if err := p.storeArtifacts(ctx, prepared.Artifacts); err != nil {
		return contract.PreparePlanResult{}, err
	}
	if prepared.Plan.ReducedOnly {
		digest, err := p.putJSON(ctx, "plan", prepared.Plan)
		return contract.PreparePlanResult{
			Plan: digest, Reduced: true, TokensBefore: prepared.Plan.TokensBefore, Kept: len(prepared.Plan.Coverage.Kept),
			Warnings: prepared.Plan.Warnings,
		}, err
	}
	chain, code, message := p.Catalog.chain(p.request.Models, own)
	if code != contract.CodeNone {
		return p.over(contract.StateNeedsOperator, code, message), nil
	}
	requests, err := p.storeRequests(ctx, prepared)
	if err != nil {
		return contract.PreparePlanResult{}, err
	}
	digest, err := p.putJSON(ctx, "plan", prepared.Plan)
	if err != nil {
		return contract.PreparePlanResult{}, err
	}
	result := contract.PreparePlanResult{
		Plan: digest, Retry: p.Catalog.Retry,
		TokensBefore: prepared.Plan.TokensBefore, FirstKept: prepared.Plan.FirstKeptEntryID,
		Summarized: len(prepared.Plan.Coverage.Summarized) + len(prepared.Plan.Coverage.TurnPrefix),
		Kept:       len(prepared.Plan.Coverage.Kept), Warnings: prepared.Plan.Warnings,
	}
	for _, c := range chain {
		result.Candidates = append(result.Candidates, planFor(c, requests, p.request.Settings))
	}
	return result, nil
}

// storeRequests stores the rendered requests and names them in the plan.
func (p *preparer) storeRequests(ctx context.Context, prepared *compaction.Prepared) ([]stored, error) {
	prepared.Plan.Requests = map[contract.Part]string{}
	prepared.Plan.RequestTokens = map[contract.Part]int{}
	var all []stored
	for _, r := range prepared.Requests() {
		put, err := p.Blobs.Put(ctx, r.Encode())
		if err != nil {
			return nil, fmt.Errorf("store request: %w", err)
		}
		digest, size := string(put), r.Tokens()
		prepared.Plan.Requests[r.Part] = digest
		prepared.Plan.RequestTokens[r.Part] = size
		all = append(all, stored{request: r, digest: digest, tokens: size})
	}
	return all, nil
}
