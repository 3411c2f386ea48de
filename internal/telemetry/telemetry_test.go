package telemetry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"recap/internal/contract"
	"recap/internal/model"
)

func ready(context.Context) error { return nil }

// scrape reads an endpoint of a worker that serves m.
func scrape(t *testing.T, m *Metrics, path string, r Ready) (int, string) {
	t.Helper()
	s, err := Serve("127.0.0.1:0", m.Handler(r), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close(context.Background())) }()
	resp, err := http.Get("http://" + s.Address + path)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, string(body)
}

func metrics() *Metrics {
	return NewMetrics(Options{Candidates: []string{"v/m"}, GateReasons: []contract.Code{"refusal"}})
}

func TestKnownLabelSetsStartAtZero(t *testing.T) {
	t.Parallel()
	_, text := scrape(t, metrics(), "/metrics", ready)
	for _, line := range []string{
		`recap_compactions_total{outcome="committed",strategy="summary",trigger="manual"} 0`,
		`recap_compactions_total{outcome="needsOperator",strategy="summary",trigger="idle"} 0`,
		`recap_compaction_duration_seconds_count{outcome="committed",strategy="summary"} 0`,
		`recap_stage_duration_seconds_count{stage_kind="history"} 0`,
		`recap_model_attempts_total{candidate="v/m",result="ok"} 0`,
		`recap_model_attempts_total{candidate="v/m",result="rateLimited"} 0`,
		`recap_model_call_duration_seconds_count{candidate="v/m"} 0`,
		`recap_tokens_total{candidate="v/m",direction="cache_read"} 0`,
		`recap_context_tokens_count{when="after"} 0`,
		`recap_compression_ratio_count{strategy="summary"} 0`,
		`recap_gate_verdicts_total{verdict="retrySame"} 0`,
		`recap_gate_reasons_total{reason="refusal"} 0`,
		`recap_events_published_total{event="needs_operator"} 0`,
		`recap_events_published_total{event="started"} 0`,
		`recap_event_publish_failures_total{event="committed"} 0`,
		`recap_nats_disconnects_total 0`,
		`go_goroutines `,
		`recap_build_info{`,
	} {
		require.Contains(t, text, line)
	}
	require.Equal(t, len(contract.States)*len(contract.Reasons), strings.Count(text, "\nrecap_compactions_total{"))
	require.Equal(t, len(model.Classes)+3, strings.Count(text, "\nrecap_model_attempts_total{"))
}

func TestNamesFollowThePrometheusRules(t *testing.T) {
	t.Parallel()
	m := metrics()
	handler, closer := m.TemporalHandler(slog.New(slog.DiscardHandler))
	handler.Counter("temporal_workflow_completed").Inc(1)
	require.NoError(t, closer.Close())
	_, text := scrape(t, m, "/metrics", ready)
	found, err := promlint.New(strings.NewReader(text)).Lint()
	require.NoError(t, err)
	for _, p := range found {
		require.NotContains(t, p.Metric, "recap_", p.Text)
	}
}

func TestCompactionIsRecordedOnce(t *testing.T) {
	t.Parallel()
	m := metrics()
	before, after := 200_000, 20_000
	o := contract.Outcome{State: contract.StateCommitted, TokensBefore: &before, TokensAfter: &after}
	m.Compaction(o, contract.ReasonThreshold, contract.StrategySummary, 3*time.Second)
	_, text := scrape(t, m, "/metrics", ready)
	for _, line := range []string{
		`recap_compactions_total{outcome="committed",strategy="summary",trigger="threshold"} 1`,
		`recap_compaction_duration_seconds_sum{outcome="committed",strategy="summary"} 3`,
		`recap_context_tokens_sum{when="before"} 200000`,
		`recap_context_tokens_sum{when="after"} 20000`,
		`recap_compression_ratio_sum{strategy="summary"} 0.1`,
	} {
		require.Contains(t, text, line)
	}
}

// A session that was not compacted says nothing about how well compaction works.
func TestOnlyCompactedSessionsCountForTheRatio(t *testing.T) {
	t.Parallel()
	m := metrics()
	n := 100
	for _, state := range contract.States {
		if state != contract.StateCommitted && state != contract.StateReturned {
			m.Compaction(contract.Outcome{State: state, TokensBefore: &n, TokensAfter: &n}, contract.ReasonManual, contract.StrategySummary, 0)
		}
	}
	m.Compaction(contract.Outcome{State: contract.StateCommitted}, contract.ReasonManual, contract.StrategySummary, 0)
	_, text := scrape(t, m, "/metrics", ready)
	require.Contains(t, text, `recap_compression_ratio_count{strategy="summary"} 0`)
	require.Contains(t, text, `recap_context_tokens_count{when="before"} 0`)
	require.Contains(t, text, `recap_compaction_duration_seconds_count{outcome="committed",strategy="summary"} 0`, "an unknown time is no time")
}

