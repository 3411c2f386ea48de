package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"recap/internal/contract"
)

// close publishes the terminal event and closes the workflow as the outcome's state says; nothing
// else decides that (DESIGN §4, promise G6).
func (r *compactRun) close(ctx workflow.Context, o contract.Outcome) (contract.Outcome, error) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	r.status.Phase, r.status.WaitingUntil, r.status.WaitingFor = contract.PhaseDone, 0, ""
	o.StartedAt = r.started.UnixMilli()
	o.TookMs = workflow.Now(ctx).Sub(r.started).Milliseconds()
	r.status.Outcome = &o
	r.markState(ctx, o)
	r.events.finish(ctx, contract.Event{Name: o.State.EventName(), Terminal: true, Outcome: &o})
	switch {
	case o.State.Succeeded():
		return o, nil
	case o.State == contract.StateCancelled:
		return contract.Outcome{}, temporal.NewCanceledError(o)
	}
	return contract.Outcome{}, temporal.NewApplicationErrorWithOptions(o.Message, string(o.State),
		temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{o}})
}

// markState makes the outcome findable. A run that was started without search attributes runs on a
// server that does not know them, where naming one would block the workflow.
func (r *compactRun) markState(ctx workflow.Context, o contract.Outcome) {
	tenant := temporal.NewSearchAttributeKeyKeyword(contract.AttrTenant)
	if _, known := workflow.GetTypedSearchAttributes(ctx).GetKeyword(tenant); !known {
		return
	}
	updates := []temporal.SearchAttributeUpdate{
		temporal.NewSearchAttributeKeyKeyword(contract.AttrState).ValueSet(string(o.State)),
	}
	if o.Reason != contract.CodeNone {
		updates = append(updates, temporal.NewSearchAttributeKeyKeyword(contract.AttrReason).ValueSet(string(o.Reason)))
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, updates...); err != nil {
		workflow.GetLogger(ctx).Error("the state could not be made searchable", "error", err)
	}
}
