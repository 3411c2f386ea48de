package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"recap/internal/contract"
)

// summarize asks for every part of the plan at once, reviews the assembled text, and asks again for
// what the gate refused until the text is accepted or the chain is exhausted. On success r.review
// holds the accepted text.
func (r *compactRun) summarize(ctx workflow.Context) (end *ending, planMissing bool) {
	parts, end := r.newParts()
	if end != nil {
		return end, false
	}
	r.status.Phase, r.status.Done, r.status.Total = contract.PhaseSummarizing, 0, len(parts)
	for {
		if end := r.askAll(ctx, parts); end != nil {
			return end, end.code == contract.CodePlanMissing
		}
		review, end := r.judge(ctx, parts)
		switch {
		case end != nil:
			return end, false
		case review.PlanMissing:
			return nil, true
		}
		r.review = &review
		if review.Verdict == contract.VerdictAccept || review.Verdict == contract.VerdictRepaired {
			return nil, false
		}
		for _, p := range parts {
			if review.Part == "" || review.Part == p.part {
				if end := p.refuse(ctx, review); end != nil {
					return end, false
				}
			}
		}
	}
}

// newParts makes the chain of every part, over the candidates whose window holds the plan's largest
// request.
func (r *compactRun) newParts() ([]*partChain, *ending) {
	var admitted []contract.PlannedCandidate
	var refused []string
	for _, c := range r.plan.Candidates {
		if c.Refused == "" {
			admitted = append(admitted, c)
		} else {
			refused = append(refused, c.Candidate.ID+": "+c.Refused)
		}
	}
	if len(admitted) == 0 {
		return nil, &ending{contract.StateFailed, contract.CodeTooLarge, "no candidate can take the request: " + strings.Join(refused, "; ")}
	}
	var parts []*partChain
	for i, call := range admitted[0].Calls {
		parts = append(parts, &partChain{run: r, part: call.Part, call: i, candidates: admitted})
	}
	return parts, nil
}

// askAll asks for every part that has no answer yet, side by side, and returns the first reason to
// end the run.
func (r *compactRun) askAll(ctx workflow.Context, parts []*partChain) *ending {
	var end *ending
	wg := workflow.NewWaitGroup(ctx)
	for _, p := range parts {
		if p.answer != "" {
			continue
		}
		wg.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer wg.Done()
			if e := p.ask(ctx); e != nil && end == nil {
				end = e
			}
		})
	}
	wg.Wait(ctx)
	return end
}

// judge assembles the answers and lets the gate decide.
func (r *compactRun) judge(ctx workflow.Context, parts []*partChain) (contract.ReviewResult, *ending) {
	r.status.Phase = contract.PhaseReviewing
	in := contract.ReviewInput{Plan: r.plan.Plan}
	for _, p := range parts {
		c := p.candidate()
		in.Answers = append(in.Answers, contract.AnswerRef{
			Part: p.part, Digest: p.answer, Candidate: c.Candidate.ID, API: c.Candidate.API,
			MaxOutput: c.Calls[p.call].MaxOutput,
		})
	}
	var review contract.ReviewResult
	err := workflow.ExecuteLocalActivity(reviewing(ctx), contract.ActivityReview, in).Get(ctx, &review)
	return review, endingOf(ctx, "review the answer", err)
}

// exhaustedEnding is the end of a run whose chain has no candidate left.
func (r *compactRun) exhaustedEnding() *ending {
	state, code := exhausted(r.attempts)
	var told []string
	seen := map[string]int{}
	for _, a := range r.attempts {
		if a.Class == "" {
			continue
		}
		why := a.Candidate + " " + a.Class
		if len(a.Reasons) > 0 {
			why += fmt.Sprint(a.Reasons)
		}
		if seen[why]++; seen[why] == 1 {
			told = append(told, why)
		}
	}
	return &ending{state, code, "no candidate is left; the history is kept: " + strings.Join(told, ", ")}
}
