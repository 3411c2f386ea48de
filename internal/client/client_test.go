package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"recap/internal/contract"
)

func TestSubmitStartsOneRunPerSession(t *testing.T) {
	t.Parallel()
	f := &fakeServer{attrs: true}
	c := New(f, Options{})

	first := submit(t, c, request("op-1"))
	require.Equal(t, Accepted{WorkflowID: "compact/acme/local/s1.jsonl", RunID: "run-1", Operation: "op-1"}, first)

	again := submit(t, c, request("op-1"))
	require.Equal(t, first, again, "the same request is the same operation")

	other := submit(t, c, request("op-2"))
	require.Equal(t, Accepted{WorkflowID: first.WorkflowID, RunID: "run-1", Operation: "op-1", Joined: true}, other)
	require.Len(t, f.runs, 1)

	o := f.starts[0]
	require.Equal(t, contract.QueueMain, o.TaskQueue)
	require.Equal(t, enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING, o.WorkflowIDConflictPolicy)
	require.Equal(t, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, o.WorkflowIDReusePolicy)
	require.Equal(t, contract.DefaultKeepRecentTokens, f.runs[0].input.Settings.KeepRecentTokens, "requests are normalised")
}

func TestSubmitRefusesAnInvalidRequestBeforeAnyCall(t *testing.T) {
	t.Parallel()
	f := &fakeServer{}
	_, err := New(f, Options{}).Submit(t.Context(), contract.Request{RequestID: "op", Session: contract.SessionRef{Tenant: "acme"}})
	require.Equal(t, KindInvalid, KindOf(err))
	require.Empty(t, f.starts)
}

// A server that does not know the search attributes must not block a start (DESIGN §4).
func TestSubmitWithoutSearchAttributes(t *testing.T) {
	t.Parallel()
	f := &fakeServer{attrs: false}
	c := New(f, Options{})
	require.True(t, submit(t, c, request("op-1")).Unindexed)
	require.Len(t, f.starts, 2, "with attributes, then without")
	f.runs[0].end(contract.Outcome{State: contract.StateCommitted}, nil)
	require.True(t, submit(t, c, request("op-2")).Unindexed)
	require.Len(t, f.starts, 3, "the refusal is remembered")
}

func TestSubmitDoesNotBlameAttributesForAnotherInvalidArgument(t *testing.T) {
	t.Parallel()
	f := &fakeServer{attrs: true, err: serviceerror.NewInvalidArgument("id too long")}
	c := New(f, Options{})
	_, err := c.Submit(t.Context(), request("op-1"))
	require.Equal(t, KindInvalid, KindOf(err))
	require.False(t, c.plain.Load())
}

// No content, path or secret is in a search attribute (DESIGN §4).
func TestSessionLabelIsNoPath(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"s1.jsonl":                         "s1.jsonl",
		"--home-me-secret--/s1.jsonl":      "s1.jsonl",
		"a b.jsonl":                        "",
		strings.Repeat("x", 300):           "",
		"--p--/" + strings.Repeat("ü", 40): "",
	} {
		got := SessionLabel(contract.SessionRef{ID: id})
		require.Regexp(t, safeLabel, got)
		require.NotContains(t, got, "/")
		if want != "" {
			require.Equal(t, want, got)
		}
	}
}

// Interactive before idle, tenants take turns (DESIGN §4).
func TestPriorityPutsWhatIsWaitedForFirst(t *testing.T) {
	t.Parallel()
	want := map[contract.Reason]int{
		contract.ReasonOverflow: 1, contract.ReasonIncomplete: 1, contract.ReasonMidTurn: 1,
		contract.ReasonManual: 2, contract.ReasonProviderSwitch: 2, contract.ReasonThreshold: 3, contract.ReasonIdle: 5,
	}
	for _, r := range contract.Reasons {
		req := request("op")
		req.Reason = r
		require.Equal(t, temporal.Priority{PriorityKey: want[r], FairnessKey: "acme"}, priority(req), r)
	}
	long := request("op")
	long.Session.Tenant = strings.Repeat("t", 200)
	require.LessOrEqual(t, len(priority(long).FairnessKey), 64)
}

