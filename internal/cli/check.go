package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"recap/internal/session"
	"recap/internal/store"
)

func (a *app) checkCommand() *cobra.Command {
	return a.command("check SESSION", "Report what is damaged in a session",
		"Reads the whole session and changes nothing. Exits with 1 when anything is damaged. Damage marked\n"+
			"`stops` keeps recap from working on the session: an entry refers to what is gone.",
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			return a.check(cmd.Context(), args[0])
		})
}

// integrity is what session check prints.
type integrity struct {
	Session string `json:"session"`
	Size    int64  `json:"size"` // bytes
	session.Report
}

func (a *app) check(ctx context.Context, word string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	t, err := a.open(cfg, word)
	if err != nil {
		return err
	}
	snap, err := t.driver.Load(ctx, t.ref.ID, store.ScopeAll)
	if err != nil {
		return err
	}
	report, err := session.Check(snap.Log(), snap)
	size := snap.Size()
	if err := errors.Join(err, snap.Close()); err != nil {
		return err
	}
	r := integrity{Session: t.ref.String(), Size: size, Report: report}
	if r.Damage == nil {
		r.Damage = []session.Damage{}
	}
	if err := a.print(r, func(p *printer) { reportText(p, r) }); err != nil {
		return err
	}
	if len(r.Damage) > 0 {
		return exitWith(exitFailed)
	}
	return nil
}

func reportText(p *printer, r integrity) {
	if len(r.Damage) == 0 {
		p.heading("sound: %s", printable(r.Session))
	} else {
		p.heading("%d damaged: %s", len(r.Damage), printable(r.Session))
	}
	p.field("format", fmt.Sprintf("version %d, %s, %s bytes", r.Version, r.Dialect, grouped(int(r.Size))))
	p.field("entries", fmt.Sprintf("%s, %s on the active path, %s that no root leads to", grouped(r.Entries), grouped(r.OnPath), grouped(r.Unreachable)))
	p.field("tree", fmt.Sprintf("roots: %d, branches: %d, compactions: %d", r.Roots, r.Branches, r.Compactions))
	for _, id := range r.Orphaned {
		p.field("orphaned", "entry "+printable(id)+" of recap is off the active path")
	}
	for _, d := range r.Damage {
		p.line("  %s", damageText(d))
	}
}

// damageText is one line about one thing that is wrong.
func damageText(d session.Damage) string {
	s := fmt.Sprintf("line %d, byte %d: %s", d.Line, d.Offset, d.Kind)
	if d.ID != "" {
		s += " (entry " + printable(d.ID) + ")"
	}
	if d.Detail != "" {
		s += ": " + printable(d.Detail)
	}
	if d.Stops {
		s += " [stops]"
	}
	return s
}
