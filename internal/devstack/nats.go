package devstack

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startNATS runs a NATS server with JetStream in this process, on a free port of the loopback.
func startNATS(ctx context.Context, dir string, timeout time.Duration, log *slog.Logger) (*server.Server, string, error) {
	ns, err := server.NewServer(&server.Options{
		ServerName:             "recap-embedded",
		Host:                   "127.0.0.1",
		Port:                   server.RANDOM_PORT,
		JetStream:              true,
		StoreDir:               dir,
		NoSigs:                 true,
		DisableJetStreamBanner: true,
	})
	if err != nil {
		return nil, "", fmt.Errorf("embedded NATS: %w", err)
	}
	ns.SetLoggerV2(natsLogger{log}, false, false, false)
	go ns.Start()
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	if !ns.ReadyForConnections(timeout) {
		ns.Shutdown()
		return nil, "", fmt.Errorf("embedded NATS: the server was not ready within %s; its data is in %s", timeout.Round(time.Second), dir)
	}
	if !ns.JetStreamEnabled() {
		ns.Shutdown()
		return nil, "", fmt.Errorf("embedded NATS: JetStream did not start; check that %s can be written", dir)
	}
	return ns, ns.ClientURL(), nil
}

// natsLogger passes on what the server reports; its own notices are for debugging only.
type natsLogger struct{ log *slog.Logger }

func (l natsLogger) Noticef(format string, v ...any) {
	l.log.Debug("NATS: " + fmt.Sprintf(format, v...))
}

func (l natsLogger) Warnf(format string, v ...any) { l.log.Debug("NATS: " + fmt.Sprintf(format, v...)) }

func (l natsLogger) Fatalf(format string, v ...any) {
	l.log.Error("NATS: " + fmt.Sprintf(format, v...))
}

func (l natsLogger) Errorf(format string, v ...any) { l.log.Warn("NATS: " + fmt.Sprintf(format, v...)) }
func (l natsLogger) Debugf(string, ...any)          {}
func (l natsLogger) Tracef(string, ...any)          {}
