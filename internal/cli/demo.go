package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"recap/internal/client/record"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/event"
	"recap/internal/sample"
	"recap/internal/session"
)

// demoFlags are the flags of demo.
type demoFlags struct {
	session string
	seed    uint64
	keep    bool
}

func (a *app) demoCommand() *cobra.Command {
	var f demoFlags
	cmd := a.command("demo", "Watch a long session being compacted; needs no key and no server",
		"Starts the embedded stack, generates a realistic session, compacts it and shows what happened. The\n"+
			"built-in extractive summariser writes the summary, or the models of a recap.yaml, if there is one.",
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), f) })
	fs := cmd.Flags()
	fs.StringVar(&f.session, "session", "", "work on a copy of this session `file` instead of a generated one")
	fs.Uint64Var(&f.seed, "seed", 1, "`number` that decides the generated session")
	fs.BoolVar(&f.keep, "keep-running", false, "leave the stack running afterwards, to look around")
	return cmd
}

// demoReport is what demo prints with --output json.
type demoReport struct {
	Session string           `json:"session"`
	Outcome contract.Outcome `json:"outcome"`
	Summary string           `json:"summary"`
	Events  []event.Body     `json:"events"`
	addresses

	keep          bool
	ownStack      bool
	before, after session.Context
}

func (a *app) demo(ctx context.Context, f demoFlags) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	path, err := a.demoSession(cfg, f)
	if err != nil {
		return err
	}
	t, err := a.open(cfg, path)
	if err != nil {
		return err
	}
	r := demoReport{Session: path, keep: f.keep}
	if r.before, err = buildContext(ctx, t.driver, t.ref.ID, session.ContextOptions{}); err != nil {
		return err
	}
	a.notef("starting the embedded stack: Temporal, NATS and a worker (data in %s)", absolute(cfg))
	l, err := a.connect(ctx, cfg, connectOptions{embedded: true, target: &t})
	if err != nil {
		return err
	}
	r.addresses, r.ownStack = addressesOf(l), l.ownStack
	err = a.demoRun(ctx, l, t, &r)
	if err == nil && f.keep {
		a.notef("the stack goes on running; interrupt to stop it")
		err = a.stay(ctx, l)
	}
	if err := errors.Join(err, l.Close()); err != nil {
		return err
	}
	return exitWith(exitOfOutcome(r.Outcome, false))
}

// demoSession puts a session of its own into the data folder: generated, or a copy.
func (a *app) demoSession(cfg *config.Config, f demoFlags) (string, error) {
	name, data := "session.jsonl", []byte(nil)
	if f.session != "" {
		if err := readable(f.session); err != nil {
			return "", err
		}
		var err error
		if data, err = os.ReadFile(f.session); err != nil {
			return "", fmt.Errorf("copy the session: %w", err)
		}
		name = filepath.Base(f.session)
	} else {
		data = sample.Generate(sample.Options{Seed: f.seed})
	}
	root := filepath.Join(absolute(cfg), "demo")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", fmt.Errorf("make the demo's folder: %w", err)
	}
	folder, err := os.MkdirTemp(root, a.now().Format("20060102-150405-*"))
	if err != nil {
		return "", fmt.Errorf("make the demo's folder: %w", err)
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("write the demo's session: %w", err)
	}
	return path, nil
}

// demoRun subscribes, compacts and prints.
func (a *app) demoRun(ctx context.Context, l *link, t target, r *demoReport) error {
	req := contract.Request{
		RequestID: uuid.NewString(), Session: t.ref, Settings: l.cfg.OperationSettings(), Writer: contract.WriterNone,
		Models: demoModels(l.cfg),
	}
	sub, stop, err := a.subscribe(ctx, l.cfg, event.Filter{Operation: req.RequestID}, event.StartNew)
	if err != nil {
		return err
	}
	defer stop()
	accepted, err := l.ops.Submit(ctx, req)
	if err != nil {
		return err
	}
	text := a.flags.output == "text"
	if text {
		p := &printer{w: a.out, bold: a.colours(a.out)}
		p.heading("Compacting %s", r.Session)
		if p.err != nil {
			return p.err
		}
	}
	if err := a.demoEvents(ctx, sub, r, text); err != nil {
		return err
	}
	if r.Outcome, err = l.ops.Wait(ctx, accepted); err != nil {
		return err
	}
	if err := a.demoResult(ctx, l.cfg, t, r); err != nil {
		return err
	}
	return a.print(r, func(p *printer) { demoText(p, r, accepted.WorkflowID) })
}

// demoModels are the candidates of the configuration, whether or not it says that they are asked.
func demoModels(cfg *config.Config) []string {
	if len(cfg.Compaction.Model) > 0 {
		return nil
	}
	names := make([]string, len(cfg.Models))
	for i, m := range cfg.Models {
		names[i] = m.ID
	}
	return names
}

// demoEvents collects events up to the terminal one, and prints each as it arrives.
func (a *app) demoEvents(ctx context.Context, sub event.Subscription, r *demoReport, show bool) error {
	for {
		b, err := sub.Next(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		r.Events = append(r.Events, b)
		if show {
			if _, err := fmt.Fprintln(a.out, "  "+eventText(b)); err != nil {
				return err
			}
		}
		if b.Terminal {
			return nil
		}
	}
}

// demoResult reads what the operation left: the summary, and the context as it is now.
func (a *app) demoResult(ctx context.Context, cfg *config.Config, t target, r *demoReport) error {
	c, err := a.compaction(ctx, cfg, r.Outcome)
	if isType[*record.NoCompactionError](err) {
		return nil
	}
	if err != nil {
		return err
	}
	r.Summary = c.Summary
	r.after, err = buildContext(ctx, t.driver, t.ref.ID, session.ContextOptions{})
	return err
}
