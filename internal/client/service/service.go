// Package service is the NATS face of recap's operations (DESIGN §8): a micro service named recap
// whose endpoints recap.v1.cmd.<verb> take JSON and answer with the acceptance. Completion is an
// event, never a held request. It may import contract, client, record and the ports of blobs and stores, nothing
// else of ours.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"recap/internal/blob"
	"recap/internal/client"
	"recap/internal/contract"
)

// Name is the service's name on the bus; Subjects start with Prefix.
const (
	Name   = "recap"
	Prefix = "recap.v1.cmd"
)

// Limits of the service.
const (
	// CallTimeout bounds one command: a caller that waits as long knows its answer.
	CallTimeout = 10 * time.Second
	// Concurrent is how many commands an instance works on at once; more wait in the subscription.
	Concurrent = 32
)

// Operations is what the service does with operations; *client.Client is one.
type Operations interface {
	Submit(ctx context.Context, req contract.Request) (client.Accepted, error)
	Retry(ctx context.Context, n client.Name) (client.Retried, error)
	Cancel(ctx context.Context, n client.Name) (client.Accepted, error)
	Status(ctx context.Context, n client.Name) (client.Standing, error)
}

// Config holds what the service stands on; every field but Logger and Version is required.
type Config struct {
	Conn   *nats.Conn
	Client Operations
	Blobs  blob.Driver
	// Resolve turns a caller's name for a session (an id or a path) into its reference.
	Resolve func(ctx context.Context, name string) (contract.SessionRef, error)
	// Serve, where it is set, lets a command ask this worker to work on the folder of a session too. It
	// is for a stack on one machine: whoever may send commands may name any file.
	Serve func(path string) error
	// Tenant is whose operations a command means that names no tenant.
	Tenant  string
	Version string // shown to discovery; anything but a semantic version becomes 0.0.0
	Logger  *slog.Logger
}

// Service answers commands until it is stopped.
type Service struct {
	cfg   Config
	micro micro.Service
	slots chan struct{}
	wg    sync.WaitGroup
}

var semver = regexp.MustCompile(`^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$`)

// Start registers the service; it answers as soon as Start has returned. While NATS is away that
// waits for the connection, and nothing fails: commands are one way in of several.
func Start(cfg Config) (*Service, error) {
	if cfg.Conn == nil || cfg.Client == nil || cfg.Blobs == nil || cfg.Resolve == nil {
		return nil, errors.New("command service: connection, client, blobs and session resolver are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if !semver.MatchString(cfg.Version) {
		cfg.Version = "0.0.0"
	}
	s := &Service{cfg: cfg, slots: make(chan struct{}, Concurrent)}
	var err error
	s.micro, err = micro.AddService(cfg.Conn, micro.Config{
		Name: Name, Version: cfg.Version, QueueGroup: Name,
		Description: "durable compaction of agent sessions",
		ErrorHandler: func(_ micro.Service, e *micro.NATSError) {
			cfg.Logger.Error("command service failed on a subject", "subject", e.Subject, "error", e)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("command service: %w", err)
	}
	group := s.micro.AddGroup(Prefix)
	for verb, do := range s.verbs() {
		if err := group.AddEndpoint(verb, s.handler(verb, do)); err != nil {
			return nil, errors.Join(fmt.Errorf("command service: endpoint %s: %w", verb, err), s.micro.Stop())
		}
	}
	if cfg.Conn.IsConnected() {
		if err := cfg.Conn.Flush(); err != nil { // the server knows the subjects before Start returns
			cfg.Logger.Warn("command service is not confirmed by the NATS server yet", "error", err)
		}
	}
	return s, nil
}

// Stop takes no more commands and waits for those under way.
func (s *Service) Stop() error {
	err := s.micro.Stop()
	s.wg.Wait()
	return err
}

// handler runs a verb beside the subscription's own goroutine, so that one slow command does not
// hold the others back.
func (s *Service) handler(verb string, do verb) micro.Handler {
	return micro.HandlerFunc(func(r micro.Request) {
		s.slots <- struct{}{}
		s.wg.Go(func() {
			defer func() { <-s.slots }()
			ctx, cancel := context.WithTimeout(context.Background(), CallTimeout)
			defer cancel()
			s.answer(ctx, verb, do, r)
		})
	})
}

func (s *Service) answer(ctx context.Context, name string, do verb, r micro.Request) {
	reply, err := do(ctx, r.Data())
	if err != nil {
		code, text := failure(err)
		s.cfg.Logger.Info("command refused", "verb", name, "code", code, "error", err)
		err = r.Error(code, text, nil)
	} else if raw, ok := reply.([]byte); ok {
		err = r.Respond(raw)
	} else {
		err = r.RespondJSON(reply)
	}
	if err != nil {
		s.cfg.Logger.Error("answer to a command was not sent", "verb", name, "error", err)
	}
}
