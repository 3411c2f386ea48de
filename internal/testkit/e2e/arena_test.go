package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"

	recap "recap/internal/client"
	"recap/internal/client/record"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/event"
	eventnats "recap/internal/event/nats"
	"recap/internal/sample"
	"recap/internal/testkit/provider"
	"recap/workers"
)

// patience bounds every wait for a condition; nothing waits for a fixed time.
const patience = 90 * time.Second

// arena is what one test works in: a namespace, a store with one session, and a model server.
type arena struct {
	t         *testing.T
	namespace string
	tenant    string
	dir       string
	session   string // file
	original  []byte
	provider  *provider.Server
	natsURL   string
	temporal  client.Client
	ops       *recap.Client
	extra     string // further lines of recap.yaml
}

func newArena(t *testing.T) *arena {
	t.Helper()
	if stack == nil {
		t.Skip("no temporal program") // main has said so, and fails where CI=true
	}
	t.Parallel()
	ns := <-free
	t.Cleanup(func() { free <- ns })
	return arenaIn(t, ns)
}

func arenaIn(t *testing.T, ns string) *arena {
	t.Helper()
	a := &arena{t: t, namespace: ns, tenant: fmt.Sprintf("tenant-%d", next.Add(1)), dir: t.TempDir(), natsURL: stack.NATSURL, provider: provider.New(t)}
	require.NoError(t, os.MkdirAll(filepath.Join(a.dir, "sessions"), 0o755))
	a.session = filepath.Join(a.dir, "sessions", "work.jsonl")
	a.original = sample.Generate(sample.Options{Seed: 7, Entries: 120})
	require.NoError(t, os.WriteFile(a.session, a.original, 0o600))
	var err error
	a.temporal, err = client.Dial(client.Options{
		HostPort: stack.TemporalAddress, Namespace: ns, Logger: quiet{},
	})
	require.NoError(t, err)
	t.Cleanup(a.temporal.Close)
	a.ops = recap.New(a.temporal, recap.Options{})
	a.configure("")
	return a
}

// configure writes recap.yaml: the store, one candidate on the model server, and what a test adds
// below the models.
func (a *arena) configure(more string) {
	a.t.Helper()
	a.extra = more
	content := fmt.Sprintf(`dataDir: %s
tenant: %s
stores:
  local: {driver: jsonl, root: %s}
models:
  - id: fake/one
    api: openai-chat
    baseUrl: %s
    apiKeyEnv: E2E_KEY
    contextWindow: 200000
    maxOutputTokens: 8000
    price: {input: 1, output: 2}
  - id: second/two
    api: anthropic-messages
    baseUrl: %s
    apiKeyEnv: E2E_KEY
    contextWindow: 200000
    maxOutputTokens: 8000
compaction: {model: [fake/one], keepRecentTokens: 2000}
retry: {maxRetries: 2, baseDelayMs: 20}
worker: {metricsAddress: "off", drainTimeout: 5s}
%s
`, filepath.Join(a.dir, "data"), a.tenant, filepath.Join(a.dir, "sessions"), a.provider.OpenAI(), a.provider.Anthropic(), more)
	require.NoError(a.t, os.WriteFile(filepath.Join(a.dir, "recap.yaml"), []byte(content), 0o600))
}

func (a *arena) env() []string {
	return append(os.Environ(),
		"E2E_KEY="+provider.Key, "TEMPORAL_ADDRESS="+stack.TemporalAddress, "TEMPORAL_NAMESPACE="+a.namespace,
		"NATS_URL="+a.natsURL, "NO_COLOR=1")
}

// child is a worker process.
type child struct {
	cmd *exec.Cmd
	out *bytes.Buffer
}

// worker starts the real worker binary.
func (a *arena) worker() *child {
	a.t.Helper()
	out := &bytes.Buffer{}
	cmd := exec.Command(filepath.Join(bin, "recap-worker"), "run")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.dir, a.env(), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(a.t, cmd.Start())
	c := &child{cmd: cmd, out: out}
	a.t.Cleanup(func() {
		c.kill()
		if a.t.Failed() {
			a.t.Logf("worker:\n%s", out)
		}
	})
	return c
}

// kill is kill -9; it returns once the process is gone. Killing twice is fine.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // gone already
	_ = c.cmd.Wait()         // it was killed
}

// cli runs the recap binary and returns stdout, stderr and the exit code.
func (a *arena) cli(args ...string) (stdout, stderr string, code int) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "recap"), args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.dir, a.env(), &out, &errs
	err := cmd.Run()
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(a.t, err, &exit)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func (a *arena) ref() contract.SessionRef {
	return contract.SessionRef{Tenant: a.tenant, Store: "local", ID: "work.jsonl"}
}

func (a *arena) request(operation string) contract.Request {
	return contract.Request{
		RequestID: operation, Session: a.ref(), Writer: contract.WriterNone,
		Settings: contract.Settings{KeepRecentTokens: 2000},
	}
}

func (a *arena) ctx() context.Context {
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	a.t.Cleanup(cancel)
	return ctx
}

