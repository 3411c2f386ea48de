package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"recap/internal/session"
	"recap/internal/store"
)

func (a *app) migrateCommand() *cobra.Command {
	var noWriter bool
	cmd := a.command("migrate SESSION", "Bring an old session file to the current version",
		"Gives the entries of a version 1 file their ids and their tree, and renames what version 3 renamed;\n"+
			"everything else stays byte for byte. The old file stays beside it. Needs no server. A session that\n"+
			"was written to a moment ago is left alone unless --no-writer says that no agent has it open.",
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			return a.migrate(cmd.Context(), args[0], noWriter)
		})
	cmd.Flags().BoolVar(&noWriter, "no-writer", false, "no agent has the session open")
	return cmd
}

// migrated is what session migrate prints.
type migrated struct {
	Session  string `json:"session"`
	From     int    `json:"from"`
	To       int    `json:"to"`
	Migrated bool   `json:"migrated"`
	Backup   string `json:"backup,omitempty"` // beside the session
}

func (a *app) migrate(ctx context.Context, word string, noWriter bool) error {
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
	out := migrated{Session: t.ref.String(), From: snap.Log().Header.Version, To: session.CurrentVersion}
	revision, lastWrite := snap.Revision(), snap.LastWrite()
	if err := snap.Close(); err != nil {
		return err
	}
	if out.From < out.To {
		if quiet := time.Since(lastWrite); !noWriter && quiet < cfg.Compaction.QuietFor {
			return &exitError{code: exitStale, err: fmt.Errorf(
				"session %s was written to %s ago and an agent may have it open; use --no-writer if none has", t.ref.ID, quiet.Round(time.Second))}
		}
		w, err := t.driver.Rewrite(ctx, t.ref.ID, store.Expect{Revision: revision}, store.Change{Migrate: true})
		if err != nil {
			return err
		}
		out.Migrated, out.Backup = w.Migrated, w.Backup
	}
	return a.print(out, func(p *printer) {
		if !out.Migrated {
			p.line("%s is of version %d already", printable(out.Session), out.From)
			return
		}
		p.line("%s migrated from version %d to %d; the old file is %s", printable(out.Session), out.From, out.To, printable(out.Backup))
	})
}
