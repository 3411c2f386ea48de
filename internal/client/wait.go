package client

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"

	"recap/internal/contract"
)

// Wait blocks until the operation has ended and returns its outcome, whichever way the workflow
// closed: an outcome of state failed is a value here, not an error. Ending ctx stops the waiting,
// not the operation.
func (c *Client) Wait(ctx context.Context, a Accepted) (contract.Outcome, error) {
	var out contract.Outcome
	err := c.temporal.GetWorkflow(ctx, a.WorkflowID, a.RunID).Get(ctx, &out)
	if err == nil {
		return out, nil
	}
	if out, ok := outcomeOf(err); ok {
		return out, nil
	}
	if temporal.IsTerminatedError(err) || temporal.IsTimeoutError(err) {
		return out, &Error{
			Kind: KindLost, Verb: "wait for", On: a.Operation,
			Msg: "the run was ended from outside and left no outcome; retry it", Err: err,
		}
	}
	return out, classify(ctx, "wait for", a.Operation, err)
}

// outcomeOf finds the outcome in the details of a run's failure.
func outcomeOf(err error) (contract.Outcome, bool) {
	var out contract.Outcome
	if e, ok := errors.AsType[*temporal.ApplicationError](err); ok && e.HasDetails() && e.Details(&out) == nil && out.State != "" {
		return out, true
	}
	if e, ok := errors.AsType[*temporal.CanceledError](err); ok && e.HasDetails() && e.Details(&out) == nil && out.State != "" {
		return out, true
	}
	return contract.Outcome{}, false
}
