package cli

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"recap/internal/client"
	"recap/internal/client/service"
	"recap/internal/compaction/gate"
	"recap/internal/config"
	"recap/internal/contract"
	eventnats "recap/internal/event/nats"
	"recap/internal/store"
	"recap/internal/telemetry"
	"recap/workers"
)

// work is a worker that runs in this process: Temporal workers, the event publisher they need and
// the command service on NATS.
type work struct {
	conn    *natsgo.Conn
	set     *workers.Set
	service *service.Service
}

// metricsOf makes the metrics of a working process.
func metricsOf(cfg *config.Config) *telemetry.Metrics {
	o := telemetry.Options{GateReasons: gate.Reasons}
	for _, c := range cfg.Candidates() {
		o.Candidates = append(o.Candidates, c.ID)
	}
	return telemetry.NewMetrics(o)
}

// startWork starts working for the servers of a link. paths are sessions outside of the configured
// stores. NATS being away delays events and commands, not the work.
func (a *app) startWork(l *link, log *slog.Logger, metrics *telemetry.Metrics, paths []string) (*work, error) {
	o := natsOptions(a.name, l.cfg, log)
	o.Disconnected = metrics.NATSDisconnected
	conn, err := eventnats.Connect(o)
	if err != nil {
		return nil, &usageError{err: err}
	}
	w := &work{conn: conn}
	if err := w.start(l, log, metrics, paths); err != nil {
		return nil, errors.Join(err, w.Stop())
	}
	return w, nil
}

// start starts everything. Only the worker of an embedded stack takes over folders on request.
func (w *work) start(l *link, log *slog.Logger, metrics *telemetry.Metrics, paths []string) error {
	events, err := eventnats.NewPublisher(w.conn, streamOptions(l.cfg))
	if err != nil {
		return err
	}
	blobs, err := workers.OpenBlobs(l.cfg)
	if err != nil {
		return err
	}
	set, err := workers.New(workers.Config{
		Config: l.cfg, Temporal: l.temporal, Events: events, Logger: log, Metrics: metrics, Paths: paths,
	})
	if err != nil {
		return err
	}
	if err := set.Start(); err != nil {
		return err
	}
	w.set = set
	c := service.Config{
		Conn: w.conn, Client: l.ops, Blobs: blobs, Tenant: l.cfg.Tenant, Version: telemetry.Version(), Logger: log,
		Resolve: resolver(l.cfg, paths, set.Stores().Names),
	}
	if l.embedded {
		c.Serve = set.Serve
	}
	w.service, err = service.Start(c)
	return err
}

// resolver turns the names that commands on NATS carry into references. It refuses sessions outside
// of the stores that are served here: nobody would ever work on them.
func resolver(cfg *config.Config, paths []string, served func() []string) func(context.Context, string) (contract.SessionRef, error) {
	return func(_ context.Context, name string) (contract.SessionRef, error) {
		stores, err := workers.OpenStores(cfg, paths...) // its own: resolving a path may add a store
		if err != nil {
			return contract.SessionRef{}, err
		}
		ref, _, err := stores.Resolve(name)
		if err == nil && !slices.Contains(served(), ref.Store) {
			err = &store.Error{Kind: store.KindOutside, ID: name, Msg: "lies in no store that this worker serves"}
		}
		return ref, err
	}
}

// askToServe asks the worker of the stack that a link is attached to to work on a session's folder, so
// that the work goes on when this command ends. served is false when nobody there can.
func (a *app) askToServe(l *link, log *slog.Logger, path string) (served bool, err error) {
	conn, err := eventnats.Connect(natsOptions(a.name, l.cfg, log))
	if err != nil {
		return false, &usageError{err: err}
	}
	defer conn.Close()
	if up := conn.StatusChanged(natsgo.CONNECTED); conn.Status() != natsgo.CONNECTED {
		select {
		case <-up:
		case <-time.After(client.DialTimeout):
			return false, nil
		}
	}
	body, err := json.Marshal(service.Served{Path: path})
	if err != nil {
		return false, err
	}
	reply, err := conn.Request(service.Prefix+"."+service.VerbServe, body, service.CallTimeout)
	if err != nil {
		log.Debug("nobody serves folders on request", "error", err)
		return false, nil
	}
	return reply.Header.Get(micro.ErrorHeader) == "", nil
}

// Stop takes no more work, lets what runs finish within the drain timeout, and disconnects.
func (w *work) Stop() error {
	var err error
	if w.service != nil {
		err = w.service.Stop()
	}
	if w.set != nil {
		w.set.Stop()
	}
	w.conn.Close()
	return err
}

func natsOptions(name string, cfg *config.Config, log *slog.Logger) eventnats.Options {
	return eventnats.Options{
		URL: cfg.NATS.URL, Name: name, Credentials: cfg.NATS.Credentials, CA: cfg.NATS.CA, Cert: cfg.NATS.Cert, Key: cfg.NATS.Key,
		Logger: log,
	}
}

func streamOptions(cfg *config.Config) eventnats.StreamOptions {
	return eventnats.StreamOptions{MaxAge: cfg.NATS.MaxAge, Replicas: cfg.NATS.Replicas}
}
