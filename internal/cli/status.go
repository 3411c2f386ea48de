package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"recap/internal/client"
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
	cmd.Flags().BoolVar(&embedded, "embedded", false, "use the stack of recap dev, if it runs; else start one for this command")
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
