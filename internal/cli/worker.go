package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	temporal "go.temporal.io/sdk/client"

	"recap/internal/config"
	"recap/internal/telemetry"
)

func (a *app) runCommand() *cobra.Command {
	var sessions []string
	cmd := a.command("run", "Take work until interrupted",
		"Runs workflows, model calls, session stores and the command service on NATS, and serves /metrics,\n"+
			"/healthz and /readyz at worker.metricsAddress.\n\n"+
			"The first interrupt or SIGTERM drains: no new work is taken, and what runs may finish within\n"+
			"worker.drainTimeout. The second quits at once.",
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
			return a.runWorker(cmd.Context(), sessions)
		})
	cmd.Flags().StringArrayVar(&sessions, "session", nil, "also serve the folder of this session `file`, outside of the configured stores")
	return cmd
}

func (a *app) runWorker(ctx context.Context, sessions []string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	log, metrics := a.logger(cfg, true), metricsOf(cfg)
	l, err := a.dial(ctx, cfg, dialOptions{log: log, metrics: metrics, works: true, foreground: true})
	if err != nil {
		return err
	}
	w, err := a.startWork(l, log, metrics, sessions)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	l.onClose(w.Stop)
	var draining atomic.Bool
	serving, err := serve(cfg, metrics, log, func(ctx context.Context) error {
		if draining.Load() {
			return errDraining
		}
		return l.alive(ctx)
	})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	log.Info("worker is running", "temporal_address", cfg.Temporal.Address, "stores", w.set.Stores().Names(), "metrics_address", serving.address)
	<-ctx.Done() // an interrupt is how a worker ends, so it is no failure
	draining.Store(true)
	log.Info("draining; interrupt again to quit at once")
	err = l.Close()
	return errors.Join(err, serving.stop()) // last, so that the drain can be watched
}

var (
	errDraining = errors.New("draining")
	errAway     = errors.New("the Temporal server does not answer")
)

// alive reports whether the Temporal server answers.
func (l *link) alive(ctx context.Context) error {
	if _, err := l.temporal.CheckHealth(ctx, &temporal.CheckHealthRequest{}); err != nil {
		return errAway
	}
	return nil
}

// serving is the HTTP server of a worker, or none.
type serving struct {
	address string
	stop    func() error
}

func serve(cfg *config.Config, m *telemetry.Metrics, log *slog.Logger, ready telemetry.Ready) (serving, error) {
	if cfg.Worker.MetricsAddress == "off" {
		return serving{address: "off", stop: func() error { return nil }}, nil
	}
	s, err := telemetry.Serve(cfg.Worker.MetricsAddress, m.Handler(ready), log)
	if err != nil {
		return serving{}, &usageError{err: err}
	}
	return serving{address: s.Address, stop: func() error {
		ctx, cancel := context.WithTimeout(context.Background(), healthPatience)
		defer cancel()
		return s.Close(ctx)
	}}, nil
}

// healthPatience bounds a health check, as container engines expect one.
const healthPatience = 3 * time.Second

func (a *app) healthcheckCommand() *cobra.Command {
	return a.command("healthcheck", "Ask the worker of this machine whether it is ready",
		"Exits with 0 when it is, with 75 when it is not or does not answer. For containers.",
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			return a.healthcheck(cmd.Context(), cfg)
		})
}

func (a *app) healthcheck(ctx context.Context, cfg *config.Config) error {
	if cfg.Worker.MetricsAddress == "off" {
		return usagef("worker.metricsAddress is off: the worker answers no health checks")
	}
	address := reachable(cfg.Worker.MetricsAddress)
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", http.NoBody)
	if err != nil {
		return usagef("worker.metricsAddress %s: %w", cfg.Worker.MetricsAddress, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return &exitError{code: exitTemporary, err: fmt.Errorf("the worker does not answer at %s", address)}
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return &exitError{code: exitTemporary, err: fmt.Errorf("the worker at %s is not ready (HTTP %d)", address, resp.StatusCode)}
	}
	return a.print(map[string]any{"address": address, "ready": true}, func(p *printer) { p.line("ready") })
}

// reachable turns an address to listen on into one to call: a wildcard host means this machine.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
