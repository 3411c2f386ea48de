package workers

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"

	"recap/activities"
	blobmem "recap/internal/blob/mem"
	"recap/internal/config"
	"recap/internal/contract"
	eventmem "recap/internal/event/mem"
	"recap/internal/model"
	"recap/internal/telemetry"
	"recap/workflows"
)

// names collects what is registered.
type names map[string]int

func (n names) RegisterActivityWithOptions(_ any, o activity.RegisterOptions) { n[o.Name]++ }
func (n names) RegisterWorkflowWithOptions(_ any, o workflow.RegisterOptions) { n[o.Name]++ }

// TestEveryNameOfTheContractIsRegisteredOnce, and nothing else is.
func TestEveryNameOfTheContractIsRegisteredOnce(t *testing.T) {
	t.Parallel()
	acts, err := activities.New(activities.Deps{
		Stores: &Stores{}, Blobs: blobmem.New(), Clients: &clients{built: map[string]model.Client{}}, Events: eventmem.New(),
		Metrics: telemetry.NewMetrics(telemetry.Options{}), Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	require.NoError(t, err)
	got := names{}
	workflows.Register(got)
	acts.RegisterMain(got)
	acts.RegisterModel(got)
	acts.RegisterStore(got)
	require.Equal(t, names{
		contract.WorkflowCompact: 1, contract.WorkflowDeliverEvents: 1,
		contract.ActivityPreparePlan: 1, contract.ActivityCallModel: 1, contract.ActivityReview: 1, contract.ActivityCommit: 1,
		contract.ActivityConclude: 1, contract.ActivityPublish: 1, contract.ActivityDeliverEvent: 1,
	}, got)
}

// TestEveryConfigurableAPIHasAnAdapter keeps configuration and composition in step.
func TestEveryConfigurableAPIHasAnAdapter(t *testing.T) {
	t.Parallel()
	for _, api := range config.APIs {
		require.Contains(t, adapters, api)
	}
	require.Len(t, adapters, len(config.APIs))
}
