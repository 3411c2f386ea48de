// Package wire is what the HTTP adapters share below their vendor library: one exchange with a
// model server, held to the four limits of model.Timeouts and to size caps, that remembers status,
// headers and body as they came. Vendor libraries build and sign the request; what came back is
// read here, because they hide what classification needs: the stream's terminator, comments,
// bodies of an unexpected shape, and the status of an error they cannot parse (spec/providers §1.2).
//
// It may import model and the standard library.
package wire

import (
	"net"
	"net/http"
	"time"
)

// Size caps of a response (spec/providers §3.5).
const (
	MaxBody    = 16 << 20  // a whole response
	MaxLine    = 8 << 20   // one line of a stream
	MaxFailure = 256 << 10 // the body of an error
)

// Transport opens connections for the exchanges of one candidate. It is safe for concurrent use.
type Transport struct {
	client *http.Client
}

// NewTransport returns a transport that follows no redirects (a model API has none, and a second
// request would carry the key elsewhere) and asks for no compression (it delays streams).
func NewTransport() *Transport {
	return &Transport{client: &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 8,
			IdleConnTimeout:     60 * time.Second,
			DisableCompression:  true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}
