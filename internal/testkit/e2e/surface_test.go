package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	recap "recap/internal/client"
	"recap/internal/client/record"
	"recap/internal/contract"
	eventnats "recap/internal/event/nats"
	"recap/internal/testkit/provider"
)

// TestCommandsOverNATS asks for a compaction that is returned to the caller, as an agent frontend does.
func TestCommandsOverNATS(t *testing.T) {
	a := newArena(t)
	port := freePort(t) // a server of its own: workers of other tests answer commands on the shared one
	startNATS(t, port)
	a.natsURL = "nats://127.0.0.1:" + strconv.Itoa(port)
	a.worker()
	conn, err := eventnats.Connect(eventnats.Options{URL: a.natsURL})
	require.NoError(t, err)
	defer conn.Close()
	ask := func(verb string, in, out any) {
		t.Helper()
		data, err := json.Marshal(in)
		require.NoError(t, err)
		require.Eventually(t, func() bool { // until the worker listens
			reply, err := conn.Request("recap.v1.cmd."+verb, data, 5*time.Second)
			return err == nil && reply.Header.Get("Nats-Service-Error") == "" && json.Unmarshal(reply.Data, out) == nil
		}, patience, 50*time.Millisecond)
	}
	var accepted recap.Accepted
	request := a.request("op-return")
	request.Commit = contract.CommitReturn
	ask("compact", request, &accepted)
	require.Equal(t, "op-return", accepted.Operation)
	_ = a.events(a.natsURL, "op-return")
	var c record.Compaction
	ask("result", map[string]string{"operation": "op-return", "tenant": a.tenant}, &c)
	require.Equal(t, contract.StateReturned, c.State)
	require.Contains(t, c.Summary, "## Goal")
	require.NotEmpty(t, c.FirstKeptEntryID)
	require.Empty(t, a.compactions())
}

// dev runs the embedded stack in a process of its own and returns how to run commands beside it.
func (a *arena) dev() (run func(args ...string) (stdout, stderr string, code int)) {
	a.t.Helper()
	out := filepath.Join(a.dir, "dev.json")
	f, err := os.Create(out)
	require.NoError(a.t, err)
	dev := exec.Command(filepath.Join(bin, "recap"), "dev", "--output", "json")
	dev.Dir, dev.Stdout, dev.Stderr = a.dir, f, os.Stderr
	dev.Env = append(a.env(), "TEMPORAL_ADDRESS=", "TEMPORAL_NAMESPACE=", "NATS_URL=", "RECAP_LOG_LEVEL=error")
	dev.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(a.t, dev.Start())
	a.t.Cleanup(func() {
		_ = dev.Process.Signal(os.Interrupt) // it may be gone
		_ = dev.Wait()                       // it was interrupted
		_ = f.Close()
	})
	require.Eventually(a.t, func() bool {
		data, err := os.ReadFile(out)
		return err == nil && json.Valid(data) && len(data) > 0
	}, patience, 50*time.Millisecond)
	return func(args ...string) (string, string, int) {
		cmd := exec.Command(filepath.Join(bin, "recap"), args...)
		var stdout, stderr strings.Builder
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.dir, dev.Env, &stdout, &stderr
		_ = cmd.Run() // the exit code is asserted on
		return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	}
}

// TestTheStackGoesOnWhenTheCallerLeaves: a session outside of the stores is taken over by the running
// stack, so that a caller who stops waiting leaves nothing undone.
func TestTheStackGoesOnWhenTheCallerLeaves(t *testing.T) {
	a := newArena(t)
	release := make(chan struct{})
	a.provider.SetScript(func(r provider.Request) provider.Step { return provider.Held(release, provider.GoodSummary(r)) })
	run := a.dev()
	outside := filepath.Join(t.TempDir(), "outside.jsonl")
	require.NoError(t, os.WriteFile(outside, a.original, 0o600))
	_, stderr, code := run("compact", "--embedded", "--no-writer", "--timeout", "2s", outside)
	require.Equal(t, 124, code, stderr)
	close(release)
	require.Eventually(t, func() bool {
		data, err := os.ReadFile(outside)
		return err == nil && strings.Contains(string(data[len(a.original):]), `"type":"compaction"`)
	}, patience, 50*time.Millisecond)
}

// TestDevAndEmbedded leaves a stack running and uses it from another process; a second stack on the
// same data is refused.
func TestDevAndEmbedded(t *testing.T) {
	a := newArena(t)
	run := a.dev()
	stdout, stderr, code := run("compact", "--embedded", "--no-writer", "--output", "json", a.session)
	require.Equal(t, 0, code, stderr)
	var o contract.Outcome
	require.NoError(t, json.Unmarshal([]byte(stdout), &o))
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Len(t, a.compactions(), 1)

	stdout, stderr, code = run("explain", "--embedded", "--output", "json", o.Operation)
	require.Equal(t, 0, code, stderr)
	var r contract.Receipt
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	require.Equal(t, o.EntryID, r.Outcome.EntryID)

	_, stderr, code = run("dev")
	require.Equal(t, 75, code, stderr)
	require.Contains(t, stderr, "in use")
	require.Len(t, strings.Split(strings.TrimSpace(stderr), "\n"), 1, stderr)
}

// TestDemo is the README's first command: no key, no configuration, nothing running.
func TestDemo(t *testing.T) {
	a := newArena(t)
	dir := t.TempDir()
	cmd := exec.Command(filepath.Join(bin, "recap"), "demo")
	var stdout, stderr strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(a.env(), "TEMPORAL_ADDRESS=", "TEMPORAL_NAMESPACE=", "NATS_URL="), &stdout, &stderr
	require.NoError(t, cmd.Run(), stderr.String())
	for _, want := range []string{"started", "committed", "tokens", "summarised", "kept", "## Goal", "recap/extractive", "Temporal"} {
		require.Contains(t, stdout.String(), want)
	}
}

// TestAnInterruptedWorkerDrains lets the request in flight finish and leaves the rest to others.
func TestAnInterruptedWorkerDrains(t *testing.T) {
	a := newArena(t)
	w := a.worker()
	accepted := a.submit(a.request("op-drain"))
	require.Equal(t, contract.StateCommitted, a.wait(accepted).State)
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, w.cmd.Wait(), w.out.String())
	require.Contains(t, w.out.String(), "draining")
}
