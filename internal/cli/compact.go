package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"recap/internal/client"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/store"
)

// compactFlags are the flags of compact.
type compactFlags struct {
	embedded, noWriter, giveBack, dryRun, failOnNoop, skipDamaged, noWait bool

	focus, reason, store, requestID string
	keep                            int
	models                          []string
	timeout                         time.Duration
}

func (a *app) compactCommand() *cobra.Command {
	var f compactFlags
	var wait bool
	cmd := a.command("compact SESSION", "Compact a session",
		"Summarises the older part of a session and appends one compaction entry to it; no existing byte\n"+
			"changes. Without --no-writer, a session that was written within the last ten minutes is left\n"+
			"alone: an agent may have it open, and would not see the entry.\n\n"+
			"Running the command twice, or from two places at once, makes one entry.",
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags()
			if given.Changed("wait") {
				if given.Changed("no-wait") {
					return usagef("--wait and --no-wait contradict each other: give one of them")
				}
				f.noWait = !wait
			}
			return a.compact(cmd.Context(), f, args[0])
		})
	fs := cmd.Flags()
	fs.BoolVar(&f.embedded, "embedded", false, "use the stack of recap dev, if it runs; else start one for this command")
	fs.BoolVar(&f.noWriter, "no-writer", false, "no agent has the session open")
	fs.BoolVar(&f.giveBack, "return", false, "hand the compaction back instead of writing it to the session")
	fs.StringVar(&f.focus, "focus", "", "what the summary should dwell on")
	fs.IntVar(&f.keep, "keep", 0, "`tokens` of recent messages to keep as they are (compaction.keepRecentTokens)")
	fs.StringSliceVarP(&f.models, "model", "m", nil, "candidate `provider/model` to ask; repeat for a chain (compaction.model)")
	fs.StringVar(&f.reason, "reason", string(contract.ReasonManual), "why: manual, threshold, overflow, incomplete, midTurn, idle, providerSwitch")
	fs.StringVar(&f.store, "store", "", "`name` of the store that holds the session, where it is not on this machine")
	fs.StringVar(&f.requestID, "request-id", "", "`id` of the request; sending the same one again is one operation")
	fs.BoolVar(&wait, "wait", true, "wait for the outcome")
	fs.BoolVar(&f.noWait, "no-wait", false, "print the acceptance and do not wait")
	fs.DurationVar(&f.timeout, "timeout", 0, "stop waiting after this `duration`; the work goes on")
	fs.BoolVar(&f.dryRun, "dry-run", false, "plan only and print the plan: no server, no model, nothing written")
	fs.BoolVar(&f.failOnNoop, "fail-on-noop", false, "exit with 4 when there is nothing to do")
	fs.BoolVar(&f.skipDamaged, "skip-damaged", false, "go on although damaged lines hold entries of the session")
	return cmd
}

// request builds the request of the flags.
func (f compactFlags) request(cfg *config.Config, ref contract.SessionRef) (contract.Request, error) {
	req := contract.Request{
		RequestID: f.requestID, Session: ref, Reason: contract.Reason(f.reason), Focus: f.focus,
		Settings: cfg.OperationSettings(), Writer: contract.WriterLive, Commit: contract.CommitStore, Models: f.models,
	}
	if req.RequestID == "" {
		req.RequestID = uuid.NewString()
	}
	if f.noWriter {
		req.Writer = contract.WriterNone
	}
	if f.giveBack {
		req.Commit = contract.CommitReturn
	}
	if f.keep != 0 {
		req.Settings.KeepRecentTokens = f.keep
	}
	req.Settings.SkipDamaged = f.skipDamaged
	req = req.Normalize()
	if err := req.Validate(); err != nil {
		return req, &usageError{err: err}
	}
	return req, nil
}

// check refuses flags that contradict each other.
func (f compactFlags) check() error {
	switch {
	case f.dryRun && f.embedded:
		return usagef("--dry-run needs no server: leave out --embedded")
	case f.dryRun && f.noWait:
		return usagef("--dry-run starts nothing that one could wait for: leave out --no-wait")
	case f.noWait && f.timeout > 0:
		return usagef("--timeout bounds the waiting that --no-wait leaves out: give one of them")
	case f.timeout < 0:
		return usagef("--timeout must be positive, is %s", f.timeout)
	case f.embedded && f.noWait:
		return usagef("--embedded may end its stack with this command: leave out --no-wait, or start `recap dev` and name its address")
	}
	return nil
}

