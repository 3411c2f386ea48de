// Package eventtest is the conformance suite of event buses: every adapter passes it. It is for
// tests only and may import the port, contract and testify.
package eventtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/contract"
	"recap/internal/event"
)

// Bus is one bus as the suite drives it.
type Bus struct {
	event.Publisher
	event.Subscriber
	// SetAway takes the bus away and brings it back, with what it has stored.
	SetAway func(away bool)
}

// limit bounds every wait of the suite; what it waits for takes milliseconds.
const limit = 20 * time.Second

// Run runs the suite on buses made by open, one for each test, empty.
func Run(t *testing.T, open func(t *testing.T) Bus) {
	tests := map[string]func(*testing.T, Bus){
		"PublishedEventsArriveInOrder":       arriveInOrder,
		"PublishingTwiceIsOneEvent":          twiceIsOne,
		"SubscriptionToNewSkipsTheOld":       newSkipsOld,
		"SubscriptionToOldestReplays":        oldestReplays,
		"FilterSelectsSessionAndOperation":   filterSelects,
		"AwayBusRefusesQuickly":              awayRefuses,
		"EventAfterAnOutageArrivesOnce":      afterOutage,
		"PublishEndsWithItsContext":          endsWithContext,
		"NextEndsWithItsContext":             nextEnds,
		"StoppedSubscriptionSaysSo":          stopped,
		"ForeignMessagesArePassedOver":       foreign,
		"LargestBodyIsCarried":               largest,
		"ManyPublishersLoseAndRepeatNothing": concurrent,
		"SubscriptionSurvivesAnOutage":       survivesOutage,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// Event makes the n-th event of an operation on a session.
func Event(session, operation string, n int) contract.Event {
	return contract.Event{
		Name: contract.EventStageCompleted, Operation: operation, Attempt: 1, Ordinal: n, Reason: contract.ReasonManual,
		Session: contract.SessionRef{Tenant: "acme", Store: "local", ID: session}, Time: 1_700_000_000_000 + int64(n),
	}
}

// Message encodes Event.
func Message(t *testing.T, session, operation string, n int) event.Message {
	t.Helper()
	m, err := event.Encode(Event(session, operation, n), "")
	require.NoError(t, err)
	return m
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

func publish(t *testing.T, b Bus, session, operation string, ordinals ...int) {
	t.Helper()
	for _, n := range ordinals {
		require.NoError(t, b.Publish(limited(t), Message(t, session, operation, n)))
	}
}

func subscribe(t *testing.T, b Bus, f event.Filter, start event.Start) event.Subscription {
	t.Helper()
	s, err := b.Subscribe(limited(t), f, start)
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

// take reads as many events as there are wanted ordinals and compares.
func take(t *testing.T, s event.Subscription, want ...int) {
	t.Helper()
	var got []int
	for range want {
		body, err := s.Next(limited(t))
		require.NoError(t, err)
		got = append(got, body.Ordinal)
	}
	require.Equal(t, want, got)
}

func arriveInOrder(t *testing.T, b Bus) {
	s := subscribe(t, b, event.Filter{}, event.StartNew)
	publish(t, b, "a", "op", 1, 2, 3)
	take(t, s, 1, 2, 3)
}

func twiceIsOne(t *testing.T, b Bus) {
	publish(t, b, "a", "op", 1, 1, 2, 1, 2, 3)
	take(t, subscribe(t, b, event.Filter{}, event.StartOldest), 1, 2, 3)
}

func newSkipsOld(t *testing.T, b Bus) {
	publish(t, b, "a", "op", 1)
	s := subscribe(t, b, event.Filter{}, event.StartNew)
	publish(t, b, "a", "op", 2)
	take(t, s, 2)
}

func oldestReplays(t *testing.T, b Bus) {
	publish(t, b, "a", "op", 1, 2)
	s := subscribe(t, b, event.Filter{}, event.StartOldest)
	take(t, s, 1, 2)
	publish(t, b, "a", "op", 3)
	take(t, s, 3)
}

func filterSelects(t *testing.T, b Bus) {
	session := Event("dir/a.jsonl", "one", 0).Session
	bySession := subscribe(t, b, event.Filter{Session: session}, event.StartNew)
	byOperation := subscribe(t, b, event.Filter{Operation: "two"}, event.StartNew)
	byTenant := subscribe(t, b, event.Filter{Tenant: "acme"}, event.StartNew)
	publish(t, b, "dir/a.jsonl", "one", 1)
	publish(t, b, "dir/b.jsonl", "two", 2)
	publish(t, b, "dir/a.jsonl", "two", 3)
	take(t, bySession, 1, 3)
	take(t, byOperation, 2, 3)
	take(t, byTenant, 1, 2, 3)
}

func awayRefuses(t *testing.T, b Bus) {
	publish(t, b, "a", "op", 1)
	b.SetAway(true)
	start := time.Now()
	err := b.Publish(limited(t), Message(t, "a", "op", 2))
	require.ErrorIs(t, err, event.ErrUnavailable)
	require.Less(t, time.Since(start), 6*time.Second, "an outage must not hold up the outcome")
	require.ErrorContains(t, err, Message(t, "a", "op", 2).ID, "the error names the event")
}

func afterOutage(t *testing.T, b Bus) {
	publish(t, b, "a", "op", 1)
	b.SetAway(true)
	require.Error(t, b.Publish(limited(t), Message(t, "a", "op", 2)))
	b.SetAway(false)
	untilPublished(t, b, "a", "op", 2)
	publish(t, b, "a", "op", 1, 2, 3)
	take(t, subscribe(t, b, event.Filter{}, event.StartOldest), 1, 2, 3)
}

// untilPublished publishes like a durable delivery does: again and again until it is acknowledged.
func untilPublished(t *testing.T, b Bus, session, operation string, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		return b.Publish(limited(t), Message(t, session, operation, n)) == nil
	}, limit, 20*time.Millisecond)
}

func endsWithContext(t *testing.T, b Bus) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, b.Publish(ctx, Message(t, "a", "op", 1)), context.Canceled)
	publish(t, b, "a", "op", 2)
	take(t, subscribe(t, b, event.Filter{}, event.StartOldest), 2)
}

