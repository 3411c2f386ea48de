package e2e

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	recap "recap/internal/client"
	"recap/internal/contract"
	"recap/internal/testkit/provider"
)

// TestWorkerKilledWhileTheModelAnswers loses the request in flight and nothing else.
func TestWorkerKilledWhileTheModelAnswers(t *testing.T) {
	a := newArena(t)
	never := make(chan struct{})
	a.provider.SetScript(func(r provider.Request) provider.Step { return provider.Held(never, provider.GoodSummary(r)) })
	first := a.worker()
	accepted := a.submit(a.request("op-crash"))
	parts := a.status(accepted, func(s contract.Status) bool { return s.Total > 0 }).Total
	require.True(t, a.provider.Wait(parts, patience))
	first.kill()
	a.provider.SetScript(provider.GoodSummary)
	a.worker()
	o := a.wait(accepted)
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Len(t, a.compactions(), 1)
	require.Equal(t, 2*parts, a.provider.Count(), "at most the requests in flight are lost with their worker")
	a.oneTerminalEvent(accepted.Operation)
}

// TestWorkerKilledBetweenAnswerAndCommit pays nothing twice: the commit is held up by the session's
// lock until the worker is dead.
func TestWorkerKilledBetweenAnswerAndCommit(t *testing.T) {
	a := newArena(t)
	lock, err := os.OpenFile(a.session, os.O_RDWR, 0)
	require.NoError(t, err)
	defer lock.Close() //nolint:errcheck // read only
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	first := a.worker()
	accepted := a.submit(a.request("op-crash"))
	a.status(accepted, func(s contract.Status) bool { return s.Phase == contract.PhaseCommitting })
	first.kill()
	paid := a.provider.Count()
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_UN))
	a.worker()
	o := a.wait(accepted)
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Len(t, a.compactions(), 1)
	require.Equal(t, paid, a.provider.Count(), "an answered request was paid again")
	a.oneTerminalEvent(accepted.Operation)
}

func (a *arena) oneTerminalEvent(operation string) {
	a.t.Helper()
	events := a.events(a.natsURL, operation)
	terminal := 0
	for _, e := range events {
		if e.Terminal {
			terminal++
		}
	}
	require.Equal(a.t, 1, terminal)
}

// TestNATSAwayDuringTheCommit delays the event, not the outcome, and delivers it once.
func TestNATSAwayDuringTheCommit(t *testing.T) {
	a := newArena(t)
	port := freePort(t)
	a.natsURL = "nats://127.0.0.1:" + strconv.Itoa(port)
	a.worker()
	accepted := a.submit(a.request("op-crash"))
	o := a.wait(accepted)
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Len(t, a.compactions(), 1)

	startNATS(t, port)
	events := a.events(a.natsURL, accepted.Operation)
	require.Equal(t, "started", events[0].Event)
	require.Equal(t, "committed", events[len(events)-1].Event)
	ids := map[string]bool{}
	for _, e := range events {
		require.False(t, ids[e.ID], "event %s came twice", e.ID)
		ids[e.ID] = true
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close() //nolint:errcheck // it only found a port
	return l.Addr().(*net.TCPAddr).Port
}

func startNATS(t *testing.T, port int) {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	require.True(t, s.ReadyForConnections(patience))
}

// TestAFullRestartGoesOnWhereItStopped kills every worker while the run waits for a provider.
func TestAFullRestartGoesOnWhereItStopped(t *testing.T) {
	a := newArena(t)
	a.provider.SetScript(func(provider.Request) provider.Step {
		return provider.Status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "3600")
	})
	first := a.worker()
	accepted := a.submit(a.request("op-crash"))
	waiting := a.status(accepted, func(s contract.Status) bool { return s.Phase == contract.PhaseWaiting })
	require.Greater(t, waiting.WaitingUntil, time.Now().Add(50*time.Minute).UnixMilli())
	first.kill()
	a.provider.SetScript(provider.GoodSummary)
	a.worker()
	_, stderr, code := a.cli("retry", accepted.WorkflowID)
	require.Equal(t, 0, code, stderr)
	o := a.wait(accepted)
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Len(t, a.compactions(), 1)
}

// TestCancelWhileTheModelAnswers writes nothing, and the same operation can be retried.
func TestCancelWhileTheModelAnswers(t *testing.T) {
	a := newArena(t)
	never := make(chan struct{})
	a.provider.SetScript(func(r provider.Request) provider.Step { return provider.Held(never, provider.GoodSummary(r)) })
	a.worker()
	accepted := a.submit(a.request("op-crash"))
	require.True(t, a.provider.Wait(1, patience))
	_, stderr, code := a.cli("cancel", accepted.WorkflowID)
	require.Equal(t, 0, code, stderr)
	o := a.wait(accepted)
	require.Equal(t, contract.StateCancelled, o.State)
	require.Empty(t, a.compactions())
	require.Equal(t, "cancelled", a.events(a.natsURL, accepted.Operation)[1].Event)

	a.provider.SetScript(provider.GoodSummary)
	stdout, stderr, code := a.cli("retry", accepted.WorkflowID, "--output", "json")
	require.Equal(t, 0, code, stderr)
	require.True(t, strings.Contains(stdout, `"attempt": 2`) || strings.Contains(stdout, `"attempt":2`), stdout)
	require.Eventually(t, func() bool { return len(a.compactions()) == 1 }, patience, 20*time.Millisecond)
}

// TestRetryPaysOnlyForWhatIsMissing: the operator mends the cause, and what was answered stays
// answered.
func TestRetryPaysOnlyForWhatIsMissing(t *testing.T) {
	a := newArena(t)
	prefix := func(r provider.Request) bool { return strings.Contains(r.User, "## Original Request") }
	a.provider.SetScript(func(r provider.Request) provider.Step {
		if prefix(r) {
			return provider.Status(402, `{"error":{"message":"Your credit balance is too low"}}`)
		}
		return provider.GoodSummary(r)
	})
	a.worker()
	accepted := a.submit(a.request("op-retry"))
	o := a.wait(accepted)
	require.Equal(t, contract.StateNeedsOperator, o.State, o.Message)
	require.Equal(t, contract.CodeQuota, o.Reason)

	a.provider.SetScript(provider.GoodSummary)
	retried, err := a.ops.Retry(a.ctx(), recap.Name{WorkflowID: accepted.WorkflowID})
	require.NoError(t, err)
	require.Equal(t, 2, retried.Attempt)
	o = a.wait(retried.Accepted)
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Len(t, a.compactions(), 1)
	history := 0
	for _, r := range a.provider.Requests() {
		if !prefix(r) {
			history++
		}
	}
	require.Equal(t, 1, history, "an answered request was paid again")
	require.Len(t, a.provider.Requests(), 3)
}
