package client

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"recap/internal/contract"
)

// Standing is where an operation is now. Progress is what its run says; of a closed run it is made
// from the outcome.
type Standing struct {
	Operation
	Progress contract.Status `json:"progress"`
}

// Status asks a run what it is doing, and a closed one how it ended.
func (c *Client) Status(ctx context.Context, n Name) (Standing, error) {
	o, err := c.Find(ctx, n)
	if err != nil {
		return Standing{}, err
	}
	if !o.Running() {
		return c.closed(ctx, o)
	}
	value, err := c.temporal.QueryWorkflow(ctx, o.WorkflowID, o.RunID, contract.QueryStatus)
	if err != nil {
		err = classify(ctx, "status of", o.Operation, err)
		if e, ok := errors.AsType[*Error](err); ok && e.Kind == KindUnavailable {
			e.Msg = "no worker answers for it; is a recap worker running?"
		}
		return Standing{}, err
	}
	s := Standing{Operation: o}
	if err := value.Get(&s.Progress); err != nil {
		return Standing{}, &Error{Kind: KindInternal, Verb: "status of", On: o.Operation, Msg: "the run's answer cannot be read", Err: err}
	}
	return s, nil
}

func (c *Client) closed(ctx context.Context, o Operation) (Standing, error) {
	out, err := c.Wait(ctx, o.Accepted())
	if err != nil {
		return Standing{}, err
	}
	o.State, o.Reason = out.State, out.Reason
	return Standing{Operation: o, Progress: contract.Status{
		Operation: out.Operation, Attempt: out.Attempt, Phase: contract.PhaseDone, Candidate: out.Candidate,
		Done: out.Stages, Total: out.Stages, Attempts: out.Attempts, Outcome: &out,
	}}, nil
}

// Retried says what a retry did: told a running operation to go on at once, or started the next
// attempt of one that had ended.
type Retried struct {
	Accepted
	Attempt   int  `json:"attempt,omitempty"` // of the run that was started
	Signalled bool `json:"signalled"`
}

// Retry lets a waiting operation go on at once, or starts the same operation again with the next
// attempt number; answers that were stored are not asked for again (promise G3). An operation that
// has reached its goal is refused with KindClosed.
func (c *Client) Retry(ctx context.Context, n Name) (Retried, error) {
	o, err := c.Find(ctx, n)
	if err != nil {
		return Retried{}, err
	}
	if o.Running() {
		err := c.temporal.SignalWorkflow(ctx, o.WorkflowID, o.RunID, contract.SignalProceed, nil)
		if err == nil {
			return Retried{Accepted: o.Accepted(), Signalled: true}, nil
		}
		if _, ended := errors.AsType[*serviceerror.NotFound](err); !ended {
			return Retried{}, classify(ctx, "retry", o.Operation, err)
		} // it ended between the two calls: go on as with any closed run
	}
	return c.again(ctx, o)
}

func (c *Client) again(ctx context.Context, o Operation) (Retried, error) {
	out, err := c.Wait(ctx, o.Accepted())
	if err != nil && KindOf(err) != KindLost {
		return Retried{}, err
	}
	if out.State == contract.StateCommitted || out.State == contract.StateReturned {
		return Retried{}, &Error{Kind: KindClosed, Verb: "retry", On: o.Operation, Msg: "it is " + string(out.State) + "; nothing is left to do"}
	}
	req, err := c.request(ctx, o)
	if err != nil {
		return Retried{}, err
	}
	req.Attempt = max(req.Attempt, out.Attempt) + 1
	a, err := c.Submit(ctx, req)
	if err != nil {
		return Retried{}, err
	}
	return Retried{Accepted: a, Attempt: req.Attempt}, nil
}

// request reads what a run was started with. Of a chain that was continued as new the first run
// holds it, and any later one where the server has forgotten the first.
func (c *Client) request(ctx context.Context, o Operation) (contract.Request, error) {
	var req contract.Request
	var err error
	for _, run := range []string{o.firstRun, o.RunID} {
		if run == "" {
			continue
		}
		if req, err = c.input(ctx, o.WorkflowID, run); err == nil {
			return req.Normalize(), nil
		}
	}
	return req, classify(ctx, "read the request of", o.Operation, err)
}

func (c *Client) input(ctx context.Context, workflowID, runID string) (contract.Request, error) {
	var req contract.Request
	iter := c.temporal.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !iter.HasNext() {
		return req, serviceerror.NewNotFound("the history is empty")
	}
	first, err := iter.Next()
	if err != nil {
		return req, err
	}
	err = c.conv.FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().GetInput(), &req)
	return req, err
}

// Cancel asks a running operation to stop. It returns once the request is recorded; an operation
// whose commit has begun finishes it. One that has ended is refused with KindClosed.
func (c *Client) Cancel(ctx context.Context, n Name) (Accepted, error) {
	o, err := c.Find(ctx, n)
	if err != nil {
		return Accepted{}, err
	}
	closed := &Error{Kind: KindClosed, Verb: "cancel", On: o.Operation, Msg: "it has ended already"}
	if !o.Running() {
		return Accepted{}, closed
	}
	err = c.temporal.CancelWorkflow(ctx, o.WorkflowID, o.RunID)
	if _, ended := errors.AsType[*serviceerror.NotFound](err); ended {
		return Accepted{}, closed
	}
	if _, again := errors.AsType[*serviceerror.CancellationAlreadyRequested](err); again {
		err = nil
	}
	return o.Accepted(), classify(ctx, "cancel", o.Operation, err)
}
