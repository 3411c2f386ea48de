package devstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Options say what to start and where.
type Options struct {
	// DataDir is where both servers keep their data; it is made if missing. Required.
	DataDir string
	// TemporalAddress, when set, is a server that runs already: none is started.
	TemporalAddress string
	// Namespace on the Temporal server; "" = default.
	Namespace string
	// MoreNamespaces are made beside Namespace, with the same search attributes.
	MoreNamespaces []string
	// Program is the temporal program; "" = find it (see FindProgram).
	Program string
	// CacheDir is recap's cache; "" = RECAP_CACHE, else recap in the user's cache folder.
	CacheDir string
	// StartTimeout bounds the wait until the servers answer, not the building of a program;
	// 0 = one minute.
	StartTimeout time.Duration
	// Progress is told what a person waits for, one line each; nil = nobody.
	Progress io.Writer
	// Logger gets what the servers have to say; nil = nobody.
	Logger *slog.Logger
}

// Info is how a stack is reached. It is what stack.json in the data folder holds.
type Info struct {
	TemporalAddress string `json:"temporalAddress"`
	Namespace       string `json:"namespace"`
	UIAddress       string `json:"uiAddress,omitempty"` // URL of the Temporal UI, "" if unknown
	NATSURL         string `json:"natsUrl"`
	DataDir         string `json:"dataDir"`
	PID             int    `json:"pid"` // of the process that runs the stack
	TemporalPID     int    `json:"temporalPid,omitempty"`
	StartedAt       string `json:"startedAt"` // RFC 3339
}

// Stack is a running embedded stack. Stop it after use.
type Stack struct {
	Info

	lock     *lock
	nats     *server.Server
	temporal *child // nil when a server given by address is used
	log      *slog.Logger
	done     chan struct{}
	stop     sync.Once
	stopErr  error
}

// Start runs the stack and returns when both servers answer. A data folder has at most one stack:
// when another one runs, the error is a *InUseError. Nothing is left running on failure. The stack
// outlives ctx, which only bounds the start.
func Start(ctx context.Context, o Options) (_ *Stack, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("embedded stack: %w", err)
	}
	s := &Stack{
		Info: Info{DataDir: o.DataDir, Namespace: o.Namespace, PID: os.Getpid(), StartedAt: time.Now().UTC().Format(time.RFC3339)},
		log:  o.Logger, done: make(chan struct{}),
	}
	if s.lock, err = acquire(ctx, o.DataDir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if s.nats, s.NATSURL, err = startNATS(ctx, filepath.Join(o.DataDir, "nats"), o.StartTimeout, o.Logger); err != nil {
		return nil, err
	}
	if err := s.startTemporal(ctx, o); err != nil {
		return nil, err
	}
	if err := s.writeInfo(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Stack) startTemporal(ctx context.Context, o Options) error {
	if o.TemporalAddress != "" {
		s.TemporalAddress = o.TemporalAddress
		return nil
	}
	program := o.Program
	if program == "" {
		found, err := FindProgram(ctx, o.CacheDir, o.Progress)
		if err != nil {
			return err
		}
		program = found
	}
	c, err := startTemporal(ctx, program, o, s.lock.file)
	if err != nil {
		return err
	}
	s.temporal, s.TemporalAddress, s.UIAddress, s.TemporalPID = c, c.address, c.ui, c.pid
	go s.watch()
	return nil
}

// watch closes Done when the Temporal server ends, wanted or not.
func (s *Stack) watch() {
	<-s.temporal.exited
	if !s.temporal.wanted.Load() {
		s.log.Error("the Temporal development server ended by itself", "error", s.temporal.err(), "log", s.temporal.logPath)
	}
	close(s.done)
}

// Done is closed when the stack's Temporal server has ended, also by itself. It never closes for a
// server given by address.
func (s *Stack) Done() <-chan struct{} { return s.done }

// Stop ends both servers, waits until they are gone and frees the data folder. It may be called
// more than once.
func (s *Stack) Stop() error {
	s.stop.Do(func() { s.stopErr = s.shutdown() })
	return s.stopErr
}

func (s *Stack) shutdown() error {
	var errs []error
	if s.temporal != nil {
		errs = append(errs, s.temporal.stop())
	}
	if s.nats != nil {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	}
	if err := os.Remove(infoPath(s.DataDir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, fmt.Errorf("embedded stack: %w", err))
	}
	errs = append(errs, s.lock.release())
	return errors.Join(errs...)
}

func (o Options) withDefaults() (Options, error) {
	if o.DataDir == "" {
		return o, errors.New("embedded stack: no data folder given; set dataDir")
	}
	abs, err := filepath.Abs(o.DataDir)
	if err != nil {
		return o, fmt.Errorf("embedded stack: %w", err)
	}
	o.DataDir = abs
	if o.Namespace == "" {
		o.Namespace = "default"
	}
	if o.CacheDir == "" {
		o.CacheDir = CacheDir()
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = time.Minute
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
