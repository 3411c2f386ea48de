package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"recap/internal/contract"
)

// Every activity's options stand here and nowhere else. Temporal's own retry is only for a lost
// worker or a store that is briefly away: a model's failure is a typed result (DESIGN §5).

const heartbeatTimeout = 20 * time.Second

var lostWorker = &temporal.RetryPolicy{
	InitialInterval:    time.Second,
	BackoffCoefficient: 2,
	MaximumInterval:    30 * time.Second,
	MaximumAttempts:    20,
}

// onStore returns the options of activities that touch the session store.
func onStore(ctx workflow.Context, store, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           contract.StoreQueue(store),
		StartToCloseTimeout: 15 * time.Minute,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy:         lostWorker,
		WaitForCancellation: true,
		Summary:             summary,
	})
}

// onModel returns the options of one model request. Start-to-close is the client's total limit plus
// a minute, so the client always ends first and Temporal only repeats the call of a lost worker.
func onModel(ctx workflow.Context, c contract.Candidate, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           contract.QueueModel,
		StartToCloseTimeout: time.Duration(c.TotalTimeoutMs)*time.Millisecond + time.Minute,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy:         lostWorker,
		WaitForCancellation: true,
		Summary:             summary,
	})
}

// reviewing returns the options of the review, which runs inside the workflow task.
func reviewing(ctx workflow.Context) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         lostWorker,
	})
}

// publishTimeout bounds what a broker that is away can cost before the rest goes to DeliverEvents.
const publishTimeout = 5 * time.Second

// publishingBeside returns the options of progress events, published beside the work.
func publishingBeside(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              contract.QueueMain,
		StartToCloseTimeout:    publishTimeout,
		ScheduleToCloseTimeout: 2 * publishTimeout,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
	})
}

// publishingLast returns the options of the terminal event: nothing else is going on, so it is
// published inside the workflow task.
func publishingLast(ctx workflow.Context) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: publishTimeout,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
	})
}

// delivering returns the options of an event that is tried until the broker has it.
func delivering(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           contract.QueueMain,
		StartToCloseTimeout: 30 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    time.Second,
			BackoffCoefficient: 2,
			MaximumInterval:    30 * time.Second,
		},
	})
}