func TestModelAttempt(t *testing.T) {
	t.Parallel()
	m := metrics()
	m.ModelAttempt("v/m", ResultOK, time.Second, contract.Usage{InputTokens: 10, OutputTokens: 2, CacheReadTokens: 5})
	m.ModelAttempt("v/m", string(model.ClassTimeout), time.Second, contract.Usage{InputTokens: -3})
	m.ModelAttempt("v/m", "error: some text of a provider", -time.Second, contract.Usage{})
	require.InDelta(t, 1, testutil.ToFloat64(m.attempts.WithLabelValues("v/m", "ok")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.attempts.WithLabelValues("v/m", "timeout")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.attempts.WithLabelValues("v/m", "other")), 0, "free text is no label")
	require.InDelta(t, 10, testutil.ToFloat64(m.tokens.WithLabelValues("input", "v/m")), 0)
	require.InDelta(t, 5, testutil.ToFloat64(m.tokens.WithLabelValues("cache_read", "v/m")), 0)
}

func TestVerdictsAndEvents(t *testing.T) {
	t.Parallel()
	m := metrics()
	m.Verdict(contract.VerdictReject, []contract.Code{"refusal", "cutOff"})
	m.Published("committed", true)
	m.Published("committed", false)
	m.Published("anything", true)
	m.NATSDisconnected()
	m.Stage(contract.PartHistory, time.Second)
	require.InDelta(t, 1, testutil.ToFloat64(m.verdicts.WithLabelValues("reject")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.reasons.WithLabelValues("cutOff")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.published.WithLabelValues("committed")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.publishFailures.WithLabelValues("committed")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.published.WithLabelValues("other")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.natsDisconnects), 0)
}

func TestNilMetricsRecordNothing(t *testing.T) {
	t.Parallel()
	var m *Metrics
	m.Compaction(contract.Outcome{}, "", "", 0)
	m.Stage("", 0)
	m.ModelAttempt("", "", 0, contract.Usage{})
	m.Verdict("", nil)
	m.Published("", true)
	m.NATSDisconnected()
	require.Nil(t, m.Registry())
	h, closer := m.TemporalHandler(slog.New(slog.DiscardHandler))
	h.Counter("x").Inc(1)
	require.NoError(t, closer.Close())
	status, _ := scrape(t, m, "/healthz", ready)
	require.Equal(t, http.StatusOK, status)
	status, _ = scrape(t, m, "/metrics", ready)
	require.Equal(t, http.StatusNotFound, status)
}

// The SDK's metrics land in the same registry, under the names its dashboards use.
func TestTemporalMetricsShareTheRegistry(t *testing.T) {
	t.Parallel()
	m := metrics()
	handler, closer := m.TemporalHandler(slog.New(slog.DiscardHandler))
	tagged := handler.WithTags(map[string]string{"task_queue": "recap-model"})
	tagged.Counter("temporal_workflow_completed").Inc(2)
	tagged.Timer("temporal_activity_execution_latency").Record(2 * time.Second)
	tagged.Gauge("temporal_worker_task_slots_available").Update(7)
	require.NoError(t, closer.Close())
	_, text := scrape(t, m, "/metrics", ready)
	require.Contains(t, text, `temporal_workflow_completed_total{task_queue="recap_model"} 2`)
	require.Contains(t, text, `temporal_activity_execution_latency_seconds_bucket{task_queue="recap_model",le="2.5"} 1`)
	require.Contains(t, text, `temporal_worker_task_slots_available{task_queue="recap_model"} 7`)
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	status, text := scrape(t, metrics(), "/readyz", ready)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "ready\n", text)
	away := func(context.Context) error { return errors.New("no Temporal server answers") }
	status, text = scrape(t, metrics(), "/readyz", away)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "no Temporal server answers\n", text)
	status, _ = scrape(t, metrics(), "/healthz", away)
	require.Equal(t, http.StatusOK, status, "a process that cannot work is still alive")
}

func TestServeNamesTheAddressItCannotHave(t *testing.T) {
	t.Parallel()
	s, err := Serve("127.0.0.1:0", metrics().Handler(ready), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close(context.Background())) }()
	_, err = Serve(s.Address, metrics().Handler(ready), slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, s.Address)
	require.ErrorContains(t, err, "worker.metricsAddress")
}

func TestLogger(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	log, err := NewLogger(&buf, "json", "warn")
	require.NoError(t, err)
	log.Info("quiet")
	log.Warn("loud", "n", 1)
	require.Contains(t, buf.String(), `"msg":"loud","n":1`)
	require.NotContains(t, buf.String(), "quiet")
	_, err = NewLogger(&buf, "xml", "warn")
	require.ErrorContains(t, err, "xml")
	_, err = NewLogger(&buf, "text", "loud")
	require.ErrorContains(t, err, "loud")
}

func TestBuildInfo(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{
		GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}},
	}
	require.Equal(t, Build{Version: "v1.2.3", Revision: "abc", Go: "go1.26", Modified: true}, describe("", "", info))
	require.Equal(t, Build{Version: "v9", Revision: "def", Go: "go1.26", Modified: true}, describe("v9", "def", info), "the linker's word counts")
	require.Equal(t, Build{Version: "devel", Revision: "unknown"}, describe("", "", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}))
}
