package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	temporal "go.temporal.io/sdk/client"
	temporallog "go.temporal.io/sdk/log"

	"recap/internal/client"
	"recap/internal/config"
	"recap/internal/devstack"
	"recap/internal/telemetry"
)

// link is a connection to the servers, the caller's or an embedded stack's. Close it after use.
type link struct {
	cfg      *config.Config // with the addresses that are in use
	temporal temporal.Client
	ops      *client.Client
	ui       string // URL of the Temporal UI, "" when unknown
	ownStack bool   // the stack was started for this command and ends with it
	attached bool   // the stack is another process's
	embedded bool   // an embedded stack, whoever's
	gone     <-chan struct{}
	closers  []func() error
}

// Close ends what the link opened, the newest first.
func (l *link) Close() error {
	var err error
	for i := len(l.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, l.closers[i]())
	}
	l.closers = nil
	return err
}

func (l *link) onClose(f func() error) { l.closers = append(l.closers, f) }

// connectOptions say what a command needs of a connection.
type connectOptions struct {
	embedded bool
	// target is the session that is going to be worked on: somebody must poll its store's queue.
	target *target
	// work runs a worker in this process whatever the stack is (recap dev).
	work bool
	// foreground commands stay until they are ended, and log as configured.
	foreground bool
}

// connect opens the servers: those that are configured, or the embedded stack.
func (a *app) connect(ctx context.Context, cfg *config.Config, o connectOptions) (*link, error) {
	log := a.logger(cfg, o.foreground)
	if o.embedded {
		return a.connectEmbedded(ctx, cfg, o, log)
	}
	l, err := a.dial(ctx, cfg, dialOptions{log: log, foreground: o.foreground})
	if err != nil || o.target == nil {
		return l, err
	}
	if err := a.someoneWorks(ctx, l, *o.target); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// dialOptions say how to connect to a Temporal server.
type dialOptions struct {
	log        *slog.Logger
	metrics    *telemetry.Metrics // nil = none
	works      bool               // a worker runs in this process: eager starts pay
	foreground bool               // the command stays until it is ended
}

// dial connects to the Temporal server of cfg.
func (a *app) dial(ctx context.Context, cfg *config.Config, d dialOptions) (*link, error) {
	o, err := cfg.TemporalOptions()
	if err != nil {
		return nil, &usageError{err: err}
	}
	o.Logger = temporallog.NewStructuredLogger(a.sdkLogger(cfg, d.foreground))
	handler, metrics := d.metrics.TemporalHandler(d.log)
	o.MetricsHandler = handler
	c, err := client.Dial(ctx, o)
	if err != nil {
		return nil, errors.Join(err, metrics.Close())
	}
	l := &link{cfg: cfg, temporal: c, ops: client.New(c, client.Options{Logger: d.log, Eager: d.works})}
	l.onClose(metrics.Close) // after the client, so that the last numbers are counted
	l.onClose(func() error { c.Close(); return nil })
	return l, nil
}

// someoneWorks refuses an operation that would wait for ever: on a session outside of the configured
// stores that no worker serves. For a configured store it only says so, for a worker may come.
func (a *app) someoneWorks(ctx context.Context, l *link, t target) error {
	served, err := l.ops.Served(ctx, t.ref.Store)
	if err != nil || served {
		return err
	}
	if t.outside {
		return &exitError{code: exitTemporary, err: fmt.Errorf(
			"no worker serves the folder of %s: use --embedded, start recap-worker run --session %s, or put the folder under stores in recap.yaml", t.path, t.path)}
	}
	a.notef("no worker serves the store %s at the moment; the operation waits until one does", t.ref.Store)
	return nil
}

// connectEmbedded attaches to the stack that runs on the data folder, or starts one, and works in
// this process where it must.
func (a *app) connectEmbedded(ctx context.Context, cfg *config.Config, o connectOptions, log *slog.Logger) (*link, error) {
	info, stack, err := a.stack(ctx, cfg, log, o.work)
	if err != nil {
		return nil, err
	}
	embedded := cfg.Embedded(info.TemporalAddress, info.Namespace, info.NATSURL)
	works := stack != nil || o.work || o.target != nil
	metrics := metricsOf(embedded)
	l, err := a.dial(ctx, embedded, dialOptions{log: log, metrics: metrics, works: works, foreground: o.foreground})
	if err != nil {
		if stack != nil {
			err = errors.Join(err, stack.Stop())
		}
		return nil, err
	}
	l.ui, l.ownStack, l.attached, l.embedded = info.UIAddress, stack != nil, stack == nil, true
	if stack != nil {
		l.gone = stack.Done()
		l.closers = append([]func() error{stack.Stop}, l.closers...) // last of all
	}
	if l.attached && o.target != nil {
		served, err := a.askToServe(l, log, o.target.path)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		works = !served
	}
	if works {
		var paths []string
		if o.target != nil && o.target.path != "" {
			paths = append(paths, o.target.path)
		}
		w, err := a.startWork(l, log, metrics, paths)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.onClose(w.Stop)
	}
	return l, nil
}

// stack finds the stack that runs on the data folder, or starts one. Where own is set, one that runs
// already is an error.
func (a *app) stack(ctx context.Context, cfg *config.Config, log *slog.Logger, own bool) (devstack.Info, *devstack.Stack, error) {
	if !own {
		info, err := devstack.Attach(cfg.DataDir)
		if err == nil || !errors.Is(err, devstack.ErrNotRunning) {
			return info, nil, err
		}
	}
	o := devstack.Options{DataDir: cfg.DataDir, Namespace: cfg.Temporal.Namespace, Logger: log}
	if cfg.TemporalSet() {
		o.TemporalAddress = cfg.Temporal.Address
	}
	if !a.flags.quiet {
		o.Progress = a.err
	}
	s, err := devstack.Start(ctx, o)
	if busy, ok := errors.AsType[*devstack.InUseError](err); ok && !own && busy.Info.PID != 0 {
		return busy.Info, nil, nil // another command was faster
	}
	if err != nil {
		return devstack.Info{}, nil, err
	}
	return s.Info, s, nil
}
