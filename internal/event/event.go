// Package event is the port to the event bus, and the wire form of events: subjects, CloudEvents
// attributes and the JSON body (DESIGN §8). Adapters live in sub-packages (nats, mem) and pass the
// suite in eventtest. The package may import contract, nothing else of ours.
package event

import (
	"context"
	"errors"

	"recap/internal/contract"
)

// Message is an event ready for the bus.
type Message struct {
	ID      string            // stable: publishing it twice is one event
	Subject string            // recap.v1.evt.<tenant>.<session>.<operation>.<event>
	Headers map[string]string // CloudEvents attributes in binary mode
	Body    []byte            // JSON, at most MaxBody bytes
}

// MaxBody is the largest body in bytes; a summary that would exceed it is left out and named by
// digest.
const MaxBody = 512 << 10

// Publisher puts events on the bus: at least once, with a stable id. Publish returns only after the
// bus has acknowledged the event, never blocks past ctx, and never reports success without an
// acknowledgement.
type Publisher interface {
	Publish(ctx context.Context, m Message) error
}

// Encoder makes the message of an event. summary is the text to carry in result.summary, "" for
// none. It fails only on an event that cannot be encoded. Encode is the one in use.
type Encoder func(e contract.Event, summary string) (Message, error)

// ErrUnavailable says that the bus cannot be reached now; the same message may be published later.
var ErrUnavailable = errors.New("event bus is not reachable")

// Filter selects events. The zero value selects all; Session and Operation narrow each other.
type Filter struct {
	Tenant    string              // "" = every tenant
	Session   contract.SessionRef // zero = every session; its tenant counts
	Operation string              // "" = every operation
}

// Start says where a subscription begins.
type Start int

const (
	// StartNew yields what is published after Subscribe has returned.
	StartNew Start = iota
	// StartOldest replays what the bus still keeps, then goes on with what is new.
	StartOldest
)

// Subscriber reads events from the bus.
type Subscriber interface {
	// Subscribe returns once the subscription stands, so nothing published afterwards is missed. It
	// ends with Stop.
	Subscribe(ctx context.Context, f Filter, start Start) (Subscription, error)
}

// Subscription yields events in the order the bus stored them, each event id once.
type Subscription interface {
	// Next waits for the next event, until ctx ends or the subscription is stopped (ErrStopped).
	// Messages on the subjects that are no events of ours are passed over.
	Next(ctx context.Context) (Body, error)
	// Stop ends the subscription and frees what it holds. It may be called twice.
	Stop()
}

// ErrStopped says that a subscription has ended.
var ErrStopped = errors.New("event subscription is stopped")
