package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"recap/internal/client"
	"recap/internal/contract"
)

// onOperation makes a command that works on one named operation over a connection.
func (a *app) onOperation(use, short, long string, do func(context.Context, *link, client.Name) error) *cobra.Command {
	var embedded bool
	cmd := a.command(use+" OPERATION", short,
		long+"\n\nAn operation is named by its id, by its workflow id, or by the session it works on.",
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			l, err := a.connect(ctx, cfg, connectOptions{embedded: embedded})
			if err != nil {
				return err
			}
			n, err := a.operation(ctx, l.cfg, l.ops, args[0])
			if err == nil {
				err = do(ctx, l, n)
			}
			return errors.Join(err, l.Close())
		})
	cmd.Flags().BoolVar(&embedded, "embedded", false, "use the stack that `recap dev` runs, else start one for this command")
	return cmd
}

func (a *app) statusCommand() *cobra.Command {
	return a.onOperation("status", "Say what an operation is doing, or how it ended", "",
		func(ctx context.Context, l *link, n client.Name) error {
			s, err := l.ops.Status(ctx, n)
			if err != nil {
				return err
			}
			return a.print(s, func(p *printer) { a.statusText(p, s) })
		})
}

func (a *app) statusText(p *printer, s client.Standing) {
	if out := s.Progress.Outcome; out != nil {
		outcomeText(p, finalOutcome{Outcome: *out})
		p.field("started", clock(s.StartedAt))
		p.field("ended", clock(s.ClosedAt))
		return
	}
	p.heading("%s: %s", s.Status, progressText(s.Progress, a.now()))
	p.field("operation", fmt.Sprintf("%s (attempt %d)", s.Operation.Operation, s.Progress.Attempt))
	p.field("session", s.Session.String())
	p.field("workflow", s.WorkflowID)
	p.field("started", clock(s.StartedAt))
	p.field("waiting until", clock(s.Progress.WaitingUntil))
	for _, at := range s.Progress.Attempts {
		p.field("attempt", attemptText(at))
	}
}

func (a *app) retryCommand() *cobra.Command {
	return a.changing("retry", "Try a failed operation again, or end its waiting now",
		"Starts the same operation again with the next attempt number; answers that were paid for are not\n"+
			"asked for again. An operation that is waiting goes on at once.",
		func(ctx context.Context, l *link, n client.Name) error {
			r, err := l.ops.Retry(ctx, n)
			if err != nil {
				return err
			}
			return a.print(r, func(p *printer) {
				if r.Signalled {
					p.line("operation %s goes on at once", r.Operation)
				} else {
					p.line("operation %s started again, attempt %d", r.Operation, r.Attempt)
				}
				p.field("workflow", r.WorkflowID)
			})
		})
}

func (a *app) cancelCommand() *cobra.Command {
	return a.changing("cancel", "Cancel a running operation",
		"Takes effect before the commit begins; a commit that has begun is finished.",
		func(ctx context.Context, l *link, n client.Name) error {
			c, err := l.ops.Cancel(ctx, n)
			if err != nil {
				return err
			}
			return a.print(c, func(p *printer) {
				p.line("operation %s is asked to stop", c.Operation)
				p.field("workflow", c.WorkflowID)
			})
		})
}

// changing makes a command for which an operation that has ended is nothing to do: it says so, prints
// the operation, and succeeds unless --fail-on-noop is given.
func (a *app) changing(use, short, long string, do func(context.Context, *link, client.Name) error) *cobra.Command {
	var failOnNoop bool
	cmd := a.onOperation(use, short, long, func(ctx context.Context, l *link, n client.Name) error {
		err := do(ctx, l, n)
		if client.KindOf(err) != client.KindClosed {
			return err
		}
		a.notef("nothing to do: %v", err)
		o, err := l.ops.Find(ctx, n)
		if err != nil {
			return err
		}
		if err := a.print(o, func(p *printer) { p.line("operation %s is %s", o.Operation, o.Status) }); err != nil || !failOnNoop {
			return err
		}
		return exitWith(exitNoop)
	})
	cmd.Flags().BoolVar(&failOnNoop, "fail-on-noop", false, "exit with 4 when there is nothing to do")
	return cmd
}

// listFlags are the flags of list.
type listFlags struct {
	embedded, running             bool
	session, state, code, trigger string
	limit                         int
}

func (a *app) listCommand() *cobra.Command {
	var f listFlags
	cmd := a.command("list", "List operations, newest first", "", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return a.list(cmd.Context(), f)
	})
	fs := cmd.Flags()
	fs.BoolVar(&f.embedded, "embedded", false, "use the stack that `recap dev` runs, else start one for this command")
	fs.BoolVar(&f.running, "running", false, "only operations that have not ended")
	fs.StringVar(&f.session, "session", "", "only operations on this `session`")
	fs.StringVar(&f.state, "state", "", "only this terminal `state`: committed, failed, needsOperator, …")
	fs.StringVar(&f.code, "reason", "", "only this reason `code`: quota, candidatesFailed, …")
	fs.StringVar(&f.trigger, "trigger", "", "only what was asked for this `reason`: manual, idle, …")
	fs.IntVar(&f.limit, "limit", client.DefaultLimit, "at most this many")
	return cmd
}

func (a *app) list(ctx context.Context, f listFlags) error {
	if f.limit < 1 {
		return usagef("--limit must be at least 1, is %d", f.limit)
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	filter := client.Filter{
		State: contract.State(f.state), Reason: contract.Code(f.code), Trigger: contract.Reason(f.trigger), Running: f.running, Limit: f.limit,
	}
	if f.session != "" {
		t, err := a.open(cfg, f.session)
		if err != nil {
			return err
		}
		filter.Session = &t.ref
	}
	if a.flags.tenant != "" {
		filter.Tenant = a.flags.tenant
	}
	l, err := a.connect(ctx, cfg, connectOptions{embedded: f.embedded})
	if err != nil {
		return err
	}
	found, err := l.ops.List(ctx, filter)
	if err == nil {
		err = a.print(found, func(p *printer) { operationLines(p, found) })
	}
	return errors.Join(err, l.Close())
}

func operationLines(p *printer, found []client.Operation) {
	if len(found) == 0 {
		return
	}
	p.heading("%-36s  %-13s  %-22s  %-19s  %s", "OPERATION", "STATE", "REASON", "STARTED", "SESSION")
	for _, o := range found {
		state := string(o.State)
		if state == "" {
			state = string(o.Status)
		}
		p.line("%-36s  %-13s  %-22s  %-19s  %s", printable(o.Operation), state, o.Reason, clock(o.StartedAt), printable(o.Session.String()))
	}
}