func (a *app) compact(ctx context.Context, f compactFlags, word string) error {
	if err := f.check(); err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	t, err := a.refer(cfg, f.store, word)
	if err != nil {
		return err
	}
	req, err := f.request(cfg, t.ref)
	if err != nil {
		return err
	}
	if f.dryRun || f.embedded { // the configuration here is the one that counts
		if err := knownModels(cfg, req.Models); err != nil {
			return err
		}
	}
	if f.dryRun {
		return a.dryRun(ctx, cfg, t, req, f.failOnNoop)
	}
	if err := loads(ctx, t); err != nil && (f.embedded || store.KindOf(err) == store.KindNotSession) {
		return err // in the embedded stack this process is the worker; elsewhere a worker may read what we cannot
	}
	ctx, cancel := withTimeout(ctx, f.timeout)
	defer cancel()
	for try := 1; ; try++ {
		l, err := a.connect(ctx, cfg, connectOptions{embedded: f.embedded, target: &t})
		if err != nil {
			return err
		}
		err = a.submitAndWait(ctx, l, f, req)
		lost := l.attached && ctx.Err() == nil && (errors.Is(err, errStackEnded) || client.KindOf(err) == client.KindUnavailable)
		if err = errors.Join(err, l.Close()); !lost || try == attachTries {
			return err
		}
		a.notef("the embedded stack that was used has ended; going on with another")
	}
}

// attachTries is how often a command goes on with another embedded stack after the one it was
// attached to has ended. It is safe, because the same request is the same operation.
const attachTries = 3

// loads says before any server is needed that a session cannot be read, where it is at hand.
func loads(ctx context.Context, t target) error {
	if t.driver == nil {
		return nil
	}
	snap, err := t.driver.Load(ctx, t.ref.ID, store.ScopeLive)
	if err != nil {
		return err
	}
	return snap.Close()
}

// knownModels refuses candidates that are not configured before anything is started.
func knownModels(cfg *config.Config, names []string) error {
	for _, name := range names {
		if _, ok := cfg.Model(name); ok || name == config.ExtractiveID {
			continue
		}
		known := []string{config.ExtractiveID}
		for _, m := range cfg.Models {
			known = append(known, m.ID)
		}
		return usagef("--model %s is not configured (configured: %s)", name, strings.Join(slices.Compact(known), ", "))
	}
	return nil
}

func (a *app) submitAndWait(ctx context.Context, l *link, f compactFlags, req contract.Request) error {
	alive, stop := l.whileAlive(ctx)
	defer stop()
	accepted, err := l.ops.Submit(alive, req)
	if err != nil {
		return err
	}
	if accepted.Joined {
		a.notef("joined operation %s, which was already running on this session", accepted.Operation)
	}
	if f.noWait {
		return a.print(accepted, func(p *printer) {
			p.line("accepted: operation %s", accepted.Operation)
			p.field("workflow", accepted.WorkflowID)
		})
	}
	out, err := a.wait(alive, l, accepted)
	if err != nil {
		return a.unfinished(ctx, l, accepted, err)
	}
	return a.finished(ctx, l, out, f.failOnNoop)
}

// withTimeout bounds waiting; zero means for ever.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, errTimeout)
}

// unfinished says how to go on when the waiting ended before the work.
func (a *app) unfinished(ctx context.Context, l *link, accepted client.Accepted, err error) error {
	if ctx.Err() == nil {
		return err
	}
	what, flag := "the work goes on", ""
	if l.ownStack {
		what = "the work goes on when the embedded stack runs again"
	}
	if l.ownStack || l.attached {
		flag = "--embedded "
	}
	return &exitError{
		code: exitOf(context.Cause(ctx)),
		err:  fmt.Errorf("%w: %s: recap status %s%s", context.Cause(ctx), what, flag, accepted.Operation),
	}
}
