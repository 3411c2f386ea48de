package event_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/contract"
	"recap/internal/event"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample is an event of an automatic run.
func sample(name string) contract.Event {
	return contract.Event{
		Name: name, Operation: "op-1", Attempt: 2, Ordinal: 3, Reason: contract.ReasonThreshold,
		Session: contract.SessionRef{Tenant: "acme", Store: "local", ID: "proj/s.jsonl"},
		Time:    time.Date(2026, 11, 5, 12, 30, 45, 120e6, time.UTC).UnixMilli(),
	}
}

func ended(state contract.State, reason contract.Code, message string) contract.Event {
	e := sample(state.EventName())
	e.Terminal = true
	before := 182000
	e.Outcome = &contract.Outcome{
		Operation: e.Operation, Attempt: e.Attempt, Session: e.Session, State: state, Reason: reason, Message: message, TokensBefore: &before,
	}
	return e
}

func committed() contract.Event {
	e := ended(contract.StateCommitted, "", "compacted")
	after := 14000
	e.Outcome.EntryID, e.Outcome.FirstKeptEntryID, e.Outcome.TokensAfter = "1f2e3d4c", "aa11bb22", &after
	e.Outcome.Summary, e.Outcome.Candidate, e.Outcome.Stages = strings.Repeat("ab", 32), "vendor/model", 1
	return e
}

// The golden files are the wire form: a change in one is a change for every frontend.
func TestGoldenMessages(t *testing.T) {
	t.Parallel()
	manual := func(e contract.Event) contract.Event { e.Reason = contract.ReasonManual; return e }
	because := func(e contract.Event, r contract.Reason) contract.Event { e.Reason = r; return e }
	stage := sample(contract.EventStageCompleted)
	stage.Done, stage.Total = 1, 3
	failed := sample(contract.EventAttemptFailed)
	failed.Failed = &contract.Attempt{Number: 1, Part: contract.PartHistory, Candidate: "vendor/model", Class: "transient", Status: 503, Message: "busy"}
	waiting := sample(contract.EventWaiting)
	waiting.Until, waiting.Message = waiting.Time+90_000, "rate limited by vendor/model"
	notice := sample(contract.EventNotice)
	notice.Level, notice.Message = "warning", "first kept entry is missing"
	retrying := ended(contract.StateFailed, contract.CodeCandidatesFailed, "every candidate failed")
	retrying.Outcome.WillRetry = true
	odd := sample(contract.EventStarted)
	odd.Session = contract.SessionRef{Tenant: "größe", Store: "s", ID: "a b/\"100%\".jsonl"}
	odd.Operation = "nightly run.7"

	for name, c := range map[string]struct {
		event   contract.Event
		summary string
	}{
		"started":                {event: sample(contract.EventStarted)},
		"started_manual":         {event: manual(sample(contract.EventStarted))},
		"started_mid_turn":       {event: because(sample(contract.EventStarted), contract.ReasonMidTurn)},
		"started_switch":         {event: because(sample(contract.EventStarted), contract.ReasonProviderSwitch)},
		"started_odd_ids":        {event: odd},
		"stage_completed":        {event: stage},
		"attempt_failed":         {event: failed},
		"waiting":                {event: waiting},
		"notice":                 {event: notice},
		"committed":              {event: committed(), summary: "## Goal\nShip <it> & rest"},
		"committed_manual":       {event: manual(committed()), summary: "## Goal"},
		"returned":               {event: ended(contract.StateReturned, "", "handed over"), summary: "## Goal"},
		"skipped":                {event: ended(contract.StateSkipped, contract.CodeNothingToCompact, "nothing to compact")},
		"stale":                  {event: ended(contract.StateStale, contract.CodeBranchMoved, "the session moved on")},
		"rejected":               {event: ended(contract.StateRejected, contract.CodeGateRefused, "the gate refused")},
		"failed_will_retry":      {event: retrying},
		"needs_operator":         {event: ended(contract.StateNeedsOperator, contract.CodeQuota, "out of credit")},
		"cancelled":              {event: ended(contract.StateCancelled, contract.CodeCancelled, "cancelled by request")},
		"committed_no_summary":   {event: committed()},
		"cancelled_manual":       {event: manual(ended(contract.StateCancelled, contract.CodeCancelled, "cancelled by request"))},
		"failed_without_outcome": {event: func() contract.Event { e := sample("failed"); e.Terminal = true; return e }()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := event.Encode(c.event, c.summary)
			require.NoError(t, err)
			golden(t, name, m)
		})
	}
}

