package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"recap/internal/contract"
)

// partChain walks the candidates for one part of the compaction. It keeps its place, so that a
// refusal by the gate continues where the chain stood.
type partChain struct {
	run        *compactRun
	part       contract.Part
	call       int // index of the part among a candidate's calls
	candidates []contract.PlannedCandidate

	at      int // index of the candidate being asked
	tries   int // failed tries of this candidate answered with the same request
	changed bool
	waited  time.Duration // on this candidate, in all
	delay   time.Duration // waited before the attempt that comes next

	proceeds int // signals to go on received when the candidate was last asked

	ordinal  int
	feedback string // blob of what the gate said about the last answer
	after    string // class of the failure that the changed request follows
	answer   string // digest of the answer that stands
	reused   bool   // the answer had been stored by an earlier run
	attempt  int    // index of the answer's attempt in run.attempts
}

func (p *partChain) candidate() contract.PlannedCandidate {
	return p.candidates[min(p.at, len(p.candidates)-1)]
}

// ask asks candidates until an answer stands. It returns why the run must end instead.
func (p *partChain) ask(ctx workflow.Context) *ending {
	for p.at < len(p.candidates) {
		if p.run.failed >= maxFailedAttempts {
			return &ending{contract.StateFailed, contract.CodeAttemptsExhausted, "60 model attempts failed in this run; see the receipt, cure the cause and retry"}
		}
		result, end := p.callModel(ctx)
		if end != nil {
			return end
		}
		if result.Failure == nil {
			p.answer, p.reused = result.Answer, result.Reused
			p.run.stageCompleted(ctx)
			return nil
		}
		if end := p.follow(ctx, *result.Failure); end != nil {
			return end
		}
	}
	return p.run.exhaustedEnding()
}

// callModel sends one request and records the attempt.
func (p *partChain) callModel(ctx workflow.Context) (contract.CallModelResult, *ending) {
	r, c := p.run, p.candidate()
	r.status.Phase, r.status.Candidate = contract.PhaseSummarizing, c.Candidate.ID
	r.status.WaitingUntil, r.status.WaitingFor = 0, ""
	p.proceeds = r.proceeds
	call := c.Calls[p.call]
	in := contract.CallModelInput{
		Operation: r.request.Operation, Candidate: c.Candidate, Part: p.part, Request: call.Request,
		MaxOutput: call.MaxOutput, Effort: c.Candidate.Effort, Ordinal: p.ordinal,
		InputTokens: call.InputTokens, Feedback: p.feedback,
	}
	if p.changed { // another answer is wanted: more room for it, and less thinking
		in.MaxOutput, in.Effort, in.After = largerOutput(call, c.Candidate), lessEffort(in.Effort), p.after
	}
	var result contract.CallModelResult
	err := workflow.ExecuteActivity(onModel(ctx, c.Candidate, string(p.part)+" from "+c.Candidate.ID),
		contract.ActivityCallModel, in).Get(ctx, &result)
	if end := endingOf(ctx, "ask "+c.Candidate.ID, err); end != nil {
		return result, end
	}
	if f := result.Failure; f != nil && f.PlanMissing {
		return result, &ending{contract.StateFailed, contract.CodePlanMissing, f.Message}
	}
	p.attempt = len(r.attempts)
	r.attempts = append(r.attempts, attemptOf(p, in, result))
	p.delay = 0
	r.status.Attempts = contract.LastAttempts(r.attempts)
	return result, nil
}

// lessEffort is the effort of a changed request: less thinking, never more.
func lessEffort(effort string) string {
	switch effort {
	case "", "off", "none", "minimal", "low":
		return effort
	}
	return "low"
}

// largerOutput is the output cap of a changed request: twice the planned one, within the
// candidate's own limits. It is never below the planned cap.
func largerOutput(call contract.PlannedCall, c contract.Candidate) int {
	larger := 2 * call.MaxOutput
	if c.MaxOutputTokens > 0 {
		larger = min(larger, c.MaxOutputTokens)
	}
	if c.ContextWindow > 0 {
		larger = min(larger, c.ContextWindow-call.InputTokens)
	}
	return max(larger, call.MaxOutput)
}

