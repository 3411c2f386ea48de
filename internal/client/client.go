package client

import (
	"log/slog"
	"sync/atomic"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
)

// Options are the parts of a Client that have defaults.
type Options struct {
	// Logger takes what a caller should know but cannot act on. Default: nothing is logged.
	Logger *slog.Logger
	// Converter decodes payloads of histories and memos; it must be the one the Temporal client uses.
	// Default: the SDK's.
	Converter converter.DataConverter
	// Eager asks the server to hand the first workflow task to a worker in this process, which saves
	// one round trip where the worker runs beside the caller (the embedded stack).
	Eager bool
}

// Client submits operations and follows them. It is safe for concurrent use.
type Client struct {
	temporal client.Client
	log      *slog.Logger
	conv     converter.DataConverter
	eager    bool

	// plain is set once the server has refused our search attributes; starts go without from then on.
	plain atomic.Bool
}

// New makes a Client over a connected Temporal client, which stays the caller's to close.
func New(temporal client.Client, o Options) *Client {
	c := &Client{temporal: temporal, log: o.Logger, conv: o.Converter, eager: o.Eager}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.conv == nil {
		c.conv = converter.GetDefaultDataConverter()
	}
	return c
}
