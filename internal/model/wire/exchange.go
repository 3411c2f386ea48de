package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"recap/internal/model"
)

// Exchange is one request and its response. It is handed to a vendor library as its HTTP client;
// it sends once, however often the library asks. Use: Begin, let the library send, Read, Evidence,
// End, on one goroutine.
type Exchange struct {
	caller context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	limits *limits
	client *http.Client

	sent      bool
	response  *http.Response
	transport error
	phase     model.Phase
	failure   []byte
	undecoded bool
}

// errSentTwice stops a library that retries although it was told not to.
var errSentTwice = errors.New("the vendor library tried to send the request a second time")

// Begin starts the clock of an exchange.
func (t *Transport) Begin(ctx context.Context, set model.Timeouts) *Exchange {
	x := &Exchange{caller: ctx, client: t.client, phase: model.PhasePrepare}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	x.limits = startLimits(set, x.cancel)
	return x
}

// End frees the connection and stops the clock.
func (x *Exchange) End() {
	x.limits.stop()
	x.cancel(nil)
	if x.response != nil {
		_ = x.response.Body.Close() // nothing is left to read; an error here tells nothing new
	}
}

// Context lives as long as the limits allow.
func (x *Exchange) Context() context.Context { return x.ctx }

// Do sends the request and waits for the response's headers. The body of an error response is read
// here, to its cap.
func (x *Exchange) Do(req *http.Request) (*http.Response, error) {
	if x.sent {
		return nil, errSentTwice
	}
	x.sent = true
	x.phase = model.PhaseConnect
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.limits.arm(model.LimitFirstByte) }}
	req = req.WithContext(httptrace.WithClientTrace(x.ctx, trace))
	// With one of these headers net/http would send a request again when a kept connection breaks.
	req.Header.Del("Idempotency-Key")
	req.Header.Del("X-Idempotency-Key")
	response, err := x.client.Do(req)
	if err != nil {
		if x.limits.reached() != model.LimitConnect {
			x.phase = model.PhaseHeaders
		}
		x.broke(err)
		return nil, err
	}
	x.response = response
	x.phase = model.PhaseBody
	if response.StatusCode < 200 || response.StatusCode > 299 {
		x.failure, err = x.readAll(MaxFailure)
		if err != nil && !errors.Is(err, model.ErrTooLarge) {
			x.broke(err)
		}
	}
	// The library gets a copy without the body: what it makes of it is not used.
	seen := *response
	seen.Body = io.NopCloser(bytes.NewReader(x.failure))
	return &seen, nil
}

// Refused notes an error of the vendor library before it sent anything: a parameter or an address
// that it does not accept.
func (x *Exchange) Refused(err error) {
	if !x.sent && err != nil {
		x.transport = err
	}
}

// broke notes why the exchange ended early. A limit that ran out is the real reason of the
// cancellation it causes.
func (x *Exchange) broke(err error) {
	if cause := context.Cause(x.ctx); cause != nil {
		err = cause
	}
	x.transport = err
}

// Verdict is what a decoder found in a piece of a response.
type Verdict int

// Verdicts of a decoder.
const (
	More   Verdict = iota // go on
	Done                  // the terminator: what a server sends after it is not waited for
	Failed                // the provider reports a failure: this piece is what will be classified
)

// Decoder turns what a 2xx response carries into an answer. Both methods return an error for data
// that is none of their API's.
type Decoder interface {
	// Event takes one event of a stream.
	Event(name string, data []byte) (Verdict, error)
	// Whole takes a complete JSON body, from servers that do not stream.
	Whole(body []byte) (Verdict, error)
}

// Read reads the response to its end, or until it breaks off. Nothing is left to read when the
// response was an error.
func (x *Exchange) Read(d Decoder) {
	if x.response == nil || x.transport != nil || len(x.failure) > 0 || !x.ok() {
		return
	}
	switch x.kind() {
	case kindStream:
		x.phase = model.PhaseStream
		x.readStream(d)
	case kindJSON:
		body, err := x.readAll(MaxBody)
		if err != nil {
			x.broke(err)
			return
		}
		x.phase = model.PhaseDecode
		x.take(body, d.Whole)
	default:
		x.undecoded = true
	}
}

func (x *Exchange) readStream(d Decoder) {
	s := NewScanner(&countingReader{from: x.response.Body, left: MaxBody, seen: x.limits.firstByte()})
	for {
		event, err := s.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			x.broke(err)
			return
		}
		x.limits.active()
		if event.Alive {
			continue
		}
		if !x.take(event.Data, func(data []byte) (Verdict, error) { return d.Event(event.Name, data) }) {
			return
		}
	}
}

// take gives data to a decoder and reports whether to go on.
func (x *Exchange) take(data []byte, decode func([]byte) (Verdict, error)) bool {
	verdict, err := decode(data)
	switch {
	case err != nil:
		x.undecoded = true
	case verdict == Failed:
		x.failure = bytes.Clone(data[:min(len(data), MaxFailure)])
	}
	return verdict == More && err == nil
}

// readAll reads a whole body. Over the cap it returns what fits and ErrTooLarge.
func (x *Exchange) readAll(limit int) ([]byte, error) {
	var buf bytes.Buffer
	_, err := buf.ReadFrom(&countingReader{from: x.response.Body, left: limit, seen: x.limits.active})
	return buf.Bytes(), err
}

func (x *Exchange) ok() bool {
	return x.response.StatusCode >= 200 && x.response.StatusCode <= 299
}

type kind int

const (
	kindOther kind = iota
	kindStream
	kindJSON
)

func (x *Exchange) kind() kind {
	switch media := x.media(); {
	case media == "text/event-stream":
		return kindStream
	case media == "application/json", strings.HasSuffix(media, "+json"):
		return kindJSON
	}
	return kindOther
}

func (x *Exchange) media() string {
	media, _, err := mime.ParseMediaType(x.response.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}

// Evidence is what the exchange knows. The adapter adds what was asked and what was answered.
func (x *Exchange) Evidence() model.Evidence {
	e := model.Evidence{
		Now: time.Now(), Context: x.caller.Err(), Transport: x.transport, Phase: x.phase,
		Failure: x.failure, Undecoded: x.undecoded,
	}
	if x.response != nil {
		e.Status, e.Header, e.ContentType = x.response.StatusCode, x.response.Header, x.media()
	}
	return e
}

// countingReader reads at most left bytes and reports each arrival.
type countingReader struct {
	from io.Reader
	left int
	seen func()
}

func (r *countingReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		// At the cap: fine if the body ends here.
		var one [1]byte
		if n, err := r.from.Read(one[:]); n == 0 && err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("over %d bytes: %w", MaxBody, model.ErrTooLarge)
	}
	n, err := r.from.Read(p[:min(len(p), r.left)])
	r.left -= n
	if n > 0 {
		r.seen()
	}
	return n, err
}