// attemptOf is the record of one request.
func attemptOf(p *partChain, in contract.CallModelInput, result contract.CallModelResult) contract.Attempt {
	a := contract.Attempt{
		Number: len(p.run.attempts) + 1, Part: p.part, Candidate: in.Candidate.ID, Ordinal: in.Ordinal,
		StartedAt: result.StartedAt, TookMs: result.TookMs, DelayMs: p.delay.Milliseconds(),
		Answer: result.Answer, Reused: result.Reused,
		Usage: result.Usage, Cost: result.Cost,
	}
	if f := result.Failure; f != nil {
		a.Class, a.Message, a.Status = f.Class, f.Message, f.Status
	}
	return a
}

// follow does what the table says after a failed attempt.
func (p *partChain) follow(ctx workflow.Context, f contract.ModelFailure) *ending {
	r := p.run
	r.failed++
	failed := r.attempts[p.attempt]
	if twoVendorsInvalid(r.attempts) {
		return &ending{contract.StateFailed, contract.CodeInvalidRequest, "two providers call the request invalid: this is a bug of recap; see the receipt: " + f.Message}
	}
	act, delay := decide(failure{
		class: f.Class, hint: time.Duration(f.RetryAfterMs) * time.Millisecond, tries: p.tries, changed: p.changed,
		hasNext: p.at+1 < len(p.candidates), waited: p.waited,
	}, r.plan.Retry)
	r.events.emit(ctx, contract.Event{Name: contract.EventAttemptFailed, Failed: &failed})
	switch act {
	case actStop:
		return cancelled()
	case actOperator:
		return &ending{
			contract.StateNeedsOperator, contract.CodeWaitTooLong,
			p.candidate().Candidate.ID + " asks to wait longer than retry.maxWait allows; retry later, or add a candidate: " + f.Message,
		}
	case actRetry:
		p.tries++
		p.waited += delay
		p.delay = delay
		return p.wait(ctx, delay, f)
	default:
		p.after = f.Class
		p.advance(act)
		return nil
	}
}

// advance moves on from the answer or candidate that did not do.
func (p *partChain) advance(act action) {
	if act == actChange {
		p.changed = true
		p.ordinal++
		return
	}
	window := p.candidate().Candidate.ContextWindow
	p.at++
	for act == actNextLarger && p.at < len(p.candidates) && p.candidates[p.at].Candidate.ContextWindow <= window {
		p.at++
	}
	p.tries, p.waited, p.changed, p.ordinal, p.feedback, p.after = 0, 0, false, 0, "", ""
}

// refuse records the gate's refusal of the answer that stands and moves the chain on. An answer that
// an earlier run had paid for does not use up this run's one change.
func (p *partChain) refuse(ctx workflow.Context, review contract.ReviewResult) *ending {
	r := p.run
	r.failed++
	a := &r.attempts[p.attempt]
	a.Class, a.Reasons = classGate, review.Reasons
	refused := *a
	r.events.emit(ctx, contract.Event{Name: contract.EventAttemptFailed, Failed: &refused})
	p.answer = ""
	r.status.Done = max(0, r.status.Done-1)
	if review.Verdict == contract.VerdictReject {
		return &ending{contract.StateRejected, contract.CodeGateRefused, "the gate refused the compaction itself, which no candidate can cure; see the receipt"}
	}
	act, _ := decide(failure{class: classGate, changed: p.changed}, r.plan.Retry)
	if review.Verdict == contract.VerdictNext {
		act = actNext
	}
	if p.reused {
		p.ordinal++
		return nil
	}
	p.feedback = review.Feedback
	p.advance(act)
	return nil
}

// stageCompleted tells the progress of the run.
func (r *compactRun) stageCompleted(ctx workflow.Context) {
	r.status.Done++
	r.events.emit(ctx, contract.Event{Name: contract.EventStageCompleted, Done: r.status.Done, Total: r.status.Total})
}