func nextEnds(t *testing.T, b Bus) {
	s := subscribe(t, b, event.Filter{}, event.StartNew)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := s.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	publish(t, b, "a", "op", 1)
	take(t, s, 1)
}

func stopped(t *testing.T, b Bus) {
	s := subscribe(t, b, event.Filter{}, event.StartNew)
	ended := make(chan error, 1)
	go func() {
		_, err := s.Next(limited(t))
		ended <- err
	}()
	s.Stop()
	s.Stop()
	require.ErrorIs(t, <-ended, event.ErrStopped)
	_, err := s.Next(limited(t))
	require.ErrorIs(t, err, event.ErrStopped)
}

func foreign(t *testing.T, b Bus) {
	s := subscribe(t, b, event.Filter{}, event.StartNew)
	odd := Message(t, "a", "op", 1)
	odd.ID, odd.Body = "odd", []byte("not an event")
	require.NoError(t, b.Publish(limited(t), odd))
	publish(t, b, "a", "op", 2)
	take(t, s, 2)
}

func largest(t *testing.T, b Bus) {
	m := Message(t, "a", "op", 1)
	m.Body = append(m.Body[:len(m.Body)-1:len(m.Body)-1], `,"pad":"`...)
	for len(m.Body) < event.MaxBody-2 {
		m.Body = append(m.Body, 'x')
	}
	m.Body = append(m.Body, `"}`...)
	require.Len(t, m.Body, event.MaxBody)
	require.NoError(t, b.Publish(limited(t), m))
	take(t, subscribe(t, b, event.Filter{}, event.StartOldest), 1)
}

func concurrent(t *testing.T, b Bus) {
	const publishers, each = 8, 10
	errs := make(chan error, publishers)
	for range publishers { // all publish the same events
		go func() {
			for n := range each {
				m, err := event.Encode(Event("a", "op", n), "")
				if err == nil {
					err = b.Publish(limited(t), m)
				}
				if err != nil {
					errs <- fmt.Errorf("event %d: %w", n, err)
					return
				}
			}
			errs <- nil
		}()
	}
	for range publishers {
		require.NoError(t, <-errs)
	}
	want := make([]int, each)
	for n := range want {
		want[n] = n
	}
	take(t, subscribe(t, b, event.Filter{}, event.StartOldest), want...)
}

func survivesOutage(t *testing.T, b Bus) {
	s := subscribe(t, b, event.Filter{}, event.StartNew)
	b.SetAway(true)
	b.SetAway(false)
	untilPublished(t, b, "a", "op", 1)
	take(t, s, 1)
	b.SetAway(true)
	b.SetAway(false)
	untilPublished(t, b, "a", "op", 2)
	take(t, s, 2)
}
