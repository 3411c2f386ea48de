package cli

import (
	"context"
	"errors"
	"time"

	"recap/internal/devstack"
)

// errStackEnded is the cause of a context that ended because the embedded stack it needs did.
var errStackEnded = errors.New("the embedded stack ended")

// aliveEvery is how often a command looks whether another process's stack still runs.
const aliveEvery = 500 * time.Millisecond

// whileAlive returns a context that ends, with errStackEnded, when the link's embedded stack does: a
// client alone would wait for the server to come back. Call stop when done.
func (l *link) whileAlive(ctx context.Context) (alive context.Context, stop func()) {
	if !l.ownStack && !l.attached {
		return ctx, func() {}
	}
	alive, cancel := context.WithCancelCause(ctx)
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		tick := time.NewTicker(aliveEvery)
		defer tick.Stop()
		for {
			select {
			case <-alive.Done():
				return
			case <-l.gone:
				cancel(errStackEnded)
			case <-tick.C:
				if l.attached && !l.runs() {
					cancel(errStackEnded)
				}
			}
		}
	}()
	return alive, func() { cancel(nil); <-joined }
}

// runs reports whether the stack that the link is attached to is the one on the data folder.
func (l *link) runs() bool {
	info, err := devstack.Attach(l.cfg.DataDir)
	return err == nil && info.TemporalAddress == l.cfg.Temporal.Address
}
