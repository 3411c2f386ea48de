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

// ackWait bounds one publish when the caller's context does not.
const ackWait = 5 * time.Second

// Publisher publishes events to the stream and waits for the server's acknowledgement.
type Publisher struct {
	conn   *natsgo.Conn
	js     jetstream.JetStream
	stream StreamOptions
	ready  atomic.Bool // the stream was seen to exist
}

var _ event.Publisher = (*Publisher)(nil)

// NewPublisher returns a publisher on conn, which stays the caller's. The stream is created with the
// first event, if it does not exist by then.
func NewPublisher(conn *natsgo.Conn, o StreamOptions) (*Publisher, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("JetStream client: %w", err)
	}
	return &Publisher{conn: conn, js: js, stream: o}, nil
}

// Publish stores the event in the stream and returns after the server has acknowledged it. An event
// whose id the stream holds already is a success. With NATS away it returns event.ErrUnavailable at
// once.
func (p *Publisher) Publish(ctx context.Context, m event.Message) error {
	err := ctx.Err()
	if err == nil {
		var end func()
		ctx, end = p.whileConnected(ctx)
		err = unavailable(p.publish(ctx, m))
		if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
			err = cause // says why the wait ended: the context error is all the client knows
		}
		end()
	}
	if err != nil {
		return fmt.Errorf("publish event %s: %w", m.ID, err)
	}
	return nil
}

// whileConnected bounds ctx by ackWait and ends it when the connection is lost: no acknowledgement
// comes then.
func (p *Publisher) whileConnected(ctx context.Context) (context.Context, func()) {
	ctx, cancelTimeout := context.WithTimeoutCause(ctx, ackWait, errNoAck)
	ctx, cancel := context.WithCancelCause(ctx)
	lost := p.conn.StatusChanged(natsgo.DISCONNECTED, natsgo.RECONNECTING, natsgo.CLOSED)
	go func() {
		if status, ok := <-lost; ok {
			cancel(fmt.Errorf("%w: NATS connection is %s", event.ErrUnavailable, status))
		}
	}()
	return ctx, func() {
		p.conn.RemoveStatusListener(lost) // closes it, which ends the goroutine
		cancel(nil)
		cancelTimeout()
	}
}

var errNoAck = fmt.Errorf("%w: no acknowledgement within %s", event.ErrUnavailable, ackWait)

func (p *Publisher) publish(ctx context.Context, m event.Message) error {
	if !p.conn.IsConnected() {
		return fmt.Errorf("%w: NATS connection is %s", event.ErrUnavailable, p.conn.Status())
	}
	if !p.ready.Load() {
		if err := p.ensure(ctx); err != nil {
			return err
		}
	}
	err := p.send(ctx, m)
	if errors.Is(err, jetstream.ErrNoStreamResponse) { // the stream was deleted, or the server came back without it
		if err = p.ensure(ctx); err == nil {
			err = p.send(ctx, m)
		}
	}
	return err
}

func (p *Publisher) ensure(ctx context.Context) error {
	if err := EnsureStream(ctx, p.js, p.stream); err != nil {
		return err
	}
	p.ready.Store(true)
	return nil
}

func (p *Publisher) send(ctx context.Context, m event.Message) error {
	msg := natsgo.NewMsg(m.Subject)
	for k, v := range m.Headers {
		msg.Header.Set(k, v)
	}
	msg.Data = m.Body
	ack, err := p.js.PublishMsg(ctx, msg, jetstream.WithMsgID(m.ID), jetstream.WithRetryAttempts(0))
	if err != nil {
		return err
	}
	if ack.Stream != StreamName {
		return fmt.Errorf("stream %s took it, not %s: its subjects overlap %s", ack.Stream, StreamName, event.Subjects)
	}
	return nil
}

// unavailable marks the errors that mean no server answered.
func unavailable(err error) error {
	for _, gone := range []error{
		natsgo.ErrConnectionClosed, natsgo.ErrConnectionReconnecting, natsgo.ErrDisconnected, natsgo.ErrReconnectBufExceeded,
		natsgo.ErrNoResponders, natsgo.ErrTimeout, jetstream.ErrNoStreamResponse, jetstream.ErrJetStreamNotEnabled,
	} {
		if errors.Is(err, gone) {
			return fmt.Errorf("%w: %w", event.ErrUnavailable, err)
		}
	}
	return err
}
