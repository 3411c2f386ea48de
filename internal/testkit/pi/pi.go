// Package pi runs the real pi coding agent for tests: what it makes of a session file, and what it
// does while it holds one open. It needs Node.js 20 and the npm package that package.json beside it
// pins; RECAP_PI names another folder that has it installed. Test-only; it imports the standard
// library and testkit/repo.
package pi

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"recap/internal/testkit/repo"
)

// Agent is a running Node process with pi loaded. Its methods fail the test on any error; they are
// for one goroutine.
type Agent struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// patience is how long pi may take for one request. It walks a cycle of parents for ever.
const patience = time.Minute

// Modules returns the node_modules folder that holds pi and the Node program to run it with. Where
// one is missing the test is skipped, or fails where CI=true.
func Modules(t testing.TB) (node, modules string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		repo.Need(t, "node", "install Node.js 20 or newer")
	}
	dir := os.Getenv("RECAP_PI")
	if dir == "" {
		dir = filepath.Join(repo.Root(t), "internal", "testkit", "pi")
	}
	for _, modules := range []string{dir, filepath.Join(dir, "node_modules")} {
		if _, err := os.Stat(filepath.Join(modules, "@mariozechner", "pi-coding-agent", "package.json")); err == nil {
			return node, modules
		}
	}
	repo.Need(t, "the npm package @mariozechner/pi-coding-agent", "run npm ci in internal/testkit/pi, or let RECAP_PI name a folder that has it")
	return "", ""
}

// Start runs pi until the test ends.
func Start(t testing.TB) *Agent {
	t.Helper()
	node, modules := Modules(t)
	cmd := exec.Command(node, filepath.Join(repo.Root(t), "internal", "testkit", "pi", "serve.mjs"), modules)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatalf("pi: %v", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("pi: %v", err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("pi: start node: %v", err)
	}
	t.Cleanup(func() {
		_ = in.Close() // ends its loop
		if err := cmd.Wait(); err != nil {
			t.Errorf("pi: node ended: %v", err)
		}
	})
	return &Agent{t: t, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

// request is one line to the process; see serve.mjs.
type request struct {
	Do      string          `json:"do"`
	File    string          `json:"file,omitempty"`
	Session int             `json:"session"`
	Message json.RawMessage `json:"message,omitempty"`
	Keep    int             `json:"keep,omitempty"`
	Leaf    string          `json:"leaf,omitempty"`
}

func (a *Agent) ask(r request, answer any) {
	a.t.Helper()
	line, err := json.Marshal(r)
	if err != nil {
		a.t.Fatalf("pi %s: %v", r.Do, err)
	}
	if _, err := a.in.Write(append(line, '\n')); err != nil {
		a.t.Fatalf("pi %s: %v", r.Do, err)
	}
	late := time.AfterFunc(patience, func() { _ = a.cmd.Process.Kill() }) // the read then ends
	line, err = a.out.ReadBytes('\n')
	late.Stop()
	if err != nil {
		a.t.Fatalf("pi %s: no answer: %v", r.Do, err)
	}
	var got struct {
		OK    json.RawMessage `json:"ok"`
		Error string          `json:"error"`
	}
	if err := json.Unmarshal(line, &got); err != nil {
		a.t.Fatalf("pi %s: %v", r.Do, err)
	}
	if got.Error != "" {
		a.t.Fatalf("pi %s %s: %s", r.Do, r.File, got.Error)
	}
	if err := json.Unmarshal(got.OK, answer); err != nil {
		a.t.Fatalf("pi %s: %v", r.Do, err)
	}
}

// Read returns the context pi builds of a file, without touching the file.
func (a *Agent) Read(file string) Context {
	a.t.Helper()
	var c Context
	a.ask(request{Do: "read", File: file}, &c)
	return c
}

// ReadAt is Read as if the session's leaf were the entry named.
func (a *Agent) ReadAt(file, leaf string) Context {
	a.t.Helper()
	var c Context
	a.ask(request{Do: "read", File: file, Leaf: leaf}, &c)
	return c
}

// Open opens a session as a running pi does: a file of an old version is rewritten at once.
func (a *Agent) Open(file string) *Session {
	a.t.Helper()
	var s struct {
		Session int `json:"session"`
	}
	a.ask(request{Do: "open", File: file}, &s)
	return &Session{agent: a, number: s.Session}
}

// Session is a session that pi holds open: it keeps entries and leaf in memory.
type Session struct {
	agent  *Agent
	number int
}

// Context returns the context pi has in memory.
func (s *Session) Context() Context {
	s.agent.t.Helper()
	var c Context
	s.agent.ask(request{Do: "context", Session: s.number}, &c)
	return c
}

// Append lets pi write a message under the leaf it has in memory, and returns the entry's id.
func (s *Session) Append(message string) string {
	s.agent.t.Helper()
	var e struct {
		ID string `json:"id"`
	}
	s.agent.ask(request{Do: "append", Session: s.number, Message: json.RawMessage(message)}, &e)
	return e.ID
}

// FirstKept returns the entry from which on pi itself would keep, were it to compact now, "" when it
// would not.
func (s *Session) FirstKept(keepRecentTokens int) string {
	s.agent.t.Helper()
	var p struct {
		FirstKept *string `json:"firstKeptEntryId"`
	}
	s.agent.ask(request{Do: "compact", Session: s.number, Keep: keepRecentTokens}, &p)
	if p.FirstKept == nil {
		return ""
	}
	return *p.FirstKept
}