func (a *arena) submit(r contract.Request) recap.Accepted {
	a.t.Helper()
	accepted, err := a.ops.Submit(a.ctx(), r)
	require.NoError(a.t, err)
	return accepted
}

func (a *arena) wait(accepted recap.Accepted) contract.Outcome {
	a.t.Helper()
	o, err := a.ops.Wait(a.ctx(), accepted)
	require.NoError(a.t, err)
	a.keepHistory(accepted)
	return o
}

// keepHistory writes the run's history where RECAP_HISTORIES says, for the replay tests: see
// workflows/testdata/histories.
func (a *arena) keepHistory(accepted recap.Accepted) {
	a.t.Helper()
	dir := os.Getenv("RECAP_HISTORIES")
	if dir == "" {
		return
	}
	var h historypb.History
	iter := a.temporal.GetWorkflowHistory(a.ctx(), accepted.WorkflowID, accepted.RunID, false, 0)
	for iter.HasNext() {
		e, err := iter.Next()
		require.NoError(a.t, err)
		h.Events = append(h.Events, e)
	}
	data, err := protojson.MarshalOptions{Multiline: true, Indent: " "}.Marshal(&h)
	require.NoError(a.t, err)
	host, err := os.Hostname()
	require.NoError(a.t, err)
	data = identity.ReplaceAll(data, []byte(`"identity": "worker"`))
	data = bytes.ReplaceAll(data, []byte(host), []byte("host"))
	name := strings.ReplaceAll(a.t.Name(), "/", "-") + "-" + strconv.Itoa(int(kept.Add(1))) + ".json"
	require.NoError(a.t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
}

var (
	identity = regexp.MustCompile(`"identity": +"[^"]*"`)
	kept     atomic.Int32
)

// status waits until the run's status satisfies a condition.
func (a *arena) status(accepted recap.Accepted, until func(contract.Status) bool) contract.Status {
	a.t.Helper()
	var last contract.Status
	require.Eventually(a.t, func() bool {
		s, err := a.ops.Status(a.ctx(), recap.Name{WorkflowID: accepted.WorkflowID})
		last = s.Progress
		return err == nil && until(s.Progress)
	}, patience, 20*time.Millisecond, "the run never got there; last status %+v", last)
	return last
}

// compactions returns the compaction entries that the session has beyond the original file, whose
// bytes must be untouched.
func (a *arena) compactions() []map[string]any {
	a.t.Helper()
	data, err := os.ReadFile(a.session)
	require.NoError(a.t, err)
	require.True(a.t, bytes.HasPrefix(data, a.original), "existing bytes changed")
	var list []map[string]any
	for line := range bytes.Lines(data[len(a.original):]) {
		var e map[string]any
		require.NoError(a.t, json.Unmarshal(line, &e))
		if e["type"] == "compaction" {
			list = append(list, e)
		}
	}
	return list
}

// events reads the events of an operation up to its terminal one.
func (a *arena) events(url, operation string) []event.Body {
	a.t.Helper()
	conn, err := eventnats.Connect(eventnats.Options{URL: url})
	require.NoError(a.t, err)
	defer conn.Close()
	return a.read(conn, operation)
}

func (a *arena) read(conn *natsgo.Conn, operation string) []event.Body {
	a.t.Helper()
	sub, err := eventnats.NewSubscriber(conn, eventnats.StreamOptions{MaxAge: time.Hour, Replicas: 1})
	require.NoError(a.t, err)
	stream, err := sub.Subscribe(a.ctx(), event.Filter{Tenant: a.tenant, Operation: operation}, event.StartOldest)
	require.NoError(a.t, err)
	defer stream.Stop()
	var list []event.Body
	for {
		e, err := stream.Next(a.ctx())
		require.NoError(a.t, err, "no terminal event; so far: %v", list)
		list = append(list, e)
		if e.Terminal {
			return list
		}
	}
}

// receipt reads the receipt of an operation from the blob store.
func (a *arena) receipt(operation string) contract.Receipt {
	a.t.Helper()
	cfg, err := config.Load(config.Sources{File: filepath.Join(a.dir, "recap.yaml"), LookupEnv: func(string) (string, bool) { return "", false }})
	require.NoError(a.t, err)
	blobs, err := workers.OpenBlobs(cfg)
	require.NoError(a.t, err)
	r, err := record.Receipt(a.ctx(), blobs, a.tenant, operation)
	require.NoError(a.t, err)
	return r
}

// history exports the run's history as JSON.
func (a *arena) history(accepted recap.Accepted) (events int, text string, largest int) {
	a.t.Helper()
	iter := a.temporal.GetWorkflowHistory(a.ctx(), accepted.WorkflowID, accepted.RunID, false, 0)
	var all strings.Builder
	for iter.HasNext() {
		e, err := iter.Next()
		require.NoError(a.t, err)
		line, err := e.Marshal()
		require.NoError(a.t, err)
		largest = max(largest, len(line))
		all.Write(line)
		events++
	}
	return events, all.String(), largest
}

// quiet is a Temporal logger that says nothing.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
