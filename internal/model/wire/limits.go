package wire

import (
	"context"
	"sync"
	"time"

	"recap/internal/model"
)

// limits watches the four limits of one exchange and cancels it with a *model.TimeoutError when one
// runs out. At most one of connect, first byte and idle is armed at any time; total always is.
type limits struct {
	cancel context.CancelCauseFunc
	set    model.Timeouts

	mu    sync.Mutex
	total *time.Timer
	stage *time.Timer
	now   model.Phase // the armed stage
	done  bool
}

func startLimits(set model.Timeouts, cancel context.CancelCauseFunc) *limits {
	l := &limits{cancel: cancel, set: set.WithDefaults()}
	l.total = l.timer(model.LimitTotal, l.set.Total)
	l.arm(model.LimitConnect)
	return l
}

func (l *limits) timer(limit model.Phase, after time.Duration) *time.Timer {
	return time.AfterFunc(after, func() { l.cancel(&model.TimeoutError{Limit: limit, After: after}) })
}

// arm replaces the running stage by another one.
func (l *limits) arm(limit model.Phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return
	}
	if l.stage != nil {
		l.stage.Stop()
	}
	after := l.set.Connect
	switch limit {
	case model.LimitFirstByte:
		after = l.set.FirstByte
	case model.LimitIdle:
		after = l.set.Idle
	}
	l.now = limit
	l.stage = l.timer(limit, after)
}

// active notes that bytes or events arrive: from the first on, the idle limit runs.
func (l *limits) active() { l.arm(model.LimitIdle) }

// firstByte returns a function that notes the first arrival and ignores later ones: in a stream it
// is events that count from then on, not bytes.
func (l *limits) firstByte() func() {
	return sync.OnceFunc(l.active)
}

// reached is the stage the exchange is in.
func (l *limits) reached() model.Phase {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *limits) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	l.total.Stop()
	l.stage.Stop()
}
