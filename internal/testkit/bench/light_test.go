package bench

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	recap "recap/internal/client"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/devstack"
	eventnats "recap/internal/event/nats"
	"recap/internal/sample"
	"recap/internal/telemetry"
	"recap/workers"
)

// lightRuns is how many compactions and bare workflows are timed, in turn.
const lightRuns = 15

// lightRatio is what a compaction may cost against a bare workflow (issue: light).
const lightRatio = 1.3

// BenchmarkLight compares one compaction by an instantaneous model with a workflow of as many no-op
// activities in the same order on the same queues of the same server, run in turn, by their medians.
func BenchmarkLight(b *testing.B) {
	program, err := devstack.LookProgram(devstack.CacheDir())
	require.NoError(b, err, "run `make tools`")
	dir := b.TempDir()
	stack, err := devstack.Start(b.Context(), devstack.Options{DataDir: filepath.Join(dir, "data"), Program: program})
	require.NoError(b, err)
	defer stack.Stop() //nolint:errcheck // the measurement is over
	sessions := filepath.Join(dir, "sessions")
	require.NoError(b, os.MkdirAll(sessions, 0o755))
	file := filepath.Join(dir, "recap.yaml")
	require.NoError(b, os.WriteFile(file, fmt.Appendf(nil, "stores: {local: {driver: jsonl, root: %s}}\n", sessions), 0o600))
	base, err := config.Load(config.Sources{File: file, LookupEnv: func(string) (string, bool) { return "", false }})
	require.NoError(b, err)
	base.DataDir = filepath.Join(dir, "data")
	cfg := base.Embedded(stack.TemporalAddress, "default", stack.NATSURL)

	temporal, err := client.Dial(client.Options{HostPort: stack.TemporalAddress, Logger: still{}})
	require.NoError(b, err)
	defer temporal.Close()
	conn, err := eventnats.Connect(eventnats.Options{URL: stack.NATSURL})
	require.NoError(b, err)
	defer conn.Close()
	events, err := eventnats.NewPublisher(conn, eventnats.StreamOptions{MaxAge: time.Hour, Replicas: 1})
	require.NoError(b, err)
	set, err := workers.New(workers.Config{
		Config: cfg, Temporal: temporal, Events: events, Logger: slog.New(slog.DiscardHandler),
		Metrics: telemetry.NewMetrics(telemetry.Options{}),
	})
	require.NoError(b, err)
	require.NoError(b, set.Start())
	defer set.Stop()
	stop := startBare(b, temporal)
	defer stop()

	ops := recap.New(temporal, recap.Options{Eager: true})
	data := sample.Generate(sample.Options{Seed: 3, Entries: 40, Linear: true})
	compact := func(i int) time.Duration {
		name := fmt.Sprintf("s%d.jsonl", i)
		require.NoError(b, os.WriteFile(filepath.Join(sessions, name), data, 0o600))
		start := time.Now()
		accepted, err := ops.Submit(b.Context(), contract.Request{
			RequestID: name, Session: contract.SessionRef{Tenant: cfg.Tenant, Store: "local", ID: name},
			Writer: contract.WriterNone, Settings: contract.Settings{KeepRecentTokens: 500},
		})
		require.NoError(b, err)
		o, err := ops.Wait(b.Context(), accepted)
		require.NoError(b, err)
		require.Equal(b, contract.StateCommitted, o.State, o.Message)
		return time.Since(start)
	}
	bare := func(i int) time.Duration {
		start := time.Now()
		run, err := temporal.ExecuteWorkflow(b.Context(), client.StartWorkflowOptions{
			ID: fmt.Sprintf("bare-%d", i), TaskQueue: bareMain, EnableEagerStart: true,
		}, bareWorkflow)
		require.NoError(b, err)
		// The client of a compaction asks whose run it got; so does this one.
		_, err = temporal.DescribeWorkflow(b.Context(), run.GetID(), run.GetRunID())
		require.NoError(b, err)
		require.NoError(b, run.Get(b.Context(), nil))
		return time.Since(start)
	}
	for b.Loop() {
		compact(1000)
		bare(1000) // warm
		var ours, theirs []time.Duration
		for i := range lightRuns {
			ours = append(ours, compact(i))
			theirs = append(theirs, bare(i))
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		mine, their := ours[lightRuns/2], theirs[lightRuns/2]
		ratio := float64(mine) / float64(their)
		fmt.Printf("one compaction %v, bare workflow %v (medians of %d): ratio %.2f\n", mine, their, lightRuns, ratio)
		b.ReportMetric(ratio, "ratio")
		if ratio > lightRatio {
			b.Errorf("a compaction takes %.2f times a bare workflow; at most %.1f is promised", ratio, lightRatio)
		}
	}
}

// Queues of the bare workflow, as a compaction has them.
const (
	bareMain  = "bare"
	bareStore = "bare.store"
	bareModel = "bare.model"
)

func noop(context.Context) error { return nil }

// bareWorkflow has the activities of a compaction in their order: the first event beside the plan,
// the model call, the review in the workflow task, progress beside the commit, the commit, and the
// last event in the workflow task.
func bareWorkflow(ctx workflow.Context) error {
	on := func(queue string) workflow.Context {
		return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{TaskQueue: queue, StartToCloseTimeout: time.Minute})
	}
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
	first := workflow.ExecuteActivity(on(bareMain), "noop")
	if err := workflow.ExecuteActivity(on(bareStore), "noop").Get(ctx, nil); err != nil {
		return err
	}
	if err := workflow.ExecuteActivity(on(bareModel), "noop").Get(ctx, nil); err != nil {
		return err
	}
	progress := workflow.ExecuteActivity(on(bareMain), "noop")
	if err := workflow.ExecuteLocalActivity(local, noop).Get(ctx, nil); err != nil {
		return err
	}
	if err := workflow.ExecuteActivity(on(bareStore), "noop").Get(ctx, nil); err != nil {
		return err
	}
	if err := first.Get(ctx, nil); err != nil {
		return err
	}
	if err := progress.Get(ctx, nil); err != nil {
		return err
	}
	return workflow.ExecuteLocalActivity(local, noop).Get(ctx, nil)
}

func startBare(b *testing.B, temporal client.Client) (stop func()) {
	b.Helper()
	var started []worker.Worker
	for _, queue := range []string{bareMain, bareStore, bareModel} {
		w := worker.New(temporal, queue, worker.Options{DisableWorkflowWorker: queue != bareMain})
		if queue == bareMain {
			w.RegisterWorkflow(bareWorkflow)
		}
		w.RegisterActivityWithOptions(noop, activity.RegisterOptions{Name: "noop"})
		require.NoError(b, w.Start())
		started = append(started, w)
	}
	return func() {
		for _, w := range started {
			w.Stop()
		}
	}
}

// still is a Temporal logger that says nothing.
type still struct{}

func (still) Debug(string, ...any) {}
func (still) Info(string, ...any)  {}
func (still) Warn(string, ...any)  {}
func (still) Error(string, ...any) {}
