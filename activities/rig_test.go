package activities

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	blobmem "recap/internal/blob/mem"
	"recap/internal/contract"
	"recap/internal/event"
	eventmem "recap/internal/event/mem"
	"recap/internal/model"
	"recap/internal/store"
	"recap/internal/store/jsonl"
)

// rig runs the activities in the SDK's activity environment over a real jsonl store in a temporary
// folder, blobs and a bus in memory, and a scripted candidate.
type rig struct {
	*Activities
	t     *testing.T
	env   *testsuite.TestActivityEnvironment
	root  string
	blobs *blobmem.Driver
	bus   *eventmem.Bus
	model *scripted
	now   time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		t: t, root: t.TempDir(), blobs: blobmem.New(), bus: eventmem.New(), model: &scripted{text: goodSummary},
		now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
	}
	driver, err := jsonl.New(r.root)
	require.NoError(t, err)
	r.Activities, err = New(Deps{
		Stores: oneStore{driver}, Blobs: r.blobs, Clients: r.model, Events: r.bus, Metrics: unrecorded{},
		Catalog: Catalog{
			Candidates: []contract.Candidate{{ID: "test/model", API: "openai-chat", ContextWindow: 200000, TotalTimeoutMs: 60000}},
			Chain:      []string{"test/model"},
			Retry:      contract.Retry{Enabled: true, MaxRetries: 2, BaseDelayMs: 1, MaxWaitMs: 1000},
		},
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return r.now }, Build: "test",
	})
	require.NoError(t, err)
	var suite testsuite.WorkflowTestSuite
	r.env = suite.NewTestActivityEnvironment()
	r.RegisterMain(r.env)
	r.RegisterModel(r.env)
	r.RegisterStore(r.env)
	return r
}

// write puts a session file into the store, last written long ago.
func (r *rig) write(name, content string) string {
	r.t.Helper()
	path := filepath.Join(r.root, name)
	require.NoError(r.t, os.WriteFile(path, []byte(content), 0o600))
	r.age(path, 24*time.Hour)
	return path
}

// age sets when the file was last written.
func (r *rig) age(path string, ago time.Duration) {
	r.t.Helper()
	at := r.now.Add(-ago)
	require.NoError(r.t, os.Chtimes(path, at, at))
}

func (r *rig) request(name string, keep int) contract.Request {
	return contract.Request{
		RequestID: "op-1", Session: contract.SessionRef{Tenant: "t", Store: "s", ID: name},
		Writer: contract.WriterNone, Settings: contract.Settings{KeepRecentTokens: keep},
	}.Normalize()
}

// execute runs one activity by its contract name.
func execute[T any](r *rig, name string, in any) (out T, err error) {
	r.t.Helper()
	value, err := r.env.ExecuteActivity(name, in)
	if err != nil {
		return out, err
	}
	require.NoError(r.t, value.Get(&out))
	return out, nil
}

func (r *rig) prepare(request contract.Request) contract.PreparePlanResult {
	r.t.Helper()
	out, err := execute[contract.PreparePlanResult](r, contract.ActivityPreparePlan, contract.PreparePlanInput{Request: request})
	require.NoError(r.t, err)
	return out
}

func (r *rig) call(planned contract.PlannedCandidate, i, ordinal int) contract.CallModelResult {
	r.t.Helper()
	c := planned.Calls[i]
	out, err := execute[contract.CallModelResult](r, contract.ActivityCallModel, contract.CallModelInput{
		Operation: "op-1", Candidate: planned.Candidate, Part: c.Part, Request: c.Request, MaxOutput: c.MaxOutput,
		Ordinal: ordinal, InputTokens: c.InputTokens,
	})
	require.NoError(r.t, err)
	return out
}

// compact runs the steps of one compaction the way the workflow does, without its policy.
func (r *rig) compact(request contract.Request) contract.Outcome {
	r.t.Helper()
	plan := r.prepare(request)
	if plan.End != nil {
		return *plan.End
	}
	in := contract.CommitInput{
		Request: request, Plan: plan.Plan, Reanchor: plan.Reanchor,
		Outcome: contract.Outcome{Operation: request.Operation, Attempt: request.Attempt, Session: request.Session, TokensBefore: plan.TokensBefore},
	}
	if plan.Reanchor == "" {
		review := r.review(plan)
		require.Contains(r.t, []contract.Verdict{contract.VerdictAccept, contract.VerdictRepaired}, review.Verdict, review.Reasons)
		in.Summary, in.Outcome.Summary, in.Review = review.Summary, review.Summary, &review
	}
	return r.commit(in)
}

// review asks for every part and reviews the answers.
func (r *rig) review(plan contract.PreparePlanResult) contract.ReviewResult {
	r.t.Helper()
	in := contract.ReviewInput{Plan: plan.Plan}
	for i, c := range plan.Candidates[0].Calls {
		answer := r.call(plan.Candidates[0], i, 0)
		require.Nil(r.t, answer.Failure)
		in.Answers = append(in.Answers, contract.AnswerRef{Part: c.Part, Digest: answer.Answer, Candidate: "test/model"})
	}
	review, err := execute[contract.ReviewResult](r, contract.ActivityReview, in)
	require.NoError(r.t, err)
	return review
}

func (r *rig) commit(in contract.CommitInput) contract.Outcome {
	r.t.Helper()
	out, err := execute[contract.CommitResult](r, contract.ActivityCommit, in)
	require.NoError(r.t, err)
	return out.Outcome
}

type oneStore struct{ driver store.Driver }

func (s oneStore) Driver(string) (store.Driver, error) { return s.driver, nil }

// scripted is a candidate that answers with text or fails with err, and counts.
type scripted struct {
	mu    sync.Mutex
	text  string
	err   error
	calls []model.Call
}

func (s *scripted) Client(string) (model.Client, model.Price, error) {
	return s, model.Price{Input: 1, Output: 2}, nil
}
func (s *scripted) Endpoint() string { return "scripted" }

func (s *scripted) Complete(_ context.Context, call model.Call) (model.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	if s.err != nil {
		return model.Answer{}, s.err
	}
	return model.Answer{Text: s.text, FinishReason: "stop", Usage: contract.Usage{InputTokens: 1_000_000, OutputTokens: 500_000}}, nil
}

func (s *scripted) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// unrecorded is a Recorder that keeps nothing.
type unrecorded struct{}

func (unrecorded) Compaction(contract.Outcome, contract.Reason, string, time.Duration) {}
func (unrecorded) Stage(contract.Part, time.Duration)                                  {}
func (unrecorded) ModelAttempt(string, string, time.Duration, contract.Usage)          {}
func (unrecorded) Verdict(contract.Verdict, []contract.Code)                           {}
func (unrecorded) Published(string, bool)                                              {}

var (
	_ Recorder        = unrecorded{}
	_ event.Publisher = (*eventmem.Bus)(nil)
)

const goodSummary = `## Goal
Import atlas rows into the staging database without touching drafts.

## Progress
### Done
- [x] SUMMARY-TWO: the importer skeleton is in place and draft rows are skipped.

## Next Steps
1. Write the README.

## Critical Context
- The staging database listens on port 6543.
`
