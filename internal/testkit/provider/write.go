package provider

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"time"
)

// format is one API's way to put an answer into bytes.
type format interface {
	open() []string           // events before the text
	piece(text string) string // a delta
	ping() string
	failure(payload string) string
	close(s Step) []string // events after the text, without the terminator
	terminator() string
	whole(s Step) string // the same as one body
}

// write plays a step.
func write(w http.ResponseWriter, r *http.Request, done <-chan struct{}, q Request, s Step) {
	p := &player{w: w, done: done, gone: r.Context().Done()}
	if s.Hold != nil {
		p.hold(s.Hold)
	}
	switch s.Fault {
	case DieBefore:
		p.reset()
		return
	case SilentBefore:
		p.hang()
		return
	}
	if s.Status != 0 {
		p.raw(s)
		return
	}
	var f format
	if q.API == Anthropic {
		f = newAnthropic(q, s)
	} else {
		f = newOpenAI(q, s)
	}
	if s.Unary || !q.Stream {
		s.Status, s.Header, s.Body = http.StatusOK, http.Header{"Content-Type": {"application/json"}}, f.whole(s)
		p.raw(s)
		return
	}
	p.stream(f, s)
}

type player struct {
	w    http.ResponseWriter
	done <-chan struct{}
	gone <-chan struct{}
}

// raw writes a response as it is.
func (p *player) raw(s Step) {
	for name, values := range s.Header {
		p.w.Header()[name] = values
	}
	body := []byte(s.Body)
	if s.Fault == HalfBody {
		p.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		body = body[:len(body)/2]
	}
	p.w.WriteHeader(s.Status)
	if s.Fault == SilentHeaders {
		p.flush()
		p.hang()
		return
	}
	p.send(string(body))
	if s.Fault == HalfBody {
		p.reset()
	}
}

func (p *player) stream(f format, s Step) {
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.Header().Set("X-Request-Id", "req_test")
	p.w.Header().Set("Request-Id", "req_test")
	p.w.WriteHeader(http.StatusOK)
	p.flush()
	if s.Fault == SilentHeaders {
		p.hang()
		return
	}
	p.send(f.open()...)
	for i, piece := range pieces(s) {
		if i == s.After && !p.middle(f, s) {
			return
		}
		for range s.Pings {
			p.pause(s.Every)
			p.send(f.ping())
		}
		p.pause(s.Every)
		p.send(f.piece(piece))
	}
	p.send(f.close(s)...)
	if !s.NoTerminator {
		p.send(f.terminator())
	}
	if s.HoldEnd != nil {
		p.hold(s.HoldEnd)
	}
}

// middle plays what happens after Step.After pieces, and reports whether the stream goes on.
func (p *player) middle(f format, s Step) bool {
	if s.HoldBody != nil {
		p.hold(s.HoldBody)
	}
	if s.ErrorEvent != "" {
		p.send(f.failure(s.ErrorEvent))
		return false
	}
	switch s.Fault {
	case SilentAfter:
		p.hang()
		return false
	case CutAfter:
		p.reset()
		return false
	case EndAfter:
		return false
	}
	return true
}

// pieces cuts the text into deltas, between characters. There is always one, so that faults have
// their place.
func pieces(s Step) []string {
	runes := []rune(s.Text)
	n := s.Pieces
	if n <= 0 {
		n = 4
	}
	n = max(min(n, len(runes)), s.After+1)
	list := make([]string, n)
	for i := range n {
		list[i] = string(runes[len(runes)*i/n : len(runes)*(i+1)/n])
	}
	return list
}

func (p *player) send(parts ...string) {
	for _, part := range parts {
		if _, err := p.w.Write([]byte(part)); err != nil {
			return // the client left, as many tests want it to
		}
	}
	p.flush()
}

func (p *player) flush() { _ = http.NewResponseController(p.w).Flush() }

// hold waits for a channel. When the client leaves or the server closes first, the connection
// breaks: an answer that was held back must not end as if it were complete.
func (p *player) hold(until <-chan struct{}) {
	select {
	case <-until:
	case <-p.gone:
		panic(http.ErrAbortHandler)
	case <-p.done:
		panic(http.ErrAbortHandler)
	}
}

func (p *player) hang() { p.hold(nil) }

func (p *player) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.gone:
	case <-p.done:
	}
}

// reset breaks the connection so that the client sees it reset, not closed.
func (p *player) reset() {
	conn, _, err := http.NewResponseController(p.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// encode is JSON without HTML escapes, on one line.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // every value here is made of strings and numbers
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
