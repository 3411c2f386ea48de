// Package event is the port to the event bus, and the wire form of events: CloudEvents attributes
// and the JSON body (DESIGN §8). Adapters live in sub-packages (nats, mem). The package may import
// contract, nothing else of ours.
package event

import (
	"context"

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

// Encode makes the message of an event. summary is the text to carry in result.summary, "" for
// none. It fails only on an event that cannot be encoded.
type Encoder func(e contract.Event, summary string) (Message, error)
