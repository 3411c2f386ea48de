package activities

import (
	"context"
	"fmt"

	"recap/internal/blob"
	"recap/internal/compaction"
	"recap/internal/compaction/gate"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/model"
)

// apiExtractive is exempt from the gate's echo check: quoting is what it does (DESIGN §11).
const apiExtractive = "extractive"

// Review judges every answer with the gate, assembles the final text and stores it. Digests in,
// verdict out (DESIGN §5.5).
func (a *Activities) Review(ctx context.Context, in contract.ReviewInput) (contract.ReviewResult, error) {
	var plan compaction.Plan
	if found, err := a.getJSON(ctx, "plan", in.Plan, &plan); err != nil || !found {
		return contract.ReviewResult{PlanMissing: !found}, err
	}
	texts := map[contract.Part]string{}
	result := contract.ReviewResult{Verdict: contract.VerdictAccept}
	for _, ref := range in.Answers {
		judged, found, err := a.judge(ctx, plan, ref)
		if err != nil || !found {
			return contract.ReviewResult{PlanMissing: !found}, err
		}
		a.Metrics.Verdict(judged.Verdict, judged.Reasons)
		result.Reasons = append(result.Reasons, judged.Reasons...)
		switch judged.Verdict {
		case contract.VerdictAccept:
		case contract.VerdictRepaired:
			result.Verdict = contract.VerdictRepaired
		default:
			return contract.ReviewResult{Verdict: judged.Verdict, Part: ref.Part, Reasons: judged.Reasons}, nil
		}
		texts[ref.Part] = judged.Text
	}
	summary := compaction.Assemble(&plan, texts[contract.PartHistory], texts[contract.PartTurnPrefix])
	digest, err := a.Blobs.Put(ctx, []byte(summary))
	if err != nil {
		return contract.ReviewResult{}, fmt.Errorf("store the summary: %w", err)
	}
	after := compaction.TokensAfter(&plan, summary)
	result.Summary, result.TokensAfter = string(digest), &after
	return result, nil
}

// judge runs the gate on one answer. found is false when a blob it needs is gone.
func (a *Activities) judge(ctx context.Context, plan compaction.Plan, ref contract.AnswerRef) (gate.Result, bool, error) {
	var answer model.Answer
	if found, err := a.getJSON(ctx, "answer", ref.Digest, &answer); err != nil || !found {
		return gate.Result{}, found, err
	}
	var request transcript.Request
	if found, err := a.getJSON(ctx, "request", plan.Requests[ref.Part], &request); err != nil || !found {
		return gate.Result{}, found, err
	}
	return gate.Judge(gate.Input{
		Part: ref.Part, Text: answer.Text, Finished: true, Source: request.Conversation, PreviousSummary: request.PreviousSummary,
		SourceTokens: plan.SourceTokens, MaxOutput: ref.MaxOutput, Extractive: ref.API == apiExtractive,
		MinSourceTokens: plan.Settings.MinSourceTokens,
	}), true, nil
}

// summaryText reads an accepted summary.
func (a *Activities) summaryText(ctx context.Context, digest string) (string, error) {
	data, err := a.Blobs.Get(ctx, blob.Digest(digest))
	if err != nil {
		return "", fmt.Errorf("read the summary %.12s: %w", digest, err)
	}
	return string(data), nil
}
