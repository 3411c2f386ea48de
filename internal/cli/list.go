package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"recap/internal/client"
	"recap/internal/contract"
)

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
	fs.BoolVar(&f.embedded, "embedded", false, "use the stack of recap dev, if it runs; else start one for this command")
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
