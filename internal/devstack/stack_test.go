package devstack_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"recap/internal/contract"
	"recap/internal/devstack"
)

func TestStackServesAndRestartsOnTheSameData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data #1 100%")

	s := start(t, dir)
	runID := startWorkflow(t, s, "kept")
	storeEvent(t, s, "first")
	require.Equal(t, http.StatusOK, get(t, s.UIAddress))
	require.NoError(t, s.Stop())
	require.NoError(t, s.Stop(), "a second Stop does nothing")
	requireGone(t, s.TemporalAddress)
	requireGone(t, strings.TrimPrefix(s.NATSURL, "nats://"))
	_, err := os.Stat(filepath.Join(dir, "stack.json"))
	require.ErrorIs(t, err, os.ErrNotExist)

	again := start(t, dir)
	c := dial(t, again)
	d, err := c.DescribeWorkflow(limited(t), "kept", "")
	require.NoError(t, err)
	require.Equal(t, runID, d.WorkflowExecution.RunID, "the database is on disk")
	require.Equal(t, []string{"first"}, events(t, again), "the stream is on disk")
}

func TestSearchAttributesAreRegistered(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	have, err := dial(t, s).OperatorService().ListSearchAttributes(limited(t), &operatorservice.ListSearchAttributesRequest{Namespace: s.Namespace})
	require.NoError(t, err)
	for _, name := range []string{
		contract.AttrTenant, contract.AttrSession, contract.AttrTrigger, contract.AttrState, contract.AttrReason, contract.AttrOperation,
	} {
		require.Contains(t, have.CustomAttributes, name)
	}
}

func TestSecondStackOnTheSameDataIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, dir)

	_, err := devstack.Start(limited(t), devstack.Options{DataDir: dir, Program: program(t)})
	var inUse *devstack.InUseError
	require.ErrorAs(t, err, &inUse)
	require.Equal(t, s.Info, inUse.Info)
	require.NotContains(t, err.Error(), "\n")
	for _, part := range []string{strconv.Itoa(os.Getpid()), s.TemporalAddress, s.NATSURL, dir} {
		require.Contains(t, err.Error(), part)
	}
	startWorkflow(t, s, "unharmed")
}

func TestAttachFindsOnlyALiveStack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := devstack.Attach(dir)
	require.ErrorIs(t, err, devstack.ErrNotRunning)

	s := start(t, dir)
	info, err := devstack.Attach(dir)
	require.NoError(t, err)
	require.Equal(t, s.Info, info)

	left, err := json.Marshal(info)
	require.NoError(t, err)
	require.NoError(t, s.Stop())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stack.json"), left, 0o600))
	_, err = devstack.Attach(dir)
	require.ErrorIs(t, err, devstack.ErrNotRunning, "a file left behind names no stack, though its process lives")
}

// A server given by address is used as it is: no child, no database.
func TestGivenTemporalServerIsUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := devstack.Start(limited(t), devstack.Options{DataDir: dir, TemporalAddress: "temporal.example:7233"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	require.Equal(t, "temporal.example:7233", s.TemporalAddress)
	require.Zero(t, s.TemporalPID)
	require.NoFileExists(t, filepath.Join(dir, "temporal.db"))
	storeEvent(t, s, "x")
}

func TestFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := filepath.Join(t.TempDir(), "temporal")
	require.NoError(t, os.WriteFile(bad, []byte("#!/bin/sh\necho no database today >&2\nexit 3\n"), 0o700))

	_, err := devstack.Start(limited(t), devstack.Options{DataDir: dir, Program: bad})
	require.ErrorContains(t, err, "exit status 3")
	require.ErrorContains(t, err, "no database today")
	require.NotContains(t, err.Error(), "\n")
	require.NoFileExists(t, filepath.Join(dir, "stack.json"))

	s, err := devstack.Start(limited(t), devstack.Options{DataDir: dir, TemporalAddress: "temporal.example:7233"})
	require.NoError(t, err, "the data folder is free again")
	require.NoError(t, s.Stop())
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	deaf := filepath.Join(t.TempDir(), "temporal")
	require.NoError(t, os.WriteFile(deaf, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700))
	_, err := devstack.Start(limited(t), devstack.Options{DataDir: t.TempDir(), Program: deaf, StartTimeout: 300 * time.Millisecond})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "gave up waiting")
}

// A database that no server has served from may be half made.
func TestHalfMadeDatabaseIsMadeAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "temporal.db"), nil, 0o600))
	startWorkflow(t, start(t, dir), "fine")
}

// kill -9 of the process that runs the stack takes its server along, and the data serves again.
func TestServerDiesWithItsParent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DEVSTACK_TEST_RUN="+dir, "DEVSTACK_TEST_PROGRAM="+program(t))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	word, address, _ := strings.Cut(strings.TrimSpace(line), " ")
	require.Equal(t, "serving", word, line)

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	_, err = devstack.Attach(dir)
	require.ErrorIs(t, err, devstack.ErrNotRunning)

	s := start(t, dir)
	requireGone(t, address) // it held the lock, so it was gone before the next one started
	startWorkflow(t, s, "after")
}

// The stack says so when its server ends by itself.
func TestDoneClosesWhenTheServerEnds(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	require.NoError(t, syscall.Kill(s.TemporalPID, syscall.SIGKILL))
	select {
	case <-s.Done():
	case <-limited(t).Done():
		t.Fatal("Done did not close")
	}
}

func dial(t *testing.T, s *devstack.Stack) client.Client {
	t.Helper()
	c, err := client.DialContext(limited(t), client.Options{HostPort: s.TemporalAddress, Namespace: s.Namespace})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func startWorkflow(t *testing.T, s *devstack.Stack, id string) string {
	t.Helper()
	run, err := dial(t, s).ExecuteWorkflow(limited(t), client.StartWorkflowOptions{ID: id, TaskQueue: "nobody"}, "Nothing")
	require.NoError(t, err)
	return run.GetRunID()
}

func stream(t *testing.T, s *devstack.Stack) (jetstream.JetStream, jetstream.Stream) {
	t.Helper()
	conn, err := natsgo.Connect(s.NATSURL)
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	st, err := js.CreateOrUpdateStream(limited(t), jetstream.StreamConfig{Name: "T", Subjects: []string{"t"}})
	require.NoError(t, err)
	return js, st
}

func storeEvent(t *testing.T, s *devstack.Stack, text string) {
	t.Helper()
	js, _ := stream(t, s)
	_, err := js.Publish(limited(t), "t", []byte(text))
	require.NoError(t, err)
}

func events(t *testing.T, s *devstack.Stack) []string {
	t.Helper()
	_, st := stream(t, s)
	info, err := st.Info(limited(t))
	require.NoError(t, err)
	var texts []string
	for i := range info.State.Msgs {
		m, err := st.GetMsg(limited(t), i+1)
		require.NoError(t, err)
		texts = append(texts, string(m.Data))
	}
	return texts
}

func get(t *testing.T, url string) int {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

func requireGone(t *testing.T, address string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err == nil {
		_ = c.Close()
	}
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
}
