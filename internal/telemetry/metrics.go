// Package telemetry is what recap tells operators: Prometheus metrics under the names of
// spec/conventions §5, logs, and the HTTP endpoints of a worker. No label and no log line holds a
// session, a tenant, an error text or content.
//
// The package may import contract, model (the port, for its error classes), the Prometheus client,
// and Temporal's metrics bridge. Every method of *Metrics does nothing on a nil receiver.
package telemetry

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.temporal.io/sdk/temporal"

	"recap/internal/contract"
	"recap/internal/model"
)

// Metrics records what recap does. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	compactions       *prometheus.CounterVec
	compactionSeconds *prometheus.HistogramVec
	stageSeconds      *prometheus.HistogramVec
	attempts          *prometheus.CounterVec
	callSeconds       *prometheus.HistogramVec
	tokens            *prometheus.CounterVec
	contextTokens     *prometheus.HistogramVec
	ratio             *prometheus.HistogramVec
	verdicts          *prometheus.CounterVec
	reasons           *prometheus.CounterVec
	published         *prometheus.CounterVec
	publishFailures   *prometheus.CounterVec
	natsDisconnects   prometheus.Counter
}

// Options say which label values are known from the start.
type Options struct {
	Candidates  []string // ids of the configured candidates
	GateReasons []contract.Code
}

// Label values that are not in contract.
const (
	ResultOK   = "ok"
	ResultGate = "gate" // the gate refused a complete answer
	resultOdd  = "other"
)

// NewMetrics makes a registry of its own, holding the metrics of recap, of the Go runtime and of the
// process. Known label sets start at 0, so that a rate exists before the first event.
func NewMetrics(o Options) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		compactions: counter("compactions_total", "Compactions that ended, by how they ended.",
			"strategy", "trigger", "outcome"),
		compactionSeconds: histogram("compaction_duration_seconds", "Time from the start of a compaction to its end, waits included.",
			[]float64{0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800}, "strategy", "outcome"),
		stageSeconds: histogram("stage_duration_seconds", "Time of one stage of a compaction.",
			[]float64{0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 900}, "stage_kind"),
		attempts: counter("model_attempts_total", "Model requests, by how they ended.", "candidate", "result"),
		callSeconds: histogram("model_call_duration_seconds", "Time of one model request.",
			[]float64{0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600, 900}, "candidate"),
		tokens: counter("tokens_total", "Tokens that model requests were billed for.", "direction", "candidate"),
		contextTokens: histogram("context_tokens", "Tokens of the context before and after a compaction.",
			prometheus.ExponentialBuckets(1000, 2, 12), "when"),
		ratio: histogram("compression_ratio", "Tokens after a compaction divided by tokens before it.",
			prometheus.LinearBuckets(0.05, 0.05, 20), "strategy"),
		verdicts:        counter("gate_verdicts_total", "Verdicts of the gate.", "verdict"),
		reasons:         counter("gate_reasons_total", "Reasons the gate gave for a verdict.", "reason"),
		published:       counter("events_published_total", "Events the bus has acknowledged.", "event"),
		publishFailures: counter("event_publish_failures_total", "Tries to publish an event that failed.", "event"),
		natsDisconnects: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "nats_disconnects_total", Help: "Lost connections to NATS.",
		}),
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo(),
		m.compactions, m.compactionSeconds, m.stageSeconds, m.attempts, m.callSeconds, m.tokens, m.contextTokens, m.ratio,
		m.verdicts, m.reasons, m.published, m.publishFailures, m.natsDisconnects,
	)
	m.startAtZero(o)
	return m
}

const namespace = "recap"

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

func buildInfo() prometheus.Collector {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "Always 1; the labels say what is running.",
	}, []string{"version", "revision", "goversion", "sdk"})
	g.WithLabelValues(Version(), Revision(), runtime.Version(), temporal.SDKVersion).Set(1)
	return g
}

func (m *Metrics) startAtZero(o Options) {
	for _, state := range contract.States {
		for _, reason := range contract.Reasons {
			m.compactions.WithLabelValues(contract.StrategySummary, string(reason), string(state))
		}
		m.compactionSeconds.WithLabelValues(contract.StrategySummary, string(state))
		m.published.WithLabelValues(state.EventName())
		m.publishFailures.WithLabelValues(state.EventName())
	}
	for _, name := range progressEvents {
		m.published.WithLabelValues(name)
		m.publishFailures.WithLabelValues(name)
	}
	for _, kind := range []contract.Part{contract.PartHistory, contract.PartTurnPrefix} {
		m.stageSeconds.WithLabelValues(string(kind))
	}
	for _, candidate := range o.Candidates {
		for result := range results {
			m.attempts.WithLabelValues(candidate, result)
		}
		m.callSeconds.WithLabelValues(candidate)
		for _, direction := range []string{"input", "output", "cache_read", "cache_write"} {
			m.tokens.WithLabelValues(direction, candidate)
		}
	}
	for _, v := range verdictNames {
		m.verdicts.WithLabelValues(string(v))
	}
	for _, reason := range o.GateReasons {
		m.reasons.WithLabelValues(string(reason))
	}
	for _, when := range []string{"before", "after"} {
		m.contextTokens.WithLabelValues(when)
	}
	m.ratio.WithLabelValues(contract.StrategySummary)
}

