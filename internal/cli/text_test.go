package cli

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"recap/internal/client"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/event"
)

func newTestApp(t *testing.T) (*app, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	var out, errs bytes.Buffer
	a := newApp("recap", bytes.NewReader(nil), &out, &errs)
	a.lookupEnv = func(string) (string, bool) { return "", false }
	a.now = func() time.Time { return time.UnixMilli(1_700_000_000_000) }
	a.flags.output = "text"
	return a, &out, &errs
}

// Text of a session must not steer the terminal.
func TestPrintableKeepsControlsOut(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a\tb�[31m�c日本�", printable("a\tb\x1b[31m\u009bc日本\x7f"))
}

func TestGroupedNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		require.Equal(t, want, grouped(n))
	}
}

func TestProgressSaysUntilWhenItWaits(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	got := progressText(contract.Status{
		Phase: contract.PhaseWaiting, WaitingUntil: now.Add(90 * time.Second).UnixMilli(), WaitingFor: "rateLimited", Done: 1, Total: 2,
	}, now)
	require.Contains(t, got, "1m30s left")
	require.Contains(t, got, "because of rateLimited")
	require.Contains(t, got, "1 of 2 answers")
	require.Equal(t, "summarizing with a/b", progressText(contract.Status{Phase: contract.PhaseSummarizing, Candidate: "a/b"}, now))
}

func TestEventLines(t *testing.T) {
	t.Parallel()
	before, after := 5000, 900
	ref := contract.SessionRef{Tenant: "t", Store: "s", ID: "x"}
	line := eventText(event.Body{
		Event: "committed", Time: "2026-01-02T03:04:05.678Z", Session: ref, Terminal: true,
		Outcome: &contract.Outcome{State: contract.StateCommitted, Message: "done", TokensBefore: &before, TokensAfter: &after},
	})
	require.Contains(t, line, "committed       t/s/x: done (5,000 → 900 tokens)")
	line = eventText(event.Body{Event: "attempt_failed", Session: ref, Failed: &contract.Attempt{Number: 2, Candidate: "a/b", Class: "quota"}})
	require.Contains(t, line, "2 a/b : quota")
	require.Contains(t, eventText(event.Body{Event: "stage_completed", Done: 1, Total: 3}), "1 of 3")
}

func TestRequestOfFlags(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	ref := contract.SessionRef{Tenant: "t", Store: "s", ID: "x"}
	req, err := compactFlags{reason: "manual"}.request(cfg, ref)
	require.NoError(t, err)
	require.Equal(t, contract.WriterLive, req.Writer, "nothing is known of other writers unless the caller says so")
	require.Equal(t, contract.CommitStore, req.Commit)
	require.NotEmpty(t, req.RequestID)
	require.Equal(t, cfg.Compaction.KeepRecentTokens, req.Settings.KeepRecentTokens)

	req, err = compactFlags{
		reason: "idle", noWriter: true, giveBack: true, keep: 77, skipDamaged: true, focus: "f", requestID: "r", models: []string{"a/b"},
	}.request(cfg, ref)
	require.NoError(t, err)
	want := contract.Request{
		RequestID: "r", Session: ref, Reason: contract.ReasonIdle, Focus: "f", Writer: contract.WriterNone,
		Commit: contract.CommitReturn, Models: []string{"a/b"}, Settings: cfg.OperationSettings(),
	}
	want.Settings.KeepRecentTokens, want.Settings.SkipDamaged = 77, true
	require.Equal(t, want.Normalize(), req)
}

func TestWaitingThatEndsEarlySaysHowToGoOn(t *testing.T) {
	t.Parallel()
	a, _, _ := newTestApp(t)
	for _, tc := range []struct {
		cause error
		code  int
	}{{errTimeout, exitTimeout}, {errInterrupted, exitInterrupted}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(tc.cause)
		err := a.unfinished(ctx, &link{}, client.Accepted{Operation: "op-1"}, errors.New("whatever"))
		require.Equal(t, tc.code, exitOf(err))
		require.ErrorContains(t, err, "the work goes on: recap status op-1")
		require.ErrorContains(t, a.unfinished(ctx, &link{ownStack: true}, client.Accepted{Operation: "op-1"}, nil), "runs again")
	}
	broken := errors.New("broken")
	require.Equal(t, broken, a.unfinished(t.Context(), &link{}, client.Accepted{}, broken))
}

// Standard output is data only; errors are one line on standard error.
func TestErrorsGoToStandardError(t *testing.T) {
	t.Parallel()
	a, out, errs := newTestApp(t)
	require.Equal(t, exitUsage, a.run(t.Context(), triggerTree, []string{"compact"}))
	require.Empty(t, out.String())
	require.Regexp(t, `^recap: [^\n]+\n$`, errs.String())
}

func TestNothingIsSaidTwice(t *testing.T) {
	t.Parallel()
	a, _, errs := newTestApp(t)
	a.report(exitWith(exitStale))
	require.Empty(t, errs.String(), "the outcome was printed; its exit code needs no words")
}

func TestDemoAsksTheConfiguredModels(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Models = []config.Model{{ID: "a/b"}, {ID: "c/d"}}
	require.Equal(t, []string{"a/b", "c/d"}, demoModels(cfg))
	cfg.Compaction.Model = []string{"c/d"}
	require.Nil(t, demoModels(cfg), "the worker's own chain")
}

func TestHealthcheckCallsThisMachine(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"0.0.0.0:9464": "127.0.0.1:9464", ":9464": "127.0.0.1:9464", "[::]:1": "127.0.0.1:1", "10.0.0.1:2": "10.0.0.1:2",
	} {
		require.Equal(t, want, reachable(listen))
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	for name, tree := range map[string]func(*app) *cobra.Command{"recap": triggerTree, "recap-worker": workerTree} {
		a, out, _ := newTestApp(t)
		a.name = name
		for _, cmd := range tree(a).Commands() {
			require.NotEmpty(t, cmd.Short, cmd.CommandPath())
			require.NotContains(t, cmd.Short, "\n")
		}
		require.Equal(t, exitOK, a.run(t.Context(), tree, []string{"--help"}))
		require.Contains(t, out.String(), "Exit codes")
	}
}

func TestLinkClosesTheNewestFirst(t *testing.T) {
	t.Parallel()
	var order []int
	l := &link{}
	for i := range 3 {
		l.onClose(func() error { order = append(order, i); return nil })
	}
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	require.Equal(t, []int{2, 1, 0}, order)
}
