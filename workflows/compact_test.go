package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"recap/internal/contract"
)

// bench is a scripted set of activities under the names of the contract. Every activity counts its
// calls; the zero script is a run that commits.
type bench struct {
	env *testsuite.TestWorkflowEnvironment

	mu        sync.Mutex
	calls     []contract.CallModelInput
	reviews   int
	commits   []contract.CommitInput
	concluded []contract.ConcludeInput
	published []contract.Event
	delivered []contract.Event

	plan   func(n int) (contract.PreparePlanResult, error)
	model  func(n int, in contract.CallModelInput) (contract.CallModelResult, error)
	review func(n int) (contract.ReviewResult, error)
	away   bool // the broker acknowledges nothing
	plans  int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	b := &bench{env: suite.NewTestWorkflowEnvironment()}
	b.env.SetTestTimeout(30 * time.Second)
	Register(b.env)
	one := 1000
	b.plan = func(int) (contract.PreparePlanResult, error) {
		return contract.PreparePlanResult{
			Plan: "plan", Retry: retryOn, TokensBefore: &one, FirstKept: "k1", Summarized: 3, Kept: 2,
			Candidates: []contract.PlannedCandidate{planned("a/one", 1000), planned("b/two", 2000)},
		}, nil
	}
	b.model = func(int, contract.CallModelInput) (contract.CallModelResult, error) {
		return contract.CallModelResult{Answer: "answer"}, nil
	}
	b.review = func(int) (contract.ReviewResult, error) {
		return contract.ReviewResult{Verdict: contract.VerdictAccept, Summary: "summary"}, nil
	}
	b.register()
	return b
}

func planned(id string, window int) contract.PlannedCandidate {
	return contract.PlannedCandidate{
		Candidate: contract.Candidate{ID: id, API: "openai-chat", ContextWindow: window, TotalTimeoutMs: 60000},
		Calls:     []contract.PlannedCall{{Part: contract.PartHistory, Request: "request", InputTokens: 100, MaxOutput: 50}},
	}
}

func (b *bench) register() {
	name := func(n string) activity.RegisterOptions { return activity.RegisterOptions{Name: n} }
	b.env.RegisterActivityWithOptions(func(_ context.Context, _ contract.PreparePlanInput) (contract.PreparePlanResult, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.plans++
		return b.plan(b.plans)
	}, name(contract.ActivityPreparePlan))
	b.env.RegisterActivityWithOptions(func(_ context.Context, in contract.CallModelInput) (contract.CallModelResult, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls = append(b.calls, in)
		return b.model(len(b.calls), in)
	}, name(contract.ActivityCallModel))
	b.env.RegisterActivityWithOptions(func(_ context.Context, _ contract.ReviewInput) (contract.ReviewResult, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.reviews++
		return b.review(b.reviews)
	}, name(contract.ActivityReview))
	b.env.RegisterActivityWithOptions(func(_ context.Context, in contract.CommitInput) (contract.CommitResult, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.commits = append(b.commits, in)
		o := in.Outcome
		o.State, o.EntryID, o.Receipt, o.Attempts = contract.StateCommitted, "e1", "receipt", contract.LastAttempts(in.Attempts)
		return contract.CommitResult{Outcome: o}, nil
	}, name(contract.ActivityCommit))
	b.env.RegisterActivityWithOptions(func(_ context.Context, in contract.ConcludeInput) (contract.CommitResult, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.concluded = append(b.concluded, in)
		o := in.Outcome
		o.Receipt, o.Attempts = "receipt", contract.LastAttempts(in.Attempts)
		return contract.CommitResult{Outcome: o}, nil
	}, name(contract.ActivityConclude))
	b.env.RegisterActivityWithOptions(func(_ context.Context, in contract.PublishInput) (contract.PublishResult, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.away {
			return contract.PublishResult{Unpublished: in.Events}, nil
		}
		b.published = append(b.published, in.Events...)
		return contract.PublishResult{}, nil
	}, name(contract.ActivityPublish))
	b.env.RegisterActivityWithOptions(func(_ context.Context, e contract.Event) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.delivered = append(b.delivered, e)
		return nil
	}, name(contract.ActivityDeliverEvent))
}

func request() contract.Request {
	return contract.Request{RequestID: "r1", Session: contract.SessionRef{Tenant: "t", Store: "s", ID: "x"}}.Normalize()
}

// run executes the workflow and returns its outcome, from the result or the failure's details.
func (b *bench) run(t *testing.T) (contract.Outcome, error) {
	t.Helper()
	b.env.ExecuteWorkflow(contract.WorkflowCompact, request())
	require.True(t, b.env.IsWorkflowCompleted())
	var o contract.Outcome
	err := b.env.GetWorkflowError()
	if err == nil {
		require.NoError(t, b.env.GetWorkflowResult(&o))
		return o, nil
	}
	var app *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	switch {
	case errors.As(err, &app):
		require.NoError(t, app.Details(&o))
	case errors.As(err, &cancelled):
		require.NoError(t, cancelled.Details(&o))
	default:
		require.NoError(t, err)
	}
	return o, err
}

