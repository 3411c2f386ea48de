package workflows

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"recap/internal/contract"
)

// histories are runs that really happened, recorded by the end-to-end tests (RECAP_HISTORIES=DIR).
// They are named by what they show, added, and never recorded again: code that cannot replay them
// would break runs that are under way at an upgrade.
func histories(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/histories/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func TestEveryKeptHistoryReplays(t *testing.T) {
	t.Parallel()
	for _, file := range histories(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			replayer := worker.NewWorkflowReplayer()
			Register(replayer)
			require.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(nil, file))
		})
	}
}

// TestReplayNoticesABrokenWorkflow is the deliberate break: it must fail on every history.
func TestReplayNoticesABrokenWorkflow(t *testing.T) {
	t.Parallel()
	broken := func(ctx workflow.Context, request contract.Request) (contract.Outcome, error) {
		if err := workflow.Sleep(ctx, 1); err != nil {
			return contract.Outcome{}, err
		}
		return Compact(ctx, request)
	}
	for _, file := range histories(t) {
		replayer := worker.NewWorkflowReplayer()
		replayer.RegisterWorkflowWithOptions(broken, workflow.RegisterOptions{Name: contract.WorkflowCompact})
		replayer.RegisterWorkflowWithOptions(DeliverEvents, workflow.RegisterOptions{Name: contract.WorkflowDeliverEvents})
		require.Error(t, replayer.ReplayWorkflowHistoryFromJSONFile(nil, file), file)
	}
}

// TestHistoriesHoldNoText looks for what must never be in a history (promise G9).
func TestHistoriesHoldNoText(t *testing.T) {
	t.Parallel()
	for _, file := range histories(t) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, text := range []string{"## Goal", "harbor", "berth"} {
			require.NotContains(t, string(data), text, file)
		}
	}
}
