package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"recap/internal/blob"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/model"
)

// CallModel sends one request to one candidate, unless an answer is stored under the request's key
// already: then that is the result and nothing is paid (promise G3). A fresh answer is stored before
// the activity returns. The model's failure is a result, not an error (DESIGN §5.4).
func (a *Activities) CallModel(ctx context.Context, in contract.CallModelInput) (contract.CallModelResult, error) {
	var progress atomic.Int64
	defer beat(ctx, &progress)()

	var request transcript.Request
	found, err := a.getJSON(ctx, "request", in.Request, &request)
	if err != nil {
		return contract.CallModelResult{}, err
	}
	if !found {
		return contract.CallModelResult{Failure: &contract.ModelFailure{PlanMissing: true, Message: "the request blob is gone"}}, nil
	}
	if said := changed[model.Class(in.After)]; said != "" {
		request.Context = append(request.Context, said)
	}
	if in.Feedback != "" {
		said, err := a.Blobs.Get(ctx, blob.Digest(in.Feedback))
		if err != nil {
			return contract.CallModelResult{}, fmt.Errorf("read the feedback: %w", err)
		}
		request.Context = append(request.Context, string(said))
	}
	client, price, err := a.Clients.Client(in.Candidate.ID)
	if err != nil {
		return contract.CallModelResult{}, fmt.Errorf("candidate %s: %w", in.Candidate.ID, err)
	}
	name := contract.AnswerBlob(requestKey(in, client.Endpoint(), request))
	if digest, err := a.answered(ctx, name); err != nil || digest != "" {
		return contract.CallModelResult{Answer: digest, Reused: true, StartedAt: a.Now().UnixMilli()}, err
	}

	started := a.Now()
	answer, err := client.Complete(ctx, model.Call{
		Request: request, MaxOutput: in.MaxOutput, Effort: in.Effort, InputTokens: in.InputTokens,
		Progress: func(n int) { progress.Store(int64(n)) },
	})
	result := contract.CallModelResult{StartedAt: started.UnixMilli(), TookMs: a.Now().Sub(started).Milliseconds()}
	if err != nil {
		return a.failed(ctx, in, result, price, err)
	}
	result.Usage, result.Cost = answer.Usage, price.Cost(answer.Usage)
	took := a.Now().Sub(started)
	a.Metrics.ModelAttempt(in.Candidate.ID, "ok", took, answer.Usage)
	a.Metrics.Stage(in.Part, took)
	result.Answer, err = a.keep(ctx, name, answer)
	return result, err
}

// changed is what a model is told when it is asked again after a failure that asking for the same would
// only repeat: so the request differs also where output cap and effort cannot.
var changed = map[model.Class]string{
	model.ClassEmpty:     "An earlier answer to this request had no text. Write the summary itself, in full, without long deliberation.",
	model.ClassTruncated: "An earlier answer to this request was cut off at its length limit. Write a shorter one that is complete.",
	model.ClassBadOutput: "An earlier answer to this request was no summary. Call no tools; write the summary as text, under the headings asked for.",
}

// failed turns a classified error into a result; an unclassified one is a bug of the adapter and
// counts as transient, so that the chain goes on.
func (a *Activities) failed(ctx context.Context, in contract.CallModelInput, result contract.CallModelResult, price model.Price, err error) (contract.CallModelResult, error) {
	var e *model.Error
	if !errors.As(err, &e) {
		e = &model.Error{Class: model.ClassTransient, Candidate: in.Candidate.ID, Err: err}
	}
	result.Usage, result.Cost = e.Usage, price.Cost(e.Usage)
	a.Metrics.ModelAttempt(in.Candidate.ID, string(e.Class), time.Duration(result.TookMs)*time.Millisecond, e.Usage)
	if ctx.Err() != nil {
		return result, interrupted(ctx)
	}
	result.Failure = &contract.ModelFailure{
		Class: string(e.Class), Message: bounded(e.Error()), Status: e.Status,
		RetryAfterMs: e.RetryAfter.Milliseconds(), MaxTokens: e.Max,
	}
	return result, nil
}

// errWorkerStopping makes Temporal give the activity to another worker.
var errWorkerStopping = errors.New("the worker is stopping")

// interrupted says why an activity ends early: the workflow cancelled it, or its worker is stopping,
// which is not the operation's end.
func interrupted(ctx context.Context) error {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return errWorkerStopping
	default:
		return ctx.Err()
	}
}

// answered returns the answer stored under a name, "" when there is none any more.
func (a *Activities) answered(ctx context.Context, name string) (string, error) {
	digest, err := a.Blobs.Resolve(ctx, name)
	if err == nil {
		_, err = a.Blobs.Get(ctx, digest)
	}
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("look up the answer: %w", err)
	}
	return string(digest), nil
}

// keepTries is how often storing a paid answer is tried: losing it would mean paying twice.
const keepTries = 5

// keep stores a paid answer under its request key, also when the call was cancelled meanwhile.
func (a *Activities) keep(ctx context.Context, name string, answer model.Answer) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	var err error
	for range keepTries {
		var digest string
		if digest, err = a.putJSON(ctx, "answer", answer); err != nil {
			continue
		}
		if err = a.Blobs.Relink(ctx, name, blob.Digest(digest)); err != nil {
			continue
		}
		// A name outlives its answer, so that no answer is lost for want of its name.
		if err = a.Blobs.Expire(ctx, blob.RetainReceipt, nil, []string{name}); err == nil {
			return digest, nil
		}
	}
	return "", fmt.Errorf("store a paid answer: %w", err)
}

// requestKey identifies a request by everything that can change its answer. The user text can be
// too long to hold twice: it is hashed as it is rendered.
func requestKey(in contract.CallModelInput, endpoint string, request transcript.Request) string {
	user := sha256.New()
	request.Pieces(func(piece string) { user.Write([]byte(piece)) })
	key := sha256.New()
	for _, field := range []string{in.Candidate.ID, endpoint, in.Effort, request.System} {
		key.Write(fmt.Appendf(nil, "%d:%s,", len(field), field))
	}
	key.Write(fmt.Appendf(nil, "%x %d %d", user.Sum(nil), in.MaxOutput, in.Ordinal))
	return hex.EncodeToString(key.Sum(nil))
}

// maxMessage is the longest failure message in bytes that enters workflow history.
const maxMessage = 512

// bounded cuts a message on a character boundary.
func bounded(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut]
}