func names(events []contract.Event) []string {
	var list []string
	for _, e := range events {
		list = append(list, e.Name)
	}
	return list
}

func failWith(class string) contract.CallModelResult {
	return contract.CallModelResult{Failure: &contract.ModelFailure{Class: class, Message: class}}
}

func TestCompactCommitsOneEntry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o, err := b.run(t)
	require.NoError(t, err)
	require.Equal(t, contract.StateCommitted, o.State)
	require.Equal(t, "a/one", o.Candidate)
	require.Equal(t, 1, o.Stages)
	require.Len(t, b.calls, 1)
	require.Len(t, b.commits, 1)
	require.Equal(t, []string{"started", "stage_completed", "committed"}, names(b.published))
	for i, e := range b.published {
		require.Equal(t, i, e.Ordinal)
	}
}

func TestNothingToDoCostsNoModelCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.plan = func(int) (contract.PreparePlanResult, error) {
		return contract.PreparePlanResult{End: &contract.Outcome{State: contract.StateSkipped, Reason: contract.CodeNothingToCompact}}, nil
	}
	o, err := b.run(t)
	require.NoError(t, err)
	require.Equal(t, contract.StateSkipped, o.State)
	require.Empty(t, b.calls)
	require.Equal(t, []string{"started", "skipped"}, names(b.published))
}

func TestSplitTurnAsksBothPartsSideBySide(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.plan = func(int) (contract.PreparePlanResult, error) {
		c := planned("a/one", 1000)
		c.Calls = append(c.Calls, contract.PlannedCall{Part: contract.PartTurnPrefix, Request: "prefix", MaxOutput: 20})
		return contract.PreparePlanResult{Plan: "plan", Retry: retryOn, Candidates: []contract.PlannedCandidate{c}}, nil
	}
	o, err := b.run(t)
	require.NoError(t, err)
	require.Equal(t, 2, o.Stages)
	require.Len(t, b.calls, 2)
	require.Equal(t, 1, b.reviews)
}

func TestChainGoesOnToTheNextCandidate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model = func(n int, _ contract.CallModelInput) (contract.CallModelResult, error) {
		if n == 1 {
			return failWith(classTimeout), nil
		}
		return contract.CallModelResult{Answer: "answer"}, nil
	}
	o, err := b.run(t)
	require.NoError(t, err)
	require.Equal(t, "b/two", o.Candidate)
	require.Len(t, o.Attempts, 2)
	require.Equal(t, classTimeout, o.Attempts[0].Class)
	require.Equal(t, []string{"started", "attempt_failed", "stage_completed", "committed"}, names(b.published))
}

func TestTransientFailuresAreRetriedTheConfiguredNumberOfTimes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.plan = func(int) (contract.PreparePlanResult, error) {
		retry := retryOn
		retry.MaxRetries = 2
		return contract.PreparePlanResult{Plan: "plan", Retry: retry, Candidates: []contract.PlannedCandidate{planned("a/one", 1000)}}, nil
	}
	b.model = func(int, contract.CallModelInput) (contract.CallModelResult, error) {
		return failWith(classTransient), nil
	}
	o, err := b.run(t)
	require.Error(t, err)
	require.Equal(t, contract.StateFailed, o.State)
	require.Equal(t, contract.CodeCandidatesFailed, o.Reason)
	require.Len(t, b.calls, 3)
	require.Len(t, b.concluded, 1)
	require.Equal(t, int64(500), o.Attempts[1].DelayMs)
	require.Equal(t, int64(1000), o.Attempts[2].DelayMs)
}

func TestEmptyAnswerIsAskedOnceMoreChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model = func(n int, _ contract.CallModelInput) (contract.CallModelResult, error) {
		if n == 1 {
			return failWith(classEmpty), nil
		}
		return contract.CallModelResult{Answer: "answer"}, nil
	}
	_, err := b.run(t)
	require.NoError(t, err)
	require.Equal(t, 0, b.calls[0].Ordinal)
	require.Equal(t, 1, b.calls[1].Ordinal)
	require.Greater(t, b.calls[1].MaxOutput, b.calls[0].MaxOutput)
	require.Equal(t, classEmpty, b.calls[1].After)
	require.Equal(t, b.calls[0].Candidate.ID, b.calls[1].Candidate.ID)
}

