package client

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"
)

// DialTimeout is how long Dial waits for a server before it says that none is there.
const DialTimeout = 5 * time.Second

// Dial connects to the Temporal server of o, or fails within DialTimeout with KindUnavailable.
func Dial(ctx context.Context, o client.Options) (client.Client, error) {
	o.ConnectionOptions.GetSystemInfoTimeout = DialTimeout
	limited, cancel := context.WithTimeout(ctx, DialTimeout)
	defer cancel()
	c, err := client.DialContext(limited, o)
	if err == nil {
		return c, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	address := o.HostPort
	if address == "" {
		address = client.DefaultHostPort
	}
	kind, msg := kindOf(err)
	if kind == KindUnavailable {
		msg = "no Temporal server answers; start one, set TEMPORAL_ADDRESS, or use --embedded"
	}
	return nil, &Error{Kind: kind, Verb: "connect to", On: address, Msg: msg, Err: err}
}
