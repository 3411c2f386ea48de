package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"recap/internal/config"
)

func (a *app) devCommand() *cobra.Command {
	return a.command("dev", "Run everything on this machine until interrupted",
		"Starts the embedded stack (a Temporal development server and NATS, with their data in dataDir) and a\n"+
			"worker, and leaves the addresses in dataDir, where --embedded finds them. A data folder has one\n"+
			"stack at a time.",
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return a.dev(cmd.Context()) })
}

// addresses is what dev prints once everything runs.
type addresses struct {
	DataDir         string `json:"dataDir"`
	TemporalAddress string `json:"temporalAddress"`
	Namespace       string `json:"namespace"`
	NATSURL         string `json:"natsUrl"`
	UI              string `json:"uiAddress,omitempty"`
}

func (a *app) dev(ctx context.Context) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	l, err := a.connect(ctx, cfg, connectOptions{embedded: true, work: true, foreground: true})
	if err != nil {
		return err
	}
	err = a.print(addressesOf(l), func(p *printer) {
		p.heading("recap is running; interrupt to stop it")
		addressesText(p, addressesOf(l))
		p.line("")
		p.line("  compact a session from another terminal:  recap compact --embedded SESSION")
	})
	if err == nil {
		err = a.stay(ctx, l)
	}
	return errors.Join(err, l.Close())
}

// stay waits for an interrupt, which is how a foreground command ends, or for the stack to end by
// itself, which is a failure.
func (a *app) stay(ctx context.Context, l *link) error {
	select {
	case <-ctx.Done():
		a.notef("stopping; interrupt again to quit at once")
		return nil
	case <-l.gone:
		return &exitError{code: exitTemporary, err: errors.New("the embedded Temporal server ended by itself; see temporal.log in " + l.cfg.DataDir)}
	}
}

func addressesOf(l *link) addresses {
	return addresses{
		DataDir: absolute(l.cfg), TemporalAddress: l.cfg.Temporal.Address, Namespace: l.cfg.Temporal.Namespace, NATSURL: l.cfg.NATS.URL, UI: l.ui,
	}
}

func addressesText(p *printer, a addresses) {
	p.field("Temporal", a.TemporalAddress)
	p.field("Temporal UI", a.UI)
	p.field("NATS", a.NATSURL)
	p.field("data", a.DataDir)
}

func absolute(cfg *config.Config) string {
	if abs, err := filepath.Abs(cfg.DataDir); err == nil {
		return abs
	}
	return cfg.DataDir
}
