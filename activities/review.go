package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"recap/internal/blob"
	"recap/internal/compaction"
	"recap/internal/compaction/gate"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/model"
	"recap/internal/session"
)

// apiExtractive is exempt from the gate's echo check: quoting is what it does (DESIGN §11).
const apiExtractive = "extractive"

// errorsKept is how many of the last distinct errors a summary must hold.
const errorsKept = 5

// Review judges every answer with the gate, assembles the final text, judges that too, and stores it.
// Digests in, verdict out (DESIGN §5.5).
func (a *Activities) Review(ctx context.Context, in contract.ReviewInput) (contract.ReviewResult, error) {
	r := &review{Activities: a, texts: map[contract.Part]string{}}
	if found, err := a.getJSON(ctx, "plan", in.Plan, &r.plan); err != nil || !found {
		return contract.ReviewResult{PlanMissing: !found}, err
	}
	result := contract.ReviewResult{Verdict: contract.VerdictAccept, Measurements: map[contract.Part]json.RawMessage{}}
	for _, ref := range in.Answers {
		judged, found, err := r.judge(ctx, ref)
		if err != nil || !found {
			return contract.ReviewResult{PlanMissing: !found}, err
		}
		if !judged.Accepted() {
			return a.refused(ctx, ref.Part, judged)
		}
		if err := r.add(&result, ref.Part, judged); err != nil {
			return contract.ReviewResult{}, err
		}
		r.texts[ref.Part] = judged.Text
	}
	whole := r.whole()
	if !whole.Accepted() {
		return a.refused(ctx, "", whole)
	}
	if err := r.add(&result, "", whole); err != nil {
		return contract.ReviewResult{}, err
	}
	digest, err := a.Blobs.Put(ctx, []byte(whole.Text))
	if err != nil {
		return contract.ReviewResult{}, fmt.Errorf("store the summary: %w", err)
	}
	after := compaction.TokensAfter(&r.plan, whole.Text)
	result.Summary, result.TokensAfter = string(digest), &after
	return result, nil
}

// review is one review under way.
type review struct {
	*Activities
	plan       compaction.Plan
	texts      map[contract.Part]string
	blocks     []transcript.Block
	previous   string
	extractive bool
}

// add carries an accepted judgement into the result.
func (r *review) add(result *contract.ReviewResult, part contract.Part, judged gate.Result) error {
	r.Metrics.Verdict(judged.Verdict, judged.Reasons)
	result.Repairs = append(result.Repairs, judged.Repairs...)
	if judged.Verdict == contract.VerdictRepaired {
		result.Verdict = contract.VerdictRepaired
	}
	var err error
	if result.Measurements[part], err = json.Marshal(judged.Measurements); err != nil {
		return fmt.Errorf("encode the gate's measurements: %w", err)
	}
	return nil
}

// refused is the result of a refusal. What the model is told about it may hold words of the session,
// so it goes into a blob.
func (a *Activities) refused(ctx context.Context, part contract.Part, judged gate.Result) (contract.ReviewResult, error) {
	a.Metrics.Verdict(judged.Verdict, judged.Reasons)
	said, err := a.Blobs.Put(ctx, []byte(judged.Feedback()))
	if err != nil {
		return contract.ReviewResult{}, fmt.Errorf("store the feedback: %w", err)
	}
	numbers, err := json.Marshal(judged.Measurements)
	if err != nil {
		return contract.ReviewResult{}, fmt.Errorf("encode the gate's measurements: %w", err)
	}
	return contract.ReviewResult{
		Verdict: judged.Verdict, Part: part, Reasons: judged.Reasons, Feedback: string(said),
		Measurements: map[contract.Part]json.RawMessage{part: numbers},
	}, nil
}

// judge runs the gate on one answer. found is false when a blob it needs is gone.
func (r *review) judge(ctx context.Context, ref contract.AnswerRef) (judged gate.Result, found bool, err error) {
	var answer model.Answer
	if found, err := r.getJSON(ctx, "answer", ref.Digest, &answer); err != nil || !found {
		return gate.Result{}, found, err
	}
	var request transcript.Request
	if found, err := r.getJSON(ctx, "request", r.plan.Requests[ref.Part], &request); err != nil || !found {
		return gate.Result{}, found, err
	}
	r.blocks = append(r.blocks, request.Conversation...)
	r.extractive = r.extractive || ref.API == apiExtractive
	in := gate.Input{
		Part: ref.Part, Text: answer.Text, Finished: true,
		Source: request.Conversation, PreviousSummary: request.PreviousSummary, SourceTokens: r.plan.SourceTokens,
		Instruction: strings.TrimSuffix(request.Instruction, r.plan.Focus), Given: append(slices.Clone(request.Context), r.plan.Focus),
		MaxOutput: ref.MaxOutput, Extractive: ref.API == apiExtractive, MinSourceTokens: r.plan.Settings.MinSourceTokens,
	}
	if ref.Part == contract.PartHistory {
		r.previous = request.PreviousSummary
		in.Ledger = &gate.Ledger{Errors: gate.ErrorLedger(request.Conversation, errorsKept)}
		if r.plan.FirstKeptEntryID != session.KeepNothing {
			in.Ask = &gate.Ask{Answered: true} // the kept tail goes on from it
		}
	}
	return gate.Judge(in), true, nil
}

// whole assembles the accepted parts and judges what would be stored. Two parts joined were judged each
// by its own headings; what they share would count as repeated here.
func (r *review) whole() gate.Result {
	text := compaction.Assemble(&r.plan, r.texts[contract.PartHistory], r.texts[contract.PartTurnPrefix])
	if len(r.texts) > 1 {
		return gate.Result{Verdict: contract.VerdictAccept, Text: text}
	}
	return gate.Judge(gate.Input{
		Text: text, Finished: true, Source: r.blocks, PreviousSummary: r.previous, SourceTokens: r.plan.SourceTokens,
		Given: []string{r.plan.Focus}, Extractive: r.extractive, MinSourceTokens: r.plan.Settings.MinSourceTokens,
		Ask:    &gate.Ask{Answered: true}, // the parts were judged for it
		Ledger: &gate.Ledger{Files: r.plan.Files, FlatFiles: r.plan.Settings.FileList == compaction.FileListFlat},
	})
}

// summaryText reads an accepted summary.
func (a *Activities) summaryText(ctx context.Context, digest string) (string, error) {
	data, err := a.Blobs.Get(ctx, blob.Digest(digest))
	if err != nil {
		return "", fmt.Errorf("read the summary %.12s: %w", digest, err)
	}
	return string(data), nil
}