var (
	progressEvents = []string{
		contract.EventStarted, contract.EventStageCompleted, contract.EventAttemptFailed, contract.EventNotice, contract.EventWaiting,
	}
	verdictNames = []contract.Verdict{
		contract.VerdictAccept, contract.VerdictRepaired, contract.VerdictRetrySame, contract.VerdictNext, contract.VerdictReject,
	}
	results = knownResults()
	events  = knownEvents()
)

func knownResults() map[string]bool {
	set := map[string]bool{ResultOK: true, ResultGate: true, resultOdd: true}
	for _, c := range model.Classes {
		set[string(c)] = true
	}
	return set
}

func knownEvents() map[string]bool {
	set := map[string]bool{}
	for _, name := range progressEvents {
		set[name] = true
	}
	for _, state := range contract.States {
		set[state.EventName()] = true
	}
	return set
}

// closed keeps a label's values in a closed set: text from elsewhere must not become a series.
func closed(set map[string]bool, value string) string {
	if set[value] {
		return value
	}
	return resultOdd
}

// Compaction records the end of a compaction. took is negative or zero when it is not known.
func (m *Metrics) Compaction(o contract.Outcome, trigger contract.Reason, strategy string, took time.Duration) {
	if m == nil {
		return
	}
	m.compactions.WithLabelValues(strategy, string(trigger), string(o.State)).Inc()
	if took > 0 {
		m.compactionSeconds.WithLabelValues(strategy, string(o.State)).Observe(took.Seconds())
	}
	if o.State != contract.StateCommitted && o.State != contract.StateReturned {
		return
	}
	if o.TokensBefore != nil {
		m.contextTokens.WithLabelValues("before").Observe(float64(*o.TokensBefore))
	}
	if o.TokensAfter != nil {
		m.contextTokens.WithLabelValues("after").Observe(float64(*o.TokensAfter))
	}
	if o.TokensBefore != nil && o.TokensAfter != nil && *o.TokensBefore > 0 {
		m.ratio.WithLabelValues(strategy).Observe(float64(*o.TokensAfter) / float64(*o.TokensBefore))
	}
}

// Stage records the time one stage took, of whichever kind.
func (m *Metrics) Stage(kind contract.Part, took time.Duration) {
	if m == nil {
		return
	}
	m.stageSeconds.WithLabelValues(string(kind)).Observe(took.Seconds())
}

// ModelAttempt records one model request. result is ResultOK, ResultGate or an error class.
func (m *Metrics) ModelAttempt(candidate, result string, took time.Duration, u contract.Usage) {
	if m == nil {
		return
	}
	m.attempts.WithLabelValues(candidate, closed(results, result)).Inc()
	m.callSeconds.WithLabelValues(candidate).Observe(max(took, 0).Seconds())
	for _, t := range []struct {
		direction string
		n         int
	}{{"input", u.InputTokens}, {"output", u.OutputTokens}, {"cache_read", u.CacheReadTokens}, {"cache_write", u.CacheWriteTokens}} {
		if t.n > 0 { // a counter never goes down, whatever a provider reports
			m.tokens.WithLabelValues(t.direction, candidate).Add(float64(t.n))
		}
	}
}

// Verdict records a verdict of the gate and its reasons.
func (m *Metrics) Verdict(v contract.Verdict, reasons []contract.Code) {
	if m == nil {
		return
	}
	m.verdicts.WithLabelValues(string(v)).Inc()
	for _, r := range reasons {
		m.reasons.WithLabelValues(string(r)).Inc()
	}
}

// Published records one try to publish an event.
func (m *Metrics) Published(event string, ok bool) {
	if m == nil {
		return
	}
	vec := m.published
	if !ok {
		vec = m.publishFailures
	}
	vec.WithLabelValues(closed(events, event)).Inc()
}

// NATSDisconnected records a lost connection to NATS.
func (m *Metrics) NATSDisconnected() {
	if m == nil {
		return
	}
	m.natsDisconnects.Inc()
}

// Registry is where everything is registered, for more collectors; nil for nil metrics.
func (m *Metrics) Registry() *prometheus.Registry {
	if m == nil {
		return nil
	}
	return m.registry
}