func TestOverflowSkipsCandidatesThatAreNotLarger(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.plan = func(int) (contract.PreparePlanResult, error) {
		return contract.PreparePlanResult{Plan: "plan", Retry: retryOn, Candidates: []contract.PlannedCandidate{
			planned("a/one", 1000), planned("b/same", 1000), planned("c/larger", 3000),
		}}, nil
	}
	b.model = func(n int, _ contract.CallModelInput) (contract.CallModelResult, error) {
		if n == 1 {
			return failWith(classOverflow), nil
		}
		return contract.CallModelResult{Answer: "answer"}, nil
	}
	o, err := b.run(t)
	require.NoError(t, err)
	require.Equal(t, "c/larger", o.Candidate)
	require.Len(t, b.calls, 2)
}

func TestGateRefusalTakesTheNextOrdinalThenTheNextCandidateThenRejects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.review = func(int) (contract.ReviewResult, error) {
		return contract.ReviewResult{Verdict: contract.VerdictRetrySame, Part: contract.PartHistory, Reasons: []contract.Code{"sections"}, Feedback: "said"}, nil
	}
	o, err := b.run(t)
	require.Error(t, err)
	require.Equal(t, contract.StateRejected, o.State)
	require.Empty(t, b.commits)
	var asked []string
	for _, c := range b.calls {
		asked = append(asked, c.Candidate.ID)
	}
	require.Equal(t, []string{"a/one", "a/one", "b/two", "b/two"}, asked)
	require.Equal(t, "said", b.calls[1].Feedback)
	require.Empty(t, b.calls[2].Feedback, "another candidate starts afresh")
	require.Equal(t, []contract.Code{"sections"}, o.Attempts[0].Reasons)
	require.Equal(t, "rejected", b.published[len(b.published)-1].Name)
}

func TestAnAnswerPaidByAnEarlierRunDoesNotUseUpTheChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model = func(n int, in contract.CallModelInput) (contract.CallModelResult, error) {
		return contract.CallModelResult{Answer: "answer", Reused: in.Ordinal == 0}, nil
	}
	b.review = func(n int) (contract.ReviewResult, error) {
		if n < 3 {
			return contract.ReviewResult{Verdict: contract.VerdictRetrySame, Reasons: []contract.Code{"sections"}}, nil
		}
		return contract.ReviewResult{Verdict: contract.VerdictAccept, Summary: "summary"}, nil
	}
	o, err := b.run(t)
	require.NoError(t, err)
	require.Equal(t, "a/one", o.Candidate)
	require.Len(t, b.calls, 3)
	require.Equal(t, 2, b.calls[2].Ordinal)
}

func TestMissingPlanIsPreparedAgainAndBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model = func(n int, _ contract.CallModelInput) (contract.CallModelResult, error) {
		if n == 1 {
			return contract.CallModelResult{Failure: &contract.ModelFailure{PlanMissing: true}}, nil
		}
		return contract.CallModelResult{Answer: "answer"}, nil
	}
	_, err := b.run(t)
	require.NoError(t, err)
	require.Equal(t, 2, b.plans)

	b = newBench(t)
	b.review = func(int) (contract.ReviewResult, error) { return contract.ReviewResult{PlanMissing: true}, nil }
	o, err := b.run(t)
	require.Error(t, err)
	require.Equal(t, contract.CodePlanMissing, o.Reason)
	require.Equal(t, maxPlans, b.plans)
}

func TestTooLargeForEveryWindowFailsBeforeAnyCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.plan = func(int) (contract.PreparePlanResult, error) {
		c := planned("a/one", 10)
		c.Refused = "its window of 10 tokens does not hold the request"
		return contract.PreparePlanResult{Plan: "plan", Retry: retryOn, Candidates: []contract.PlannedCandidate{c}}, nil
	}
	o, err := b.run(t)
	require.Error(t, err)
	require.Equal(t, contract.CodeTooLarge, o.Reason)
	require.Contains(t, o.Message, "a/one: its window of 10 tokens")
	require.Empty(t, b.calls)
}

func waitingFor(hint time.Duration) func(int, contract.CallModelInput) (contract.CallModelResult, error) {
	return func(n int, _ contract.CallModelInput) (contract.CallModelResult, error) {
		if n == 1 {
			r := failWith(classRateLimited)
			r.Failure.RetryAfterMs = hint.Milliseconds()
			return r, nil
		}
		return contract.CallModelResult{Answer: "answer"}, nil
	}
}

func oneCandidate(int) (contract.PreparePlanResult, error) {
	return contract.PreparePlanResult{Plan: "plan", Retry: retryOn, Candidates: []contract.PlannedCandidate{planned("a/one", 1000)}}, nil
}

