// Package workflows is recap's deterministic orchestration, one workflow a file. Workflows follow
// recorded plans: they compute nothing big, carry references and numbers, and own every wait and
// retry (DESIGN §2, §5).
//
// It may import the Temporal SDK, contract and pure packages; never activities, ports, prompts, os,
// net/http, time.Now or math/rand (checked by internal/testkit/deptest).
package workflows

import (
	"go.temporal.io/sdk/workflow"

	"recap/internal/contract"
)

// Registry is the part of a worker, a replayer or a test environment that workflows register with.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// Register registers every workflow under its constant name.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(Compact, workflow.RegisterOptions{Name: contract.WorkflowCompact})
	r.RegisterWorkflowWithOptions(DeliverEvents, workflow.RegisterOptions{Name: contract.WorkflowDeliverEvents})
}