func golden(t *testing.T, name string, m event.Message) {
	t.Helper()
	got, err := json.MarshalIndent(struct {
		ID, Subject string
		Headers     map[string]string
		Body        json.RawMessage
	}{m.ID, m.Subject, m.Headers, m.Body}, "", "  ")
	require.NoError(t, err)
	got = append(got, '\n')
	path := filepath.Join("testdata", name+".json")
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the tests of this package with -update")
	require.Empty(t, cmp.Diff(string(want), string(got)))
}

func TestEncodeIsDeterministic(t *testing.T) {
	t.Parallel()
	a, err := event.Encode(committed(), "text")
	require.NoError(t, err)
	b, err := event.Encode(committed(), "text")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(a, b))
}

func TestSummaryThatDoesNotFitIsNamedByDigest(t *testing.T) {
	t.Parallel()
	e := committed()
	m, err := event.Encode(e, strings.Repeat("x", event.MaxBody))
	require.NoError(t, err)
	require.LessOrEqual(t, len(m.Body), event.MaxBody)
	b, err := event.Decode(m.Body)
	require.NoError(t, err)
	require.Equal(t, &event.Result{
		SummaryDigest: e.Outcome.Summary, SummaryOmitted: true, FirstKeptEntryID: "aa11bb22", TokensBefore: e.Outcome.TokensBefore,
	}, b.Result)
}

// The limit is exact: the largest summary that fits is carried, one byte more is not.
func TestMaxBodyIsExact(t *testing.T) {
	t.Parallel()
	empty, err := event.Encode(committed(), "x")
	require.NoError(t, err)
	room := event.MaxBody - len(empty.Body) + 1
	full, err := event.Encode(committed(), strings.Repeat("x", room))
	require.NoError(t, err)
	require.Len(t, full.Body, event.MaxBody)
	over, err := event.Encode(committed(), strings.Repeat("x", room+1))
	require.NoError(t, err)
	require.Less(t, len(over.Body), 4096)
}

func TestOversizedOutcomeLosesAttemptsBeforeItIsRefused(t *testing.T) {
	t.Parallel()
	e := committed()
	e.Outcome.Warnings = []string{strings.Repeat("w", event.MaxBody)}
	m, err := event.Encode(e, "text")
	require.NoError(t, err)
	b, err := event.Decode(m.Body)
	require.NoError(t, err)
	require.Empty(t, b.Outcome.Warnings)
	require.Len(t, e.Outcome.Warnings, 1, "the caller's outcome is not changed")

	e.Outcome.Message = strings.Repeat("m", event.MaxBody)
	_, err = event.Encode(e, "text")
	require.ErrorContains(t, err, "at most 524288")
}

func TestEncodeRefusesWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*contract.Event){
		"no name":      func(e *contract.Event) { e.Name = "" },
		"no operation": func(e *contract.Event) { e.Operation = "" },
		"no attempt":   func(e *contract.Event) { e.Attempt = 0 },
		"no session":   func(e *contract.Event) { e.Session = contract.SessionRef{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := sample(contract.EventStarted)
			change(&e)
			_, err := event.Encode(e, "")
			require.Error(t, err)
		})
	}
}

// Whatever ids and texts an event has, its headers are printable ASCII and its body is valid JSON
// that decodes to the same event.
func TestAnyEventSurvivesTheWire(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := sample(rapid.StringMatching(`[a-z_]{1,12}`).Draw(t, "name"))
		e.Session = contract.SessionRef{
			Tenant: rapid.StringMatching(`[^/]{1,8}`).Draw(t, "tenant"), Store: "s", ID: rapid.StringN(1, 30, -1).Draw(t, "id"),
		}
		e.Operation = rapid.StringN(1, 30, -1).Draw(t, "operation")
		e.Message = rapid.String().Draw(t, "message")
		m, err := event.Encode(e, "")
		require.NoError(t, err)
		for k, v := range m.Headers {
			require.NotContains(t, v, " ", k)
			require.False(t, strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }), "%s %q", k, v)
		}
		b, err := event.Decode(m.Body)
		require.NoError(t, err)
		require.Equal(t, e.Session, b.Session)
		require.Equal(t, e.Operation, b.Operation)
		require.Equal(t, m.ID, b.ID)
	})
}

func TestDecodeRefusesForeignMessages(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "null", "[]", "{}", `{"id":"x"}`, "no json"} {
		_, err := event.Decode([]byte(text))
		require.Error(t, err, text)
	}
}

func FuzzDecode(f *testing.F) {
	m, err := event.Encode(committed(), "text")
	require.NoError(f, err)
	f.Add(m.Body)
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := event.Decode(data)
		if err == nil {
			require.NotEmpty(t, b.ID)
		}
	})
}
