package cli

import (
	"context"

	"github.com/spf13/cobra"

	"recap/internal/client"
)

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
