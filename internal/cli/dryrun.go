package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"recap/activities"
	"recap/internal/blob"
	blobmem "recap/internal/blob/mem"
	"recap/internal/compaction"
	"recap/internal/config"
	"recap/internal/contract"
	eventmem "recap/internal/event/mem"
	"recap/internal/model"
	"recap/internal/store"
	"recap/internal/telemetry"
)

// dryPlan is what compact --dry-run prints.
type dryPlan struct {
	compaction.Plan
	Candidates []contract.PlannedCandidate `json:"candidates"`
}

// dryRun prepares the plan with the very activity that a worker runs, over a blob store in memory:
// nothing is written and no model is asked. Whether an agent has the session open does not matter to
// a plan.
func (a *app) dryRun(ctx context.Context, cfg *config.Config, t target, req contract.Request, failOnNoop bool) error {
	if t.driver == nil {
		return usagef("--dry-run reads the session here: name it by its path or id, without --store")
	}
	extractive := len(cfg.Models) == 0
	if extractive {
		cfg = cfg.Embedded(cfg.Temporal.Address, cfg.Temporal.Namespace, cfg.NATS.URL)
	}
	req.Writer = contract.WriterNone
	blobs := blobmem.New()
	acts, err := activities.New(activities.Deps{
		Stores: oneStore{name: t.ref.Store, driver: t.driver}, Blobs: blobs,
		Catalog: activities.Catalog{Candidates: cfg.Candidates(), Chain: cfg.Compaction.Model, Retry: cfg.Retry.Contract()},
		Clients: nobody{}, Events: eventmem.New(), Metrics: (*telemetry.Metrics)(nil), Logger: slog.New(slog.DiscardHandler),
		Now: a.now, Build: telemetry.Version(),
	})
	if err != nil {
		return err
	}
	result, err := acts.PreparePlan(ctx, contract.PreparePlanInput{Request: req})
	if err != nil {
		return err
	}
	if result.End != nil {
		return a.noPlan(*result.End, failOnNoop)
	}
	if result.Reanchor != "" {
		return a.print(map[string]string{"reanchor": result.Reanchor}, func(p *printer) {
			p.line("entry %s of recap is off the active path: it would be put back, without a model call", result.Reanchor)
		})
	}
	d, err := readPlan(ctx, blobs, result)
	if err != nil {
		return err
	}
	if extractive {
		a.notef("no model is configured: planned for the built-in extractive summariser")
	}
	for _, w := range d.Warnings {
		a.notef("warning: %s", printable(w))
	}
	return a.print(d, func(p *printer) { planText(p, t, d) })
}

// noPlan says why there is nothing to plan. As JSON that is the outcome an operation would have.
func (a *app) noPlan(out contract.Outcome, failOnNoop bool) error {
	out.Receipt = "" // it lies in the memory of this process
	code := exitOfOutcome(out, failOnNoop)
	if a.flags.output == "text" && code != exitOK {
		return &exitError{code: code, err: errors.New(printable(out.Message))}
	}
	if err := a.print(out, func(p *printer) { p.line("nothing to do: %s", printable(out.Message)) }); err != nil {
		return err
	}
	return exitWith(code)
}

func readPlan(ctx context.Context, blobs blob.Driver, result contract.PreparePlanResult) (dryPlan, error) {
	d := dryPlan{Candidates: result.Candidates}
	data, err := blobs.Get(ctx, blob.Digest(result.Plan))
	if err != nil {
		return d, fmt.Errorf("read the plan: %w", err)
	}
	if err := json.Unmarshal(data, &d.Plan); err != nil {
		return d, fmt.Errorf("read the plan: %w", err)
	}
	return d, nil
}

func planText(p *printer, t target, d dryPlan) {
	p.heading("plan for %s; nothing was written", printable(t.ref.String()))
	before := grouped(d.TokensEstimate) + " (estimated)"
	if d.TokensBefore != nil {
		before = grouped(*d.TokensBefore)
	}
	p.field("tokens now", before)
	p.field("summarise", fmt.Sprintf("%s messages, about %s tokens", grouped(len(d.Coverage.Summarized)+len(d.Coverage.TurnPrefix)), grouped(d.SourceTokens)))
	p.field("keep", fmt.Sprintf("%s messages, about %s tokens, from entry %s on", grouped(len(d.Coverage.Kept)), grouped(d.KeptTokens), d.FirstKeptEntryID))
	if d.IsSplit {
		p.field("split turn", fmt.Sprintf("%d of them begin the turn that is kept", len(d.Coverage.TurnPrefix)))
	}
	if d.Coverage.Previous != "" {
		p.field("builds on", "the summary of entry "+d.Coverage.Previous)
	}
	for _, c := range d.Candidates {
		p.field("candidate", candidateText(c))
	}
}

func candidateText(c contract.PlannedCandidate) string {
	if c.Refused != "" {
		return c.Candidate.ID + " would not be asked: " + c.Refused
	}
	s := c.Candidate.ID
	for i, call := range c.Calls {
		sep := ": "
		if i > 0 {
			sep = ", "
		}
		s += fmt.Sprintf("%s%s about %s tokens in", sep, call.Part, grouped(call.InputTokens))
	}
	return s
}

// oneStore holds the one store a dry run reads.
type oneStore struct {
	name   string
	driver store.Driver
}

func (s oneStore) Driver(name string) (store.Driver, error) {
	if name != s.name {
		return nil, fmt.Errorf("store %s is not the one that was opened", name)
	}
	return s.driver, nil
}

// nobody is asked in a dry run.
type nobody struct{}

var errDry = errors.New("a dry run asks no model")

func (nobody) Client(string) (model.Client, model.Price, error) { return nil, model.Price{}, errDry }