// A closed run's Outcome is in its result or its failure details (DESIGN §4).
func TestWaitReadsTheOutcomeHoweverTheRunClosed(t *testing.T) {
	t.Parallel()
	outcome := func(s contract.State) contract.Outcome {
		return contract.Outcome{Operation: "op-1", Attempt: 1, Session: ref, State: s, Message: "m"}
	}
	for _, tc := range []struct {
		state contract.State
		err   func(contract.Outcome) error
	}{
		{contract.StateCommitted, func(contract.Outcome) error { return nil }},
		{contract.StateSkipped, func(contract.Outcome) error { return nil }},
		{contract.StateFailed, func(o contract.Outcome) error {
			return temporal.NewApplicationErrorWithOptions("m", "failed", temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{o}})
		}},
		{contract.StateNeedsOperator, func(o contract.Outcome) error {
			return fmt.Errorf("workflow execution error: %w", temporal.NewNonRetryableApplicationError("m", "needsOperator", nil, o))
		}},
		{contract.StateCancelled, func(o contract.Outcome) error { return temporal.NewCanceledError(o) }},
	} {
		t.Run(string(tc.state), func(t *testing.T) {
			t.Parallel()
			f := &fakeServer{attrs: true}
			c := New(f, Options{})
			a := submit(t, c, request("op-1"))
			want := outcome(tc.state)
			f.runs[0].end(want, tc.err(want))
			got, err := c.Wait(t.Context(), a)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(want, got))
		})
	}
}

func TestWaitReportsARunWithoutOutcome(t *testing.T) {
	t.Parallel()
	f := &fakeServer{attrs: true}
	c := New(f, Options{})
	a := submit(t, c, request("op-1"))
	f.runs[0].end(contract.Outcome{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil))
	_, err := c.Wait(t.Context(), a)
	require.Equal(t, KindLost, KindOf(err))
}

func TestWaitPassesOnWhyTheCallerStopped(t *testing.T) {
	t.Parallel()
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	f := &fakeServer{err: serviceerror.NewCanceled("context canceled")}
	_, err := New(f, Options{}).Wait(ctx, Accepted{WorkflowID: "w", Operation: "op"})
	require.ErrorIs(t, err, stop)
	require.Empty(t, KindOf(err))
}

// A server ends a call a moment before the caller's own deadline, which is no sign of being away.
func TestADeadlineOfTheCallerIsNotAServerThatIsAway(t *testing.T) {
	t.Parallel()
	ended := errors.New("the caller's limit")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, ended)
	defer cancel()
	f := &fakeServer{err: serviceerror.NewDeadlineExceeded("deadline")}
	_, err := New(f, Options{}).Wait(ctx, Accepted{WorkflowID: "w", Operation: "op"})
	require.ErrorIs(t, err, ended)
}

func TestErrorsAreTypedByWhatTheServerSays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		want Kind
	}{
		{serviceerror.NewNotFound("x"), KindNotFound},
		{serviceerror.NewNamespaceNotFound("x"), KindNotFound},
		{serviceerror.NewUnavailable("x"), KindUnavailable},
		{serviceerror.NewDeadlineExceeded("x"), KindUnavailable},
		{context.DeadlineExceeded, KindUnavailable},
		{serviceerror.NewPermissionDenied("x", ""), KindCredentials},
		{serviceerror.NewInvalidArgument("x"), KindInvalid},
		{serviceerror.NewInternal("x"), KindInternal},
		{errors.New("x"), KindInternal},
	} {
		got, _ := kindOf(fmt.Errorf("wrapped: %w", tc.err))
		require.Equal(t, tc.want, got, "%T", tc.err)
	}
}

func TestFindByOperationSessionAndWorkflow(t *testing.T) {
	t.Parallel()
	for _, attrs := range []bool{true, false} {
		f := &fakeServer{attrs: attrs}
		c := New(f, Options{})
		submit(t, c, request("op-1"))
		other := request("op-2")
		other.Session.ID = "s2.jsonl"
		submit(t, c, other)

		o, err := c.Find(t.Context(), ParseName("op-1"))
		require.NoError(t, err)
		require.Equal(t, "run-1", o.RunID)
		o, err = c.Find(t.Context(), Name{Session: &other.Session})
		require.NoError(t, err)
		require.Equal(t, "op-2", o.Operation)
		o, err = c.Find(t.Context(), ParseName("compact/acme/local/s2.jsonl"))
		require.NoError(t, err)
		require.Equal(t, other.Session, o.Session)
		_, err = c.Find(t.Context(), ParseName("op-3"))
		require.Equal(t, KindNotFound, KindOf(err))
		_, err = c.Find(t.Context(), ParseName("compact/acme/local/s3.jsonl"))
		require.Equal(t, KindNotFound, KindOf(err))
	}
}

func TestListQueriesAndFilters(t *testing.T) {
	t.Parallel()
	f := &fakeServer{attrs: true}
	c := New(f, Options{})
	submit(t, c, request("op-1"))
	f.runs[0].end(contract.Outcome{State: contract.StateCommitted}, nil)
	submit(t, c, request("op-2"))
	f.runs[0].info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW

	all, err := c.List(t.Context(), Filter{})
	require.NoError(t, err)
	require.Len(t, all, 1, "a run that was continued is listed by its successor")

	_, err = c.List(t.Context(), Filter{Tenant: "acme", Session: &ref, Operation: "it's", Running: true, State: contract.StateFailed})
	require.NoError(t, err)
	require.Equal(t, "WorkflowType = 'Compact' AND ExecutionStatus = 'Running' AND RecapTenant = 'acme' AND RecapSession = 's1.jsonl'"+
		" AND RecapOperation = 'it''s' AND RecapState = 'failed'", f.queries[len(f.queries)-1])
}

