package nats

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"recap/internal/event"
)

// remembered is how many event ids a subscription keeps to drop repetitions; the stream drops those
// within its window itself.
const remembered = 4096

// Subscriber reads events from the stream.
type Subscriber struct {
	js     jetstream.JetStream
	stream StreamOptions
}

var _ event.Subscriber = (*Subscriber)(nil)

// NewSubscriber returns a subscriber on conn, which stays the caller's.
func NewSubscriber(conn *natsgo.Conn, o StreamOptions) (*Subscriber, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("JetStream client: %w", err)
	}
	return &Subscriber{js: js, stream: o}, nil
}

// Subscribe starts an ordered consumer, which the client makes anew by itself after a lost
// connection, at the place it had reached. Stop removes it; if NATS is away by then, the server
// removes it by itself.
func (s *Subscriber) Subscribe(ctx context.Context, f event.Filter, start event.Start) (event.Subscription, error) {
	fail := func(err error) (event.Subscription, error) {
		return nil, fmt.Errorf("subscribe to %s: %w", f.Subject(), unavailable(err))
	}
	if err := EnsureStream(ctx, s.js, s.stream); err != nil {
		return fail(err)
	}
	config := jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{f.Subject()}, DeliverPolicy: jetstream.DeliverAllPolicy, InactiveThreshold: time.Minute,
	}
	if start == event.StartNew {
		// A consumer of "new" messages that is remade before its first one would miss what came
		// meanwhile, so it is given the number to start from.
		stream, err := s.js.Stream(ctx, StreamName)
		if err != nil {
			return fail(err)
		}
		config.DeliverPolicy = jetstream.DeliverByStartSequencePolicy
		config.OptStartSeq = stream.CachedInfo().State.LastSeq + 1
	}
	consumer, err := s.js.OrderedConsumer(ctx, StreamName, config)
	if err != nil {
		return fail(err)
	}
	messages, err := consumer.Messages()
	if err != nil {
		return fail(err)
	}
	return &subscription{js: s.js, consumer: consumer, messages: messages, seen: map[string]bool{}}, nil
}

// subscription is read by one goroutine at a time; Stop may be called by any.
type subscription struct {
	js       jetstream.JetStream
	consumer jetstream.Consumer
	messages jetstream.MessagesContext
	stopped  atomic.Bool
	seen     map[string]bool
	order    []string // ids in the order they came, to forget the oldest
}

func (s *subscription) Next(ctx context.Context) (event.Body, error) {
	for {
		msg, err := s.messages.Next(jetstream.NextContext(ctx))
		switch {
		case s.stopped.Load() || errors.Is(err, jetstream.ErrMsgIteratorClosed):
			return event.Body{}, event.ErrStopped
		case ctx.Err() != nil:
			return event.Body{}, ctx.Err()
		case errors.Is(err, jetstream.ErrNoHeartbeat):
			continue // the server is away; the client goes on trying
		case err != nil:
			return event.Body{}, fmt.Errorf("next event: %w", unavailable(err))
		}
		body, err := event.Decode(msg.Data())
		if err != nil || s.repeated(body.ID) {
			continue
		}
		return body, nil
	}
}

func (s *subscription) repeated(id string) bool {
	if s.seen[id] {
		return true
	}
	s.seen[id] = true
	s.order = append(s.order, id)
	if len(s.order) > remembered {
		delete(s.seen, s.order[0])
		s.order = s.order[1:]
	}
	return false
}

func (s *subscription) Stop() {
	if !s.stopped.CompareAndSwap(false, true) {
		return
	}
	s.messages.Stop()
	info := s.consumer.CachedInfo()
	if info == nil || !s.js.Conn().IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.js.DeleteConsumer(ctx, StreamName, info.Name) // else it goes after its InactiveThreshold
}
