package activities

import (
	"context"
	"errors"
	"fmt"

	"recap/internal/blob"
	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/prompts"
)

// Conclude writes the receipt of a run that wrote no entry and returns the outcome with it.
func (a *Activities) Conclude(ctx context.Context, in contract.ConcludeInput) (contract.CommitResult, error) {
	var plan compaction.Plan
	if in.Plan != "" {
		if _, err := a.getJSON(ctx, "plan", in.Plan, &plan); err != nil {
			return contract.CommitResult{}, err
		}
	}
	outcome, err := a.writeReceipt(ctx, contract.Receipt{
		Request: in.Request, Outcome: in.Outcome, Plan: in.Plan, Attempts: in.Attempts,
	}, plan, in.Review)
	if err != nil {
		return contract.CommitResult{}, err
	}
	return contract.CommitResult{Outcome: outcome}, a.remember(ctx, in.Request, plan.Leaf, outcome)
}

// remember notes that an automatic request failed on this leaf, so that the next one is not paid for
// the same end.
func (a *Activities) remember(ctx context.Context, r contract.Request, leaf string, o contract.Outcome) error {
	failed := o.State == contract.StateFailed || o.State == contract.StateRejected
	if !failed || r.Reason == contract.ReasonManual || leaf == "" {
		return nil
	}
	name := contract.UnchangedBlob(r.Session, leaf)
	if err := a.Blobs.Relink(ctx, name, blob.Digest(o.Receipt)); err != nil {
		return fmt.Errorf("note the failure: %w", err)
	}
	return a.Blobs.Expire(ctx, blob.RetainWork, nil, []string{name})
}

// writeReceipt completes and stores the receipt, names it as the operation's newest, and lets the
// run's other blobs expire. It returns the outcome with the receipt's digest.
func (a *Activities) writeReceipt(ctx context.Context, r contract.Receipt, plan compaction.Plan, review *contract.ReviewResult) (contract.Outcome, error) {
	r.Version = contract.ReceiptVersion
	r.Outcome.Attempts = contract.LastAttempts(r.Attempts)
	r.Coverage = plan.Coverage
	r.Build = a.Build
	r.WrittenAt = a.Now().UnixMilli()
	r.Prompts = prompts.Digests()
	if plan.Leaf != "" {
		r.Details = compaction.Details(&plan, plan.Dialect)
	}
	if review != nil {
		r.Verdict, r.Reasons, r.Repairs, r.Measurements = review.Verdict, review.Reasons, review.Repairs, review.Measurements
	}
	r.Stages = stages(plan, r.Attempts)
	digest, err := a.putJSON(ctx, "receipt", r)
	if err != nil {
		return contract.Outcome{}, err
	}
	names := []string{
		contract.OperationBlob(r.Request.Session.Tenant, r.Request.Operation),
		contract.SessionOperationBlob(r.Request.Session, r.Request.Operation),
	}
	for _, name := range names {
		if err := a.Blobs.Relink(ctx, name, blob.Digest(digest)); err != nil {
			return contract.Outcome{}, fmt.Errorf("name the receipt: %w", err)
		}
	}
	if err := a.retain(ctx, r, digest, names); err != nil {
		return contract.Outcome{}, err
	}
	outcome := r.Outcome
	outcome.Receipt = digest
	return outcome, nil
}

// stages are the plan's requests, each with the answer that stood.
func stages(plan compaction.Plan, attempts []contract.Attempt) []contract.Stage {
	var list []contract.Stage
	for _, part := range []contract.Part{contract.PartHistory, contract.PartTurnPrefix} {
		request, asked := plan.Requests[part]
		if !asked {
			continue
		}
		stage := contract.Stage{Part: part, Request: request, InputTokens: plan.RequestTokens[part]}
		for _, a := range attempts {
			if a.Part == part && a.Class == "" {
				stage.Candidate, stage.Answer = a.Candidate, a.Answer
			}
		}
		list = append(list, stage)
	}
	return list
}

// retain sets the expiry of what the run stored (DESIGN §6): receipts and summaries long, the rest
// short. A run that an operator may retry keeps its answers for the short time too.
func (a *Activities) retain(ctx context.Context, r contract.Receipt, receipt string, names []string) error {
	long := []blob.Digest{blob.Digest(receipt)}
	if r.Outcome.Summary != "" {
		long = append(long, blob.Digest(r.Outcome.Summary))
	}
	if err := a.Blobs.Expire(ctx, blob.RetainReceipt, long, names); err != nil {
		return fmt.Errorf("set the receipt's expiry: %w", err)
	}
	var short []blob.Digest
	if r.Plan != "" {
		short = append(short, blob.Digest(r.Plan))
	}
	for _, s := range r.Stages {
		short = append(short, blob.Digest(s.Request))
	}
	for _, attempt := range r.Attempts {
		if attempt.Answer != "" {
			short = append(short, blob.Digest(attempt.Answer))
		}
	}
	if err := a.Blobs.Expire(ctx, blob.RetainWork, short, nil); err != nil {
		return fmt.Errorf("set the plan's expiry: %w", err)
	}
	return nil
}

// earlier returns the outcome of an operation that was committed or returned before, from its newest
// receipt; nil when there is none.
func (a *Activities) earlier(ctx context.Context, request contract.Request) (*contract.Outcome, error) {
	digest, err := a.Blobs.Resolve(ctx, contract.SessionOperationBlob(request.Session, request.Operation))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up operation %s: %w", request.Operation, err)
	}
	var r contract.Receipt
	if found, err := a.getJSON(ctx, "receipt", string(digest), &r); err != nil || !found {
		return nil, err
	}
	r.Outcome.Receipt = string(digest)
	return &r.Outcome, nil
}