func TestRetrySignalsAWaitingRun(t *testing.T) {
	t.Parallel()
	f := &fakeServer{attrs: true}
	c := New(f, Options{})
	a := submit(t, c, request("op-1"))
	r, err := c.Retry(t.Context(), ParseName("op-1"))
	require.NoError(t, err)
	require.Equal(t, Retried{Accepted: a, Signalled: true}, r)
	require.Equal(t, []string{"compact/acme/local/s1.jsonl run-1 proceed"}, f.signals)
	require.Len(t, f.runs, 1)
}

func TestRetryStartsTheNextAttemptOfTheSameRequest(t *testing.T) {
	t.Parallel()
	f := &fakeServer{attrs: true}
	c := New(f, Options{})
	req := request("op-1")
	req.Focus, req.Models = "the parser", []string{"a/b"}
	submit(t, c, req)
	failed := contract.Outcome{Operation: "op-1", Attempt: 1, State: contract.StateFailed}
	f.runs[0].end(failed, temporal.NewNonRetryableApplicationError("m", "failed", nil, failed))

	r, err := c.Retry(t.Context(), ParseName("op-1"))
	require.NoError(t, err)
	require.Equal(t, 2, r.Attempt)
	require.Equal(t, "run-2", r.RunID)
	want := req.Normalize()
	want.Attempt = 2
	require.Empty(t, cmp.Diff(want, f.runs[1].input))
}

func TestRetryOfALostRunReadsItsRequest(t *testing.T) {
	t.Parallel()
	f := &fakeServer{attrs: true}
	c := New(f, Options{})
	submit(t, c, request("op-1"))
	f.runs[0].end(contract.Outcome{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil))
	r, err := c.Retry(t.Context(), ParseName("op-1"))
	require.NoError(t, err)
	require.Equal(t, 2, r.Attempt)
}

func TestRetryAndCancelRefuseWhatIsOver(t *testing.T) {
	t.Parallel()
	f := &fakeServer{attrs: true}
	c := New(f, Options{})
	submit(t, c, request("op-1"))
	f.runs[0].end(contract.Outcome{Operation: "op-1", State: contract.StateCommitted}, nil)
	_, err := c.Retry(t.Context(), ParseName("op-1"))
	require.Equal(t, KindClosed, KindOf(err))
	_, err = c.Cancel(t.Context(), ParseName("op-1"))
	require.Equal(t, KindClosed, KindOf(err))
	require.Empty(t, f.cancelled)
	require.Len(t, f.runs, 1)
}

func TestCancelNamesTheRun(t *testing.T) {
	t.Parallel()
	f := &fakeServer{attrs: true}
	c := New(f, Options{})
	a := submit(t, c, request("op-1"))
	got, err := c.Cancel(t.Context(), ParseName("op-1"))
	require.NoError(t, err)
	require.Equal(t, a, got)
	require.Equal(t, []string{"compact/acme/local/s1.jsonl run-1"}, f.cancelled)
}

func TestStatusOfRunningAndClosed(t *testing.T) {
	t.Parallel()
	f := &fakeServer{attrs: true, status: contract.Status{Operation: "op-1", Phase: contract.PhaseWaiting, WaitingUntil: 42}}
	c := New(f, Options{})
	submit(t, c, request("op-1"))
	s, err := c.Status(t.Context(), ParseName("op-1"))
	require.NoError(t, err)
	require.Equal(t, RunRunning, s.Status)
	require.Equal(t, int64(42), s.Progress.WaitingUntil)

	out := contract.Outcome{Operation: "op-1", Attempt: 1, State: contract.StateSkipped, Reason: contract.CodeNothingToCompact}
	f.runs[0].end(out, nil)
	s, err = c.Status(t.Context(), ParseName("op-1"))
	require.NoError(t, err)
	require.Equal(t, contract.PhaseDone, s.Progress.Phase)
	require.Empty(t, cmp.Diff(&out, s.Progress.Outcome))
	require.Equal(t, contract.StateSkipped, s.State)
}

// No server reachable: said quickly, as a kind, in one line (DESIGN §9).
func TestDialSaysThatNoServerAnswers(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close()) // a port that nobody listens on
	_, err = Dial(t.Context(), client.Options{HostPort: address})
	require.Equal(t, KindUnavailable, KindOf(err))
	require.ErrorContains(t, err, address)
	require.NotContains(t, err.Error(), "\n")
}

func TestDialPassesOnWhyTheCallerStopped(t *testing.T) {
	t.Parallel()
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	_, err := Dial(ctx, client.Options{HostPort: "127.0.0.1:1"})
	require.ErrorIs(t, err, stop)
}
