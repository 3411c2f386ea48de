package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Ready reports why a process cannot do its work now, nil if it can.
type Ready func(ctx context.Context) error

// readyTimeout bounds one readiness check.
const readyTimeout = 3 * time.Second

// Handler serves /metrics, /healthz (200 as long as the process answers) and /readyz (200 or 503,
// as ready says).
func (m *Metrics) Handler(ready Ready) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := ready(ctx); err != nil {
			answer(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		answer(w, http.StatusOK, "ready")
	})
	if m != nil {
		mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, Registry: m.registry}))
	}
	return mux
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text) // the peer is gone if this fails
}

// Server is a running HTTP server for operators.
type Server struct {
	Address string // host:port it listens on
	http    *http.Server
	ended   chan struct{}
}

// Serve listens on address, which may have port 0, and serves h until Close.
func Serve(address string, h http.Handler, log *slog.Logger) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics address %s: %w; set worker.metricsAddress", address, err)
	}
	s := &Server{
		Address: l.Addr().String(),
		http:    &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute},
		ended:   make(chan struct{}),
	}
	go func() {
		defer close(s.ended)
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the metrics server ended by itself", "address", s.Address, "error", err)
		}
	}()
	return s, nil
}

// Close stops listening and lets running requests finish until ctx ends.
func (s *Server) Close(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("metrics server: %w", err), s.http.Close())
	}
	<-s.ended
	return err
}
