// Package nats is the event bus on NATS JetStream. It imports the event port and the NATS client.
//
// Nothing here needs NATS to be up at start: a connection is made in the background and kept
// forever, and while NATS is away Publish says so at once, so that the caller can hand the event to
// a durable delivery (promise G7).
package nats

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"time"

	natsgo "github.com/nats-io/nats.go"
)

// Options say how to connect.
type Options struct {
	URL         string // one or more URLs, separated by commas
	Name        string // shown by the server's monitoring; "" = recap
	Credentials string // .creds file
	CA          string // file with CA certificates
	Cert, Key   string // client certificate files
	Logger      *slog.Logger
	// Disconnected, when set, is told of every lost connection, for metrics.
	Disconnected func()
}

// Connect prepares a connection and returns without waiting for the server. It fails only on
// options that can never work. Close or drain the connection after use.
func Connect(o Options) (*natsgo.Conn, error) {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	name := o.Name
	if name == "" {
		name = "recap"
	}
	opts := []natsgo.Option{
		natsgo.Name(name),
		natsgo.RetryOnFailedConnect(true),
		natsgo.MaxReconnects(-1),
		natsgo.ReconnectWait(500 * time.Millisecond),
		natsgo.ReconnectJitter(250*time.Millisecond, time.Second),
		natsgo.ReconnectBufSize(-1), // an event is published or refused, never parked in a buffer
		natsgo.Timeout(2 * time.Second),
		natsgo.PingInterval(10 * time.Second),
		natsgo.MaxPingsOutstanding(2),
		natsgo.DisconnectErrHandler(func(c *natsgo.Conn, err error) {
			if o.Disconnected != nil && !c.IsClosed() {
				o.Disconnected()
			}
			if err != nil {
				log.Warn("NATS connection lost, reconnecting", "error", err)
			}
		}),
		natsgo.ReconnectHandler(func(c *natsgo.Conn) { log.Info("NATS connection is back", "url", c.ConnectedUrlRedacted()) }),
		natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { log.Warn("NATS error", "error", err) }),
	}
	if o.Credentials != "" {
		if _, err := os.Stat(o.Credentials); err != nil {
			return nil, fmt.Errorf("connect to NATS: credentials file: %w", err)
		}
		opts = append(opts, natsgo.UserCredentials(o.Credentials))
	}
	tlsOpts, err := tlsOptions(o)
	if err != nil {
		return nil, err
	}
	conn, err := natsgo.Connect(o.URL, append(opts, tlsOpts...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	return conn, nil
}

// tlsOptions reads the certificates now: a wrong file is a mistake to report, not one to retry.
func tlsOptions(o Options) ([]natsgo.Option, error) {
	if o.CA == "" && o.Cert == "" {
		return nil, nil
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("connect to NATS: CA file: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("connect to NATS: CA file %s holds no certificate", o.CA)
		}
	}
	if o.Cert != "" {
		cert, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("connect to NATS: client certificate: %w", err)
		}
		conf.Certificates = []tls.Certificate{cert}
	}
	return []natsgo.Option{natsgo.Secure(conf)}, nil
}
