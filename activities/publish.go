package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recap/internal/blob"
	"recap/internal/contract"
	"recap/internal/event"
)

// brokerPatience bounds one publication, so that a broker that is away delays events, never the
// outcome.
const brokerPatience = 2 * time.Second

// Publish publishes events in order and returns those that the broker did not acknowledge. After the
// first of them it stops, so that order holds.
func (a *Activities) Publish(ctx context.Context, in contract.PublishInput) (contract.PublishResult, error) {
	ctx, cancel := context.WithTimeout(ctx, brokerPatience)
	defer cancel()
	for i, e := range in.Events {
		if e.Terminal && e.Outcome != nil {
			a.count(e)
		}
		if err := a.publish(ctx, e); err != nil {
			a.Logger.WarnContext(ctx, "event not published yet", "event", e.Name, "operation", e.Operation, "error", err)
			return contract.PublishResult{Unpublished: in.Events[i:]}, nil
		}
	}
	return contract.PublishResult{}, nil
}

// DeliverEvent publishes one event or fails, for Temporal to repeat.
func (a *Activities) DeliverEvent(ctx context.Context, e contract.Event) error {
	ctx, cancel := context.WithTimeout(ctx, 10*brokerPatience)
	defer cancel()
	return a.publish(ctx, e)
}

// publish loads the text an event carries and puts the event on the bus.
func (a *Activities) publish(ctx context.Context, e contract.Event) error {
	var summary string
	if e.Outcome != nil && e.Outcome.Summary != "" {
		data, err := a.Blobs.Get(ctx, blob.Digest(e.Outcome.Summary))
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return fmt.Errorf("load the summary of event %s: %w", e.ID(), err)
		}
		summary = string(data)
	}
	message, err := event.Encode(e, summary)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", e.ID(), err)
	}
	err = a.Events.Publish(ctx, message)
	a.Metrics.Published(e.Name, err == nil)
	return err
}

// count records a finished operation.
func (a *Activities) count(e contract.Event) {
	a.Metrics.Compaction(*e.Outcome, e.Reason, contract.StrategySummary, time.Duration(e.Outcome.TookMs)*time.Millisecond)
}
