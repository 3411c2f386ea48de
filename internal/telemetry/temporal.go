package telemetry

import (
	"io"
	"log/slog"
	"time"

	"github.com/uber-go/tally/v4"
	tallyprom "github.com/uber-go/tally/v4/prometheus"
	"go.temporal.io/sdk/client"
	sdktally "go.temporal.io/sdk/contrib/tally"
)

// reportEvery is how often the SDK's numbers are copied into the registry.
const reportEvery = time.Second

// TemporalHandler is the metrics handler for a Temporal client: the SDK's metrics (temporal_…, see
// spec/conventions §2h) land in the same registry. Close the returned closer after the client, so
// that the last numbers are copied. A metric that cannot be registered is logged and left out.
func (m *Metrics) TemporalHandler(log *slog.Logger) (client.MetricsHandler, io.Closer) {
	if m == nil {
		return client.MetricsNopHandler, noCloser{}
	}
	reporter := tallyprom.NewReporter(tallyprom.Options{
		Registerer:              m.registry,
		Gatherer:                m.registry,
		DefaultTimerType:        tallyprom.HistogramTimerType,
		DefaultHistogramBuckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900},
		OnRegisterError:         func(err error) { log.Warn("metric of the Temporal SDK left out", "error", err) },
	})
	scope, closer := tally.NewRootScope(tally.ScopeOptions{
		CachedReporter:  reporter,
		Separator:       tallyprom.DefaultSeparator,
		SanitizeOptions: &sdktally.PrometheusSanitizeOptions,
	}, reportEvery)
	return sdktally.NewMetricsHandler(sdktally.NewPrometheusNamingScope(scope)), closer
}

type noCloser struct{}

func (noCloser) Close() error { return nil }
