// Package workers is the composition root: it builds the adapters that the configuration names,
// registers workflows and activities, runs the Temporal workers, and drains them.
//
// Besides internal/cli it is the only package that names an adapter.
package workers

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"recap/activities"
	"recap/internal/blob"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/event"
	"recap/internal/model"
	"recap/internal/telemetry"
	"recap/workflows"
)

// Config is what a set of workers is built from. All fields but Paths are required.
type Config struct {
	Config   *config.Config
	Temporal client.Client
	Events   event.Publisher
	Logger   *slog.Logger
	Metrics  *telemetry.Metrics
	// Paths are sessions outside of the configured stores that this process works on too.
	Paths []string
}

// Set is the workers of one process: one for workflows and publishing, one for model calls, one for
// each session store.
type Set struct {
	temporal client.Client
	acts     *activities.Activities
	drain    time.Duration

	mu      sync.Mutex // Serve adds workers while others run
	workers []worker.Worker
	serving map[string]bool // store names
	stores  *Stores
	blobs   blob.Driver
	logger  *slog.Logger

	sweeping sync.WaitGroup
	stop     context.CancelFunc // ends the sweeping
}

// New builds the adapters and registers everything; it starts nothing.
func New(c Config) (*Set, error) {
	if c.Config == nil || c.Temporal == nil || c.Events == nil || c.Logger == nil || c.Metrics == nil {
		return nil, errors.New("workers: configuration, Temporal client, event publisher, logger and metrics are required")
	}
	stores, err := OpenStores(c.Config, c.Paths...)
	if err != nil {
		return nil, err
	}
	blobs, err := OpenBlobs(c.Config)
	if err != nil {
		return nil, err
	}
	acts, err := activities.New(activities.Deps{
		Stores: stores, Blobs: blobs, Catalog: catalog(c.Config),
		Clients: &clients{config: c.Config, built: map[string]model.Client{}},
		Events:  c.Events, Metrics: c.Metrics, Logger: c.Logger, Now: time.Now,
		Build: telemetry.Version(),
	})
	if err != nil {
		return nil, err
	}
	s := &Set{
		temporal: c.Temporal, acts: acts, drain: c.Config.Worker.DrainTimeout, serving: map[string]bool{},
		stores: stores, blobs: blobs, logger: c.Logger, stop: func() {},
	}
	main := worker.New(c.Temporal, contract.QueueMain, worker.Options{WorkerStopTimeout: s.drain})
	workflows.Register(main)
	acts.RegisterMain(main)
	models := worker.New(c.Temporal, contract.QueueModel, worker.Options{
		WorkerStopTimeout: s.drain, DisableWorkflowWorker: true,
		MaxConcurrentActivityExecutionSize: c.Config.Worker.ModelCalls,
		MaxHeartbeatThrottleInterval:       heartbeatThrottle,
	})
	acts.RegisterModel(models)
	s.workers = append(s.workers, main, models)
	for _, name := range stores.Names() {
		s.workers = append(s.workers, s.storeWorker(name))
	}
	return s, nil
}

// heartbeatThrottle is how long a heartbeat may be held back, and so how long a cancelled activity may
// go on before it learns of it.
const heartbeatThrottle = 2 * time.Second

// storeWorker makes the worker of a store's queue.
func (s *Set) storeWorker(name string) worker.Worker {
	w := worker.New(s.temporal, contract.StoreQueue(name), worker.Options{
		WorkerStopTimeout: s.drain, DisableWorkflowWorker: true,
		MaxConcurrentActivityExecutionSize: 2 * runtime.GOMAXPROCS(0),
		MaxHeartbeatThrottleInterval:       heartbeatThrottle,
	})
	s.acts.RegisterStore(w)
	s.serving[name] = true
	return w
}

// Serve works on the folder of a session that is named by its path, from now on. The set is running.
func (s *Set) Serve(path string) error {
	ref, _, err := s.stores.Resolve(path)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serving[ref.Store] {
		return nil
	}
	w := s.storeWorker(ref.Store)
	if err := w.Start(); err != nil {
		delete(s.serving, ref.Store)
		return err
	}
	s.workers = append(s.workers, w)
	return nil
}

// Stores are the session stores the workers serve.
func (s *Set) Stores() *Stores { return s.stores }

// Start starts polling. On failure what had started is stopped again.
func (s *Set) Start() error {
	for i, w := range s.workers {
		if err := w.Start(); err != nil {
			for _, started := range s.workers[:i] {
				started.Stop()
			}
			return err
		}
	}
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	s.sweeping.Go(func() { s.sweep(ctx) })
	return nil
}

// sweepEvery is how often expired blobs are removed.
const sweepEvery = time.Hour

// sweep removes expired blobs until ctx ends. Several workers may sweep one blob store.
func (s *Set) sweep(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			n, err := s.blobs.Sweep(ctx, now)
			if err != nil {
				s.logger.Warn("expired blobs could not be removed", "error", err)
			} else if n > 0 {
				s.logger.Info("expired blobs removed", "count", n)
			}
		}
	}
}

// Stop drains: polling ends at once, running activities get the drain timeout to finish, and what
// does not finish is taken over by another worker. Model answers that arrive while draining are
// stored and so not paid again.
func (s *Set) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := make(chan struct{}, len(s.workers))
	for _, w := range s.workers {
		go func() {
			w.Stop()
			done <- struct{}{}
		}()
	}
	for range s.workers {
		<-done
	}
	s.stop()
	s.sweeping.Wait()
	s.logger.Info("workers drained")
}
