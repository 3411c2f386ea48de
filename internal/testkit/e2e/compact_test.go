package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"go.temporal.io/api/workflowservice/v1"

	recap "recap/internal/client"
	"recap/internal/contract"
	"recap/internal/testkit/provider"
)

// TestOneCompaction is the whole way: plan, one or two model requests, one entry, events, receipt,
// and a history without text.
func TestOneCompaction(t *testing.T) {
	a := newArena(t)
	a.worker()
	accepted := a.submit(a.request("op-one"))
	o := a.wait(accepted)
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Equal(t, o.Stages, a.provider.Count())

	entries := a.compactions()
	require.Len(t, entries, 1)
	require.Equal(t, o.EntryID, entries[0]["id"])
	require.Less(t, *o.TokensAfter, *o.TokensBefore)

	events := a.events(a.natsURL, "op-one")
	require.Equal(t, "started", events[0].Event)
	last := events[len(events)-1]
	require.Equal(t, "committed", last.Event)
	require.Equal(t, entries[0]["summary"], last.Result.Summary)

	n, history, largest := a.history(accepted)
	require.Less(t, n, 2000)
	require.Less(t, largest, contract.MaxPayload)
	for _, text := range texts(t, a.original) {
		require.NotContains(t, history, text)
	}
	require.NotContains(t, history, provider.Key)
	for line := range strings.Lines(entries[0]["summary"].(string)) {
		if line = strings.TrimSpace(line); len(line) > 30 {
			require.NotContains(t, history, line)
		}
	}
}

// texts are the longer texts of a session's messages.
func texts(t *testing.T, session []byte) []string {
	t.Helper()
	var list []string
	for line := range strings.Lines(string(session)) {
		gjson.Get(line, "message.content.#.text").ForEach(func(_, v gjson.Result) bool {
			if s := v.String(); len(s) > 30 {
				list = append(list, s[:30])
			}
			return true
		})
	}
	require.NotEmpty(t, list)
	return list
}

// TestTwentyConcurrentCallersGetOneRun holds the model's answer until all callers are accepted.
func TestTwentyConcurrentCallersGetOneRun(t *testing.T) {
	a := newArena(t)
	all := make(chan struct{})
	a.provider.SetScript(func(r provider.Request) provider.Step { return provider.Held(all, provider.GoodSummary(r)) })
	a.worker()
	const callers = 20
	accepted := make([]recap.Accepted, callers)
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			accepted[i], errs[i] = a.ops.Submit(a.ctx(), a.request("caller-"+string(rune('a'+i))))
		})
	}
	wg.Wait()
	close(all)
	joined := 0
	for i := range callers {
		require.NoError(t, errs[i])
		require.Equal(t, accepted[0].RunID, accepted[i].RunID)
		require.Equal(t, accepted[0].Operation, accepted[i].Operation)
		if accepted[i].Joined {
			joined++
		}
	}
	require.Equal(t, callers-1, joined)
	o := a.wait(accepted[0])
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Equal(t, o.Stages, a.provider.Count(), "one request for each part")
	require.Len(t, a.compactions(), 1)
}

// TestOneTerminalStateEverywhere compares workflow result, event, receipt, listing and exit code
// (promise G6).
func TestOneTerminalStateEverywhere(t *testing.T) {
	for _, tc := range []struct {
		name   string
		set    func(a *arena)
		args   []string
		state  contract.State
		exit   int
		status string
	}{
		{"committed", func(*arena) {}, nil, contract.StateCommitted, 0, "completed"},
		{"returned", func(*arena) {}, []string{"--return"}, contract.StateReturned, 0, "completed"},
		{"skipped", func(*arena) {}, []string{"--keep", "10000000"}, contract.StateSkipped, 0, "completed"},
		{"rejected", func(a *arena) {
			a.provider.SetScript(func(provider.Request) provider.Step {
				return provider.Text("I'm sorry, but I cannot help with summarising this conversation.")
			})
		}, nil, contract.StateRejected, 3, "failed"},
		{"failed", func(a *arena) {
			a.provider.SetScript(func(provider.Request) provider.Step { return provider.Status(500, `{"error":{"message":"boom"}}`) })
		}, nil, contract.StateFailed, 1, "failed"},
		{"needsOperator", func(a *arena) { a.provider.SetKey("another key") }, nil, contract.StateNeedsOperator, 77, "failed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := newArena(t)
			tc.set(a)
			a.worker()
			args := append([]string{"compact", a.session, "--no-writer", "--output", "json"}, tc.args...)
			stdout, stderr, code := a.cli(args...)
			require.Equal(t, tc.exit, code, stderr)
			var o contract.Outcome
			require.NoError(t, json.Unmarshal([]byte(stdout), &o), stdout)
			require.Equal(t, tc.state, o.State, o.Message)

			events := a.events(a.natsURL, o.Operation)
			last := events[len(events)-1]
			require.Equal(t, tc.state.EventName(), last.Event)
			require.Equal(t, tc.state, last.Outcome.State)
			require.Equal(t, "started", events[0].Event)

			r := a.receipt(o.Operation)
			require.Equal(t, tc.state, r.Outcome.State)
			require.Equal(t, o.Reason, r.Outcome.Reason)

			var listed []recap.Operation
			require.Eventually(t, func() bool { // visibility follows a moment later
				stdout, _, code := a.cli("list", "--session", a.session, "--output", "json")
				return code == 0 && json.Unmarshal([]byte(stdout), &listed) == nil && len(listed) == 1 && listed[0].State == tc.state
			}, patience, 1)
			require.Equal(t, tc.status, string(listed[0].Status))
			written := 0
			if tc.state == contract.StateCommitted {
				written = 1
			}
			require.Len(t, a.compactions(), written)
		})
	}
}

// TestAnUnknownWriterIsNotWrittenBeside is the default beside a session that was written a moment ago.
func TestAnUnknownWriterIsNotWrittenBeside(t *testing.T) {
	a := newArena(t)
	a.worker()
	_, stderr, code := a.cli("compact", a.session)
	require.Equal(t, 6, code, stderr)
	require.Empty(t, a.compactions())
	require.Zero(t, a.provider.Count())
}

// TestServerWithoutSearchAttributes starts, finishes and lists all the same.
func TestServerWithoutSearchAttributes(t *testing.T) {
	if stack == nil {
		t.Skip("no temporal program")
	}
	t.Parallel()
	a := arenaIn(t, plainNamespace)
	require.Eventually(t, func() bool { // the server learns of a new namespace every few seconds
		_, err := a.temporal.ListWorkflow(a.ctx(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: plainNamespace})
		return err == nil
	}, patience, 100*time.Millisecond)
	a.worker()
	accepted := a.submit(a.request("op-plain"))
	require.True(t, accepted.Unindexed)
	require.Equal(t, contract.StateCommitted, a.wait(accepted).State)
	require.Eventually(t, func() bool {
		list, err := a.ops.List(a.ctx(), recap.Filter{Operation: "op-plain"})
		return err == nil && len(list) == 1
	}, patience, 1)
}

// TestASessionOfAnUnreadFileIsNotTouched keeps the bytes of a damaged session, whatever is asked.
func TestASessionOfAnUnreadFileIsNotTouched(t *testing.T) {
	a := newArena(t)
	a.worker()
	damaged := append([]byte("not json at all\n"), a.original...)
	require.NoError(t, os.WriteFile(a.session, damaged, 0o600))
	_, stderr, code := a.cli("compact", a.session, "--no-writer")
	require.Equal(t, 1, code, stderr)
	after, err := os.ReadFile(a.session)
	require.NoError(t, err)
	require.Equal(t, damaged, after)
}
