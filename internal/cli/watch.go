package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"recap/internal/client"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/event"
	eventnats "recap/internal/event/nats"
	"recap/internal/store"
)

// natsPatience is how long a command waits for a NATS server before it says that none is there.
const natsPatience = 3 * time.Second

// watchFlags are the flags of watch.
type watchFlags struct {
	embedded, replay, untilDone bool
	store                       string
	timeout                     time.Duration
}

func (a *app) watchCommand() *cobra.Command {
	var f watchFlags
	cmd := a.command("watch [SESSION | OPERATION]", "Follow events as they arrive",
		"Prints one line an event, with --output json one JSON object a line. Without an argument it follows\n"+
			"everything. Events that are published while nobody watches are kept: --replay prints them first.",
		cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
			return a.watch(cmd.Context(), f, args)
		})
	fs := cmd.Flags()
	fs.BoolVar(&f.embedded, "embedded", false, "use the stack of recap dev, if it runs; else start one for this command")
	fs.BoolVar(&f.replay, "replay", false, "print what the stream still holds first")
	fs.BoolVar(&f.untilDone, "until-done", false, "end with the first terminal event, with its exit code")
	fs.StringVar(&f.store, "store", "", "`name` of the store that holds the session, where it is not on this machine")
	fs.DurationVar(&f.timeout, "timeout", 0, "stop after this `duration`")
	return cmd
}

func (a *app) watch(ctx context.Context, f watchFlags, args []string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	ctx, cancel := withTimeout(ctx, f.timeout)
	defer cancel()
	filter := event.Filter{Tenant: a.flags.tenant}
	if len(args) == 1 {
		if filter, err = a.eventFilter(cfg, f.store, args[0]); err != nil {
			return err
		}
	}
	closeStack := func() error { return nil }
	if f.embedded {
		l, err := a.connect(ctx, cfg, connectOptions{embedded: true})
		if err != nil {
			return err
		}
		cfg, closeStack = l.cfg, l.Close
	}
	start := event.StartNew
	if f.replay {
		start = event.StartOldest
	}
	err = a.follow(ctx, cfg, filter, start, f.untilDone)
	return errors.Join(err, closeStack())
}

// eventFilter reads a word as a session where there is one of that name, else as an operation.
func (a *app) eventFilter(cfg *config.Config, storeName, word string) (event.Filter, error) {
	if n := client.ParseName(word); n.WorkflowID != "" {
		ref, _ := client.SessionOf(n.WorkflowID)
		return event.Filter{Session: ref}, nil
	}
	t, err := a.refer(cfg, storeName, word)
	switch {
	case err == nil:
		return event.Filter{Session: t.ref}, nil
	case store.KindOf(err) == store.KindNotFound && t.path == "":
		return event.Filter{Operation: word}, nil
	}
	return event.Filter{}, err
}

// follow prints events until ctx ends, or the first terminal one where untilDone is set.
func (a *app) follow(ctx context.Context, cfg *config.Config, f event.Filter, start event.Start, untilDone bool) error {
	sub, stop, err := a.subscribe(ctx, cfg, f, start)
	if err != nil {
		return err
	}
	defer stop()
	a.notef("watching %s", f.Subject())
	for {
		b, err := sub.Next(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if err := a.printEvent(b); err != nil {
			return err
		}
		if untilDone && b.Terminal {
			if b.Outcome == nil {
				return nil
			}
			return exitWith(exitOfOutcome(*b.Outcome, false))
		}
	}
}

// subscribe connects to the event bus, or says within natsPatience that it is away.
func (a *app) subscribe(ctx context.Context, cfg *config.Config, f event.Filter, start event.Start) (event.Subscription, func(), error) {
	conn, err := eventnats.Connect(natsOptions(a.name, cfg, a.logger(cfg, false)))
	if err != nil {
		return nil, nil, &usageError{err: err}
	}
	away := func(err error) (event.Subscription, func(), error) {
		conn.Close()
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		return nil, nil, &exitError{code: exitTemporary, err: fmt.Errorf("no NATS server with JetStream answers at the configured nats.url; start one, set NATS_URL, or use --embedded: %w", err)}
	}
	subscriber, err := eventnats.NewSubscriber(conn, streamOptions(cfg))
	if err != nil {
		return away(err)
	}
	if err := awaitNATS(ctx, conn.IsConnected); err != nil {
		return away(err)
	}
	limited, cancel := context.WithTimeout(ctx, natsPatience)
	defer cancel()
	sub, err := subscriber.Subscribe(limited, f, start)
	if err != nil {
		return away(err)
	}
	return sub, func() { sub.Stop(); conn.Close() }, nil
}

// awaitNATS waits until the connection stands. The client connects in the background and has no
// event for the first success that could be waited on without racing it, so it is asked.
func awaitNATS(ctx context.Context, connected func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, natsPatience, errors.New("no answer within "+natsPatience.String()))
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !connected() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

func (a *app) printEvent(b event.Body) error {
	if a.flags.output == "json" {
		data, err := json.Marshal(b)
		if err != nil {
			return fmt.Errorf("event %s: %w", b.ID, err)
		}
		_, err = fmt.Fprintf(a.out, "%s\n", data)
		return err
	}
	_, err := fmt.Fprintln(a.out, eventText(b))
	return err
}

// eventText is one line about an event.
func eventText(b event.Body) string {
	at := b.Time
	if t, err := time.Parse(time.RFC3339, b.Time); err == nil {
		at = t.Local().Format("15:04:05.000")
	}
	s := fmt.Sprintf("%s  %-15s %s", at, b.Event, printable(b.Session.String()))
	switch {
	case b.Outcome != nil:
		s += ": " + printable(b.Outcome.Message)
		if b.Outcome.State == contract.StateCommitted || b.Outcome.State == contract.StateReturned {
			s += fmt.Sprintf(" (%s → %s tokens)", tokens(b.Outcome.TokensBefore), tokens(b.Outcome.TokensAfter))
		}
	case b.Failed != nil:
		s += ": " + attemptText(*b.Failed)
	case b.Total > 0:
		s += fmt.Sprintf(": %d of %d", b.Done, b.Total)
	case b.Until != "":
		s += ": until " + b.Until
	}
	if b.Message != "" {
		s += ": " + printable(b.Message)
	}
	return s
}
