package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"recap/internal/contract"
)

// toldWait is the shortest wait that is worth an event.
const toldWait = 5 * time.Second

// wait is a durable wait that holds no worker slot: it ends when the time is up, when an operator
// says to go on, or when the run is cancelled. The status says until when.
func (p *partChain) wait(ctx workflow.Context, delay time.Duration, f contract.ModelFailure) *ending {
	r := p.run
	until := workflow.Now(ctx).Add(delay).UnixMilli()
	r.status.Phase, r.status.WaitingUntil, r.status.WaitingFor = contract.PhaseWaiting, until, f.Class
	if delay >= toldWait {
		r.events.emit(ctx, contract.Event{
			Name: contract.EventWaiting, Until: until, Message: p.candidate().Candidate.ID + ": " + f.Class,
		})
	}
	// A signal that came while the model was being asked counts too: the operator saw the wait before.
	_, err := workflow.AwaitWithTimeout(ctx, delay, func() bool { return r.proceeds != p.proceeds })
	r.status.WaitingUntil, r.status.WaitingFor = 0, ""
	if err != nil { // AwaitWithTimeout fails only when the context is done
		return cancelled()
	}
	return nil
}

// listen counts the operator's signals to go on, so that one signal ends every wait under way.
func (r *compactRun) listen(ctx workflow.Context) {
	signals := workflow.GetSignalChannel(ctx, contract.SignalProceed)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for signals.Receive(ctx, nil) {
			r.proceeds++
		}
	})
}
