package provider

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Key is the API key the server accepts, unless SetKey chose another.
const Key = "test-key-0123456789"

// Script decides the answer to a request. It may be called from several requests at once.
type Script func(Request) Step

// Server is a running model server.
type Server struct {
	URL string // http://127.0.0.1:port

	http *httptest.Server
	done chan struct{} // closed by Close: whatever hangs lets go
	once sync.Once

	mu       sync.Mutex
	arrived  *sync.Cond
	script   Script
	key      string
	window   int
	vendor   Vendor
	requests []Request
}

// Start starts a server that answers by a script; a nil script gives good summaries. Close it.
func Start(script Script) (*Server, error) {
	s := &Server{done: make(chan struct{}), script: script, key: Key}
	s.arrived = sync.NewCond(&s.mu)
	if script == nil {
		s.script = GoodSummary
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.serve(OpenAI))
	mux.HandleFunc("POST /v1/messages", s.serve(Anthropic))
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s, nil
}

// New starts a server for one test: each request gets the next step, and when they are used up a
// good summary. At the test's end the server is closed, and the test fails if the server had to
// refuse a request as malformed (see Rejected).
func New(t testing.TB, steps ...any) *Server {
	t.Helper()
	script, err := Steps(steps...)
	if err != nil {
		t.Fatalf("provider: %v", err)
	}
	s, err := Start(script)
	if err != nil {
		t.Fatalf("provider: %v", err)
	}
	t.Cleanup(func() {
		s.Close()
		for _, r := range s.Requests() {
			if r.Malformed != "" {
				t.Errorf("provider: request %d is malformed: %s", r.N, r.Malformed)
			}
		}
	})
	return s
}

// Steps makes a script of steps, given as Step or as func(Request) Step. The last one does not
// repeat: after it come good summaries.
func Steps(steps ...any) (Script, error) {
	list := make([]Script, 0, len(steps))
	for _, step := range steps {
		switch step := step.(type) {
		case Step:
			list = append(list, func(Request) Step { return step })
		case func(Request) Step:
			list = append(list, step)
		case Script:
			list = append(list, step)
		default:
			return nil, fmt.Errorf("a step is a Step or a func(Request) Step, not %T", step)
		}
	}
	var mu sync.Mutex
	next := 0
	return func(r Request) Step {
		mu.Lock()
		i := next
		next++
		mu.Unlock()
		if i < len(list) {
			return list[i](r)
		}
		return GoodSummary(r)
	}, nil
}

// Close stops the server and lets go of every request that hangs. It can be called twice.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.done)
		s.http.CloseClientConnections()
		s.http.Close()
	})
}

// OpenAI is the base URL for an OpenAI-compatible client.
func (s *Server) OpenAI() string { return s.URL + "/v1" }

// Anthropic is the base URL for an Anthropic client.
func (s *Server) Anthropic() string { return s.URL }

// SetScript replaces the script, as when an operator mends a provider.
func (s *Server) SetScript(script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// SetKey replaces the accepted key.
func (s *Server) SetKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// SetWindow makes the server refuse prompts over so many tokens (by its own estimate), in the words
// of a vendor. Zero takes the window away.
func (s *Server) SetWindow(tokens int, vendor Vendor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window, s.vendor = tokens, vendor
}

// Requests returns every request so far, in order of arrival, refused ones too.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count is the number of requests so far.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// CountModel is the number of requests for one model so far.
func (s *Server) CountModel(model string) int {
	n := 0
	for _, r := range s.Requests() {
		if r.Model == model {
			n++
		}
	}
	return n
}

// Wait blocks until so many requests have arrived, and reports whether they did in time.
func (s *Server) Wait(count int, within time.Duration) bool {
	timer := time.AfterFunc(within, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.arrived.Broadcast()
	})
	defer timer.Stop()
	end := time.Now().Add(within)
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.requests) < count && time.Now().Before(end) {
		s.arrived.Wait()
	}
	return len(s.requests) >= count
}

func (s *Server) serve(api API) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
		if err != nil {
			return // the client went away while sending; nobody reads an answer
		}
		request, step := s.decide(api, r, body)
		write(w, r, s.done, request, step)
	}
}

// decide records a request and finds its answer: a refusal, or what the script says.
func (s *Server) decide(api API, r *http.Request, body []byte) (Request, Step) {
	request := parse(api, r, body)
	s.mu.Lock()
	key, window, vendor, script := s.key, s.window, s.vendor, s.script
	request.N = len(s.requests) + 1
	s.requests = append(s.requests, request)
	s.arrived.Broadcast()
	s.mu.Unlock()
	switch {
	case request.Key != key:
		return request, unauthorized(api)
	case request.Malformed != "":
		return request, malformed(api, request.Malformed)
	case window > 0 && request.Tokens+request.MaxTokens > window && request.Tokens <= window && vendor == VendorAnthropic:
		return request, capOverflow(request, window)
	case window > 0 && request.Tokens > window:
		return request, Overflow(vendor, request.Tokens, window)
	}
	return request, script(request)
}