func TestTheLastCandidateWaitsDurablyAndSaysUntilWhen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.plan, b.model = oneCandidate, waitingFor(3*time.Hour)
	var seen contract.Status
	b.env.RegisterDelayedCallback(func() {
		v, err := b.env.QueryWorkflow(contract.QueryStatus)
		require.NoError(t, err)
		require.NoError(t, v.Get(&seen))
	}, time.Hour)
	start := b.env.Now()
	o, err := b.run(t)
	require.NoError(t, err)
	require.Equal(t, contract.StateCommitted, o.State)
	require.Equal(t, contract.PhaseWaiting, seen.Phase)
	require.InDelta(t, start.Add(3*time.Hour).UnixMilli(), seen.WaitingUntil, 5000)
	require.GreaterOrEqual(t, b.env.Now().Sub(start), 3*time.Hour)
	require.Contains(t, names(b.published), "waiting")
}

func TestRetryEndsAWaitAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.plan, b.model = oneCandidate, waitingFor(3*time.Hour)
	b.env.RegisterDelayedCallback(func() { b.env.SignalWorkflow(contract.SignalProceed, nil) }, time.Minute)
	start := b.env.Now()
	_, err := b.run(t)
	require.NoError(t, err)
	require.Less(t, b.env.Now().Sub(start), time.Hour)
}

func TestRetryDuringTheCallEndsTheWaitThatFollows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.plan, b.model = oneCandidate, waitingFor(3*time.Hour)
	signalled := false
	b.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == contract.ActivityCallModel && !signalled {
			signalled = true
			b.env.SignalWorkflow(contract.SignalProceed, nil)
		}
	})
	start := b.env.Now()
	_, err := b.run(t)
	require.NoError(t, err)
	require.True(t, signalled)
	require.Len(t, b.calls, 2)
	require.Less(t, b.env.Now().Sub(start), time.Hour)
}

func TestCancelEndsAWaitAtOnceAndWritesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.plan, b.model = oneCandidate, waitingFor(3*time.Hour)
	b.env.RegisterDelayedCallback(b.env.CancelWorkflow, time.Minute)
	o, err := b.run(t)
	require.Error(t, err)
	require.True(t, temporal.IsCanceledError(err), err)
	require.Equal(t, contract.StateCancelled, o.State)
	require.Empty(t, b.commits)
	require.Len(t, b.concluded, 1)
	require.Equal(t, "cancelled", b.published[len(b.published)-1].Name)
}

func TestABrokerThatIsAwayDelaysEventsNotTheOutcome(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.away = true
	o, err := b.run(t)
	require.NoError(t, err)
	require.Equal(t, contract.StateCommitted, o.State)
	require.Empty(t, b.published)
	require.Equal(t, []string{"started", "stage_completed", "committed"}, names(b.delivered))
}

func TestInvalidRequestIsRefusedBeforeAnything(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.env.ExecuteWorkflow(contract.WorkflowCompact, contract.Request{RequestID: "r"})
	require.ErrorContains(t, b.env.GetWorkflowError(), "tenant")
	require.Zero(t, b.plans)
}

// TestPayloadsStaySmallHoweverMuchFails is promise G9 at its worst: sixty failures with the longest
// messages, and a broker that is away all the time.
func TestPayloadsStaySmallHoweverMuchFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.away = true
	var largest int
	b.env.SetOnActivityStartedListener(func(_ *activity.Info, _ context.Context, args converter.EncodedValues) {
		var raw json.RawMessage
		if args.Get(&raw) == nil {
			largest = max(largest, len(raw))
		}
	})
	b.plan = func(int) (contract.PreparePlanResult, error) {
		retry := retryOn
		retry.MaxRetries = 100
		return contract.PreparePlanResult{Plan: "plan", Retry: retry, Candidates: []contract.PlannedCandidate{planned("a/one", 1000)}}, nil
	}
	b.model = func(int, contract.CallModelInput) (contract.CallModelResult, error) {
		r := failWith(classTransient)
		r.Failure.Message = strings.Repeat("x", 512)
		return r, nil
	}
	o, err := b.run(t)
	require.Error(t, err)
	require.Equal(t, contract.CodeAttemptsExhausted, o.Reason)
	require.Len(t, b.calls, maxFailedAttempts)
	require.Len(t, b.concluded[0].Attempts, maxFailedAttempts)
	require.Empty(t, b.concluded[0].Outcome.Attempts)
	require.Greater(t, largest, 10_000, "the listener sees the inputs")
	require.Less(t, largest, contract.MaxPayload)
	require.Equal(t, "started", b.delivered[0].Name)
	require.Equal(t, "failed", b.delivered[len(b.delivered)-1].Name)
	delivered, err := json.Marshal(contract.DeliverEventsInput{Events: b.delivered})
	require.NoError(t, err)
	require.Less(t, len(delivered), contract.MaxPayload)
}
