package workflows

import (
	"slices"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"recap/internal/contract"
)

// maxBacklog is how many events wait for a broker that is away. Progress is best effort; more of it
// would outgrow a payload.
const maxBacklog = 20

// emitter publishes the events of one run in order: progress beside the work, the terminal event at
// its end, and hands what the broker did not acknowledge to a DeliverEvents workflow (DESIGN §5.7).
type emitter struct {
	request contract.Request
	ordinal int
	backlog []contract.Event // emitted and not acknowledged, in order
	busy    bool             // a progress publication is under way
	away    bool             // the broker did not acknowledge: leave the rest to the end of the run
	closing bool             // the terminal event is next
}

// stamp completes an event with what all events of the run carry.
func (e *emitter) stamp(ctx workflow.Context, event contract.Event) contract.Event {
	event.Operation, event.Attempt = e.request.Operation, e.request.Attempt
	event.Session, event.Reason = e.request.Session, e.request.Reason
	event.Ordinal = e.ordinal
	event.Time = workflow.Now(ctx).UnixMilli()
	e.ordinal++
	return event
}

// emit publishes a progress event beside the work; the caller does not wait.
func (e *emitter) emit(ctx workflow.Context, event contract.Event) {
	e.backlog = append(e.backlog, e.stamp(ctx, event))
	if e.away && len(e.backlog) > maxBacklog { // the start is kept: every start has its end
		e.backlog = slices.Delete(e.backlog, 1, 2)
	}
	if e.busy || e.away {
		return
	}
	e.busy = true
	beside, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(beside, func(ctx workflow.Context) {
		defer func() { e.busy = false }()
		for len(e.backlog) > 0 && !e.away && !e.closing {
			sent := len(e.backlog)
			var result contract.PublishResult
			err := workflow.ExecuteActivity(publishingBeside(ctx), contract.ActivityPublish,
				contract.PublishInput{Events: e.backlog}).Get(ctx, &result)
			if err != nil {
				result.Unpublished = e.backlog[:sent]
			}
			e.away = len(result.Unpublished) > 0
			e.backlog = append(result.Unpublished, e.backlog[sent:]...)
		}
	})
}

// finish publishes the terminal event, after everything before it. It waits for a publication that
// is under way, and for the start of the delivery workflow, not for its end.
func (e *emitter) finish(ctx workflow.Context, event contract.Event) {
	e.backlog = append(e.backlog, e.stamp(ctx, event))
	e.closing = true // the coroutine of emit stops after the publication that is under way
	if err := workflow.Await(ctx, func() bool { return !e.busy }); err != nil {
		workflow.GetLogger(ctx).Error("waiting for a publication ended early", "error", err)
	}
	var result contract.PublishResult
	err := workflow.ExecuteLocalActivity(publishingLast(ctx), contract.ActivityPublish,
		contract.PublishInput{Events: e.backlog}).Get(ctx, &result)
	if err != nil {
		result.Unpublished = e.backlog
	}
	e.backlog = nil
	if len(result.Unpublished) == 0 {
		return
	}
	child := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            contract.EventsID(e.request.Session, e.request.Operation, e.request.Attempt),
		TaskQueue:             contract.QueueMain,
		ParentClosePolicy:     enums.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}), contract.WorkflowDeliverEvents, contract.DeliverEventsInput{Events: result.Unpublished})
	if err := child.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Error("the delivery of events could not be started", "error", err)
	}
}
