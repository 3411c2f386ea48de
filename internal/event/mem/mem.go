// Package mem is an event bus in memory, for tests and for commands that need no server. It imports
// the port and the standard library.
package mem

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"recap/internal/event"
)

// Bus keeps published messages in memory. The zero value is not usable; see New.
type Bus struct {
	mu       sync.Mutex
	stored   []event.Message
	ids      map[string]bool
	away     bool
	attempts int
	changed  chan struct{} // closed and replaced whenever something is stored or stopped
}

// New returns an empty bus.
func New() *Bus { return &Bus{ids: map[string]bool{}, changed: make(chan struct{})} }

var (
	_ event.Publisher  = (*Bus)(nil)
	_ event.Subscriber = (*Bus)(nil)
)

// Publish stores the message unless its id is stored already.
func (b *Bus) Publish(ctx context.Context, m event.Message) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("publish event %s: %w", m.ID, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.attempts++
	if b.away {
		return fmt.Errorf("publish event %s: %w", m.ID, event.ErrUnavailable)
	}
	if b.ids[m.ID] {
		return nil
	}
	b.ids[m.ID] = true
	b.stored = append(b.stored, m)
	b.wake()
	return nil
}

// SetAway makes the bus unreachable, or reachable again.
func (b *Bus) SetAway(away bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = away
}

// Messages returns what is stored, in order.
func (b *Bus) Messages() []event.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.stored)
}

// Attempts counts the calls of Publish, refused and repeated ones included.
func (b *Bus) Attempts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attempts
}

func (b *Bus) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Subscribe yields stored messages that match the filter.
func (b *Bus) Subscribe(ctx context.Context, f event.Filter, start event.Start) (event.Subscription, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", f.Subject(), err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &subscription{bus: b, filter: f}
	if start == event.StartNew {
		s.next = len(b.stored)
	}
	return s, nil
}

// subscription is a position in the bus; the bus's lock guards it.
type subscription struct {
	bus     *Bus
	filter  event.Filter
	next    int
	stopped bool
}

func (s *subscription) Next(ctx context.Context) (event.Body, error) {
	for {
		body, found, changed, err := s.take()
		if found || err != nil {
			return body, err
		}
		select {
		case <-ctx.Done():
			return event.Body{}, ctx.Err()
		case <-changed:
		}
	}
}

func (s *subscription) take() (event.Body, bool, <-chan struct{}, error) {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	for s.next < len(s.bus.stored) && !s.stopped {
		m := s.bus.stored[s.next]
		s.next++
		if !s.filter.Match(m.Subject) {
			continue
		}
		if body, err := event.Decode(m.Body); err == nil {
			return body, true, nil, nil
		}
	}
	if s.stopped {
		return event.Body{}, false, nil, event.ErrStopped
	}
	return event.Body{}, false, s.bus.changed, nil
}

func (s *subscription) Stop() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	s.stopped = true
	s.bus.wake()
}
