package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/session"
	"recap/internal/store"
	"recap/internal/store/jsonl"
	"recap/internal/testkit/pi"
	"recap/internal/testkit/repo"
	"recap/prompts"
)

// keepRecent is pi's own default; both sides cut with it.
const keepRecent = 20000

// result is what one measured process says of itself. Times are without the start of the process.
type result struct {
	Ms         float64 `json:"ms"`
	Summarized int     `json:"summarized"` // messages in the requests
	FirstKept  string  `json:"firstKept"`
	Rendered   int     `json:"rendered"` // bytes of the requests
	MaxRSS     int64   `json:"-"`        // bytes, of the whole process
	CPUMs      float64 `json:"-"`        // on all processors, of the whole process
}

// childVariable tells the test binary to be the measured process.
const childVariable = "RECAP_BENCH_SESSION"

// TestMain lets the test binary stand in for a worker that prepares one compaction.
func TestMain(m *testing.M) {
	file := os.Getenv(childVariable)
	if file == "" {
		os.Exit(m.Run())
	}
	r, err := prepare(context.Background(), file)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// prepare is what a worker does before it asks a model: open, plan, render.
func prepare(ctx context.Context, file string) (result, error) {
	started := time.Now()
	driver, err := jsonl.New(filepath.Dir(file))
	if err != nil {
		return result{}, err
	}
	prepared, err := plan(ctx, driver, filepath.Base(file), store.ScopeLive)
	if errors.Is(err, session.ErrPartial) {
		prepared, err = plan(ctx, driver, filepath.Base(file), store.ScopeAll)
	}
	if err != nil {
		return result{}, err
	}
	r := result{FirstKept: prepared.Plan.FirstKeptEntryID}
	r.Summarized = len(prepared.Plan.Coverage.Summarized) + len(prepared.Plan.Coverage.TurnPrefix)
	for _, request := range prepared.Requests() {
		request.Pieces(func(piece string) { r.Rendered += len(piece) }) // as it is hashed and sent
	}
	r.Ms = float64(time.Since(started).Microseconds()) / 1000
	return r, nil
}

func plan(ctx context.Context, driver store.Driver, id string, scope store.Scope) (*compaction.Prepared, error) {
	snap, err := driver.Load(ctx, id, scope)
	if err != nil {
		return nil, err
	}
	defer snap.Close() //nolint:errcheck // read-only
	return compaction.Prepare(compaction.Input{
		Log: snap.Log(), Bodies: snap, Dialect: snap.Dialect(),
		Operation: "bench", Reason: contract.ReasonManual, Settings: contract.Settings{KeepRecentTokens: keepRecent},
		Prompts: prompts.All(), Now: time.Now(), LastWrite: snap.LastWrite(), Parallel: runtime.GOMAXPROCS(0),
	})
}

// ours measures recap in a process of its own.
func ours(tb testing.TB, file string) result {
	tb.Helper()
	self, err := os.Executable()
	require.NoError(tb, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"="+file)
	return run(tb, cmd)
}

// theirs measures pi in a process of its own.
func theirs(tb testing.TB, file string) result {
	tb.Helper()
	node, modules := pi.Modules(tb)
	script := filepath.Join(repo.Root(tb), "internal", "testkit", "pi", "bench.mjs")
	return run(tb, exec.Command(node, script, modules, file, strconv.Itoa(keepRecent)))
}

func run(tb testing.TB, cmd *exec.Cmd) result {
	tb.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(tb, err, "%s", cmd)
	var r result
	require.NoError(tb, json.Unmarshal(out, &r))
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(tb, ok)
	r.CPUMs = float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / 1000
	r.MaxRSS = usage.Maxrss
	if runtime.GOOS != "darwin" {
		r.MaxRSS *= 1024 // kilobytes there
	}
	return r
}
