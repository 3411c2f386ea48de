package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"recap/internal/contract"
)

// maxPlans bounds how often a run prepares again because its plan's blobs are gone.
const maxPlans = 3

// Compact runs one compaction of a session: plan, ask the candidates, review, commit one entry,
// tell the frontend (DESIGN §5). It closes as its terminal state says: completed with the Outcome as
// result, failed with the Outcome in the details of an ApplicationError of that state's name, or
// cancelled with the Outcome in the details.
func Compact(ctx workflow.Context, request contract.Request) (contract.Outcome, error) {
	run, err := newCompactRun(ctx, request)
	if err != nil {
		return contract.Outcome{}, err
	}
	return run.close(ctx, run.execute(ctx))
}

// compactRun is the state of one run.
type compactRun struct {
	request  contract.Request
	started  time.Time
	status   contract.Status
	attempts []contract.Attempt
	failed   int // attempts that did not end in an answer
	plan     contract.PreparePlanResult
	review   *contract.ReviewResult
	events   *emitter
	proceeds int // signals to go on received
}

// newCompactRun validates the request and installs the handlers, before anything blocks.
func newCompactRun(ctx workflow.Context, request contract.Request) (*compactRun, error) {
	request = request.Normalize()
	if err := request.Validate(); err != nil {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), "invalidRequest", nil)
	}
	r := &compactRun{
		request: request,
		started: workflow.Now(ctx),
		status:  contract.Status{Operation: request.Operation, Attempt: request.Attempt, Phase: contract.PhasePreparing},
	}
	r.events = &emitter{request: request}
	r.listen(ctx)
	err := workflow.SetQueryHandlerWithOptions(ctx, contract.QueryStatus, func() (contract.Status, error) {
		return r.status, nil
	}, workflow.QueryHandlerOptions{Description: "what the run is doing now"})
	return r, err
}

// ending is why a run ends without an entry.
type ending struct {
	state   contract.State
	code    contract.Code
	message string
}

func cancelled() *ending {
	return &ending{contract.StateCancelled, contract.CodeCancelled, "cancelled by request before the commit began; the session is unchanged"}
}

// execute follows the plan to the outcome. Only replanning loops.
func (r *compactRun) execute(ctx workflow.Context) contract.Outcome {
	r.events.emit(ctx, contract.Event{Name: contract.EventStarted})
	for range maxPlans {
		outcome, planMissing := r.once(ctx)
		if !planMissing {
			return outcome
		}
	}
	return r.conclude(ctx, &ending{
		contract.StateFailed, contract.CodePlanMissing,
		fmt.Sprintf("the plan's blobs vanished %d times while it was followed; check the blob store's retention", maxPlans),
	})
}

// once prepares and follows one plan. planMissing asks for another one.
func (r *compactRun) once(ctx workflow.Context) (outcome contract.Outcome, planMissing bool) {
	if end := r.prepare(ctx); end != nil {
		return r.conclude(ctx, end), false
	}
	if r.plan.End != nil {
		return *r.plan.End, false
	}
	if r.plan.Reanchor != "" || r.plan.Reduced {
		return r.commit(ctx, nil), false
	}
	end, planMissing := r.summarize(ctx)
	switch {
	case planMissing:
		return contract.Outcome{}, true
	case end != nil:
		return r.conclude(ctx, end), false
	}
	return r.commit(ctx, r.review), false
}

// prepare computes and records the plan.
func (r *compactRun) prepare(ctx workflow.Context) *ending {
	r.status.Phase = contract.PhasePreparing
	r.plan = contract.PreparePlanResult{}
	err := workflow.ExecuteActivity(
		onStore(ctx, r.request.Session.Store, "plan the compaction"),
		contract.ActivityPreparePlan, contract.PreparePlanInput{Request: r.request},
	).Get(ctx, &r.plan)
	return endingOf(ctx, "prepare the plan", err)
}

// endingOf turns the error of an activity that has only typed failures into the run's end: a
// cancellation, or an internal failure.
func endingOf(ctx workflow.Context, step string, err error) *ending {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || temporal.IsCanceledError(err):
		return cancelled()
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return &ending{contract.StateFailed, contract.CodeInternal, step + ": " + app.Message()}
	}
	return &ending{contract.StateFailed, contract.CodeInternal, step + ": " + err.Error()}
}

// outcome is what is known at the end of the run.
func (r *compactRun) outcome(e *ending) contract.Outcome {
	o := contract.Outcome{
		Operation: r.request.Operation, Attempt: r.request.Attempt, Session: r.request.Session,
		TokensBefore: r.plan.TokensBefore, Warnings: r.plan.Warnings,
		FirstKeptEntryID: r.plan.FirstKept, Summarized: r.plan.Summarized, Kept: r.plan.Kept,
	}
	if e != nil {
		o.State, o.Reason, o.Message = e.state, e.code, e.message
	}
	for _, a := range r.attempts {
		o.Usage = o.Usage.Add(a.Usage)
		o.Cost += a.Cost
		if a.Class == "" {
			o.Stages++
			o.Candidate = a.Candidate
		}
	}
	o.Attempts = contract.LastAttempts(r.attempts)
	return o
}

// commit writes the one entry, or hands the compaction to the caller. Once begun its result is the
// outcome, whatever is cancelled meanwhile.
func (r *compactRun) commit(ctx workflow.Context, review *contract.ReviewResult) contract.Outcome {
	r.status.Phase = contract.PhaseCommitting
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	in := contract.CommitInput{
		Request: r.request, Plan: r.plan.Plan, Reanchor: r.plan.Reanchor,
		Outcome: withoutAttempts(r.outcome(nil)), Attempts: r.attempts, StartedAt: r.started.UnixMilli(),
	}
	if review != nil {
		in.Summary, in.Review = review.Summary, review
		in.Outcome.TokensAfter = review.TokensAfter
		in.Outcome.Summary = review.Summary
	}
	var result contract.CommitResult
	err := workflow.ExecuteActivity(
		onStore(ctx, r.request.Session.Store, "commit the entry"), contract.ActivityCommit, in,
	).Get(ctx, &result)
	if end := endingOf(ctx, "commit the entry", err); end != nil {
		return r.outcome(end)
	}
	if o := result.Outcome; o.DeadEnd {
		r.events.emit(ctx, contract.Event{Name: contract.EventNotice, Level: "warning", Message: o.Warnings[len(o.Warnings)-1]})
	}
	return result.Outcome
}

// conclude writes the receipt of a run that writes no entry. A receipt that cannot be written does
// not change how the run ended.
func (r *compactRun) conclude(ctx workflow.Context, e *ending) contract.Outcome {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	in := contract.ConcludeInput{
		Request: r.request, Plan: r.plan.Plan, Review: r.review, Outcome: withoutAttempts(r.outcome(e)), Attempts: r.attempts,
	}
	var result contract.CommitResult
	err := workflow.ExecuteActivity(
		onStore(ctx, r.request.Session.Store, "write the receipt"), contract.ActivityConclude, in,
	).Get(ctx, &result)
	if err != nil {
		workflow.GetLogger(ctx).Error("the receipt could not be written", "error", err)
		return r.outcome(e)
	}
	return result.Outcome
}

// withoutAttempts is an outcome as it goes to an activity beside all attempts, which hold its own: sixty
// of them once are near the largest payload (promise G9).
func withoutAttempts(o contract.Outcome) contract.Outcome {
	o.Attempts = nil
	return o
}
