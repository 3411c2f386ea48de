package workflows

import (
	"go.temporal.io/sdk/workflow"

	"recap/internal/contract"
)

// DeliverEvents publishes, in order, what an operation could not publish at once, and outlives the
// operation (DESIGN §4, G7). It ends only when the broker has acknowledged every event.
func DeliverEvents(ctx workflow.Context, in contract.DeliverEventsInput) error {
	for _, event := range in.Events {
		if err := workflow.ExecuteActivity(delivering(ctx), contract.ActivityDeliverEvent, event).Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}
