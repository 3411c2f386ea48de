package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"recap/internal/client"
	"recap/internal/client/record"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/workers"
)

func (a *app) explainCommand() *cobra.Command {
	var embedded bool
	cmd := a.command("explain OPERATION", "Account for an operation: what was covered, asked, answered and judged",
		"Prints the receipt of the operation's last attempt. An operation named by its id needs no server:\n"+
			"receipts lie in the blob store for 90 days. One named by its session or workflow id is looked up\n"+
			"on the server first.",
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			return a.explain(cmd.Context(), embedded, args[0])
		})
	cmd.Flags().BoolVar(&embedded, "embedded", false, "use the stack of recap dev, if it runs; else start one for this command")
	return cmd
}

func (a *app) explain(ctx context.Context, embedded bool, word string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	tenant, operation := cfg.Tenant, word
	r, err := receipt(ctx, cfg, tenant, operation)
	if errors.Is(err, record.ErrNone) {
		if tenant, operation, err = a.lookUp(ctx, cfg, embedded, word); err != nil {
			return err
		}
		r, err = receipt(ctx, cfg, tenant, operation)
	}
	if err != nil {
		return err
	}
	return a.print(r, func(p *printer) { receiptText(p, r) })
}

func receipt(ctx context.Context, cfg *config.Config, tenant, operation string) (contract.Receipt, error) {
	if _, err := os.Stat(cfg.Blob.Root); errors.Is(err, fs.ErrNotExist) {
		return contract.Receipt{}, record.ErrNone // opening it would make it, and looking must not
	}
	blobs, err := workers.OpenBlobs(cfg)
	if err != nil {
		return contract.Receipt{}, err
	}
	return record.Receipt(ctx, blobs, tenant, operation)
}

// lookUp asks the server which operation a word means.
func (a *app) lookUp(ctx context.Context, cfg *config.Config, embedded bool, word string) (tenant, operation string, err error) {
	l, err := a.connect(ctx, cfg, connectOptions{embedded: embedded})
	if err != nil {
		return "", "", err
	}
	n, err := a.operation(ctx, l.cfg, l.ops, word)
	var o client.Operation
	if err == nil {
		o, err = l.ops.Find(ctx, n)
	}
	return o.Session.Tenant, o.Operation, errors.Join(err, l.Close())
}

// receiptText is the account for a person.
func receiptText(p *printer, r contract.Receipt) {
	outcomeText(p, finalOutcome{Outcome: withoutFailures(r.Outcome)})
	p.field("asked for", fmt.Sprintf("%s, writer %s, commit %s", r.Request.Reason, r.Request.Writer, r.Request.Commit))
	p.field("focus", printable(r.Request.Focus))
	p.field("written", clock(r.WrittenAt)+" by recap "+r.Build)
	p.line("")
	p.heading("What was covered")
	p.field("summarised", entries(r.Coverage.Summarized))
	p.field("turn prefix", entries(r.Coverage.TurnPrefix))
	p.field("kept", entries(r.Coverage.Kept))
	if r.Coverage.Previous != "" {
		p.field("built on", "the summary of entry "+r.Coverage.Previous)
	}
	if len(r.Stages) > 0 {
		p.line("")
		p.heading("What was asked")
		for _, s := range r.Stages {
			p.field(string(s.Part), stageText(s))
		}
	}
	if len(r.Attempts) > 0 {
		p.line("")
		p.heading("Attempts")
		for _, at := range r.Attempts {
			p.line("  %s", attemptText(at))
		}
	}
	if r.Verdict != "" {
		p.line("")
		p.heading("Verdict: %s", r.Verdict)
		for _, c := range r.Reasons {
			p.line("  %s", c)
		}
		for _, c := range r.Repairs {
			p.line("  repaired: %s", c)
		}
		for _, part := range slices.Sorted(maps.Keys(r.Measurements)) {
			p.line("  %s: %s", cmp.Or(string(part), "whole"), r.Measurements[part])
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Redactions)) {
		p.field("redacted", fmt.Sprintf("%s × %d", kind, r.Redactions[kind]))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Prompts)) {
		p.field("prompt", fmt.Sprintf("%s %.12s", name, r.Prompts[name]))
	}
	p.field("plan", r.Plan)
}

// withoutFailures leaves the attempts to the section that lists all of them.
func withoutFailures(o contract.Outcome) contract.Outcome {
	o.Attempts = nil
	return o
}

// entries renders a list of entry ids by its ends.
func entries(ids []string) string {
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return "1 entry: " + ids[0]
	}
	return fmt.Sprintf("%s entries: %s … %s", grouped(len(ids)), ids[0], ids[len(ids)-1])
}

func stageText(s contract.Stage) string {
	text := fmt.Sprintf("about %s tokens", grouped(s.InputTokens))
	if s.Candidate != "" {
		text += ", answered by " + s.Candidate
	}
	return text
}
