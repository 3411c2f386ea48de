package client

import (
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"recap/internal/contract"
)

// RunStatus is how a run stands on the server.
type RunStatus string

// Statuses of a run.
const (
	RunRunning    RunStatus = "running"
	RunCompleted  RunStatus = "completed"
	RunFailed     RunStatus = "failed"
	RunCancelled  RunStatus = "cancelled"
	RunTerminated RunStatus = "terminated"
	RunTimedOut   RunStatus = "timedOut"
)

// Operation is one line of a listing. State, Reason and Trigger are empty where the server does not
// know recap's search attributes or the run has not set them yet. Times are Unix milliseconds, 0 =
// not yet.
type Operation struct {
	Operation  string              `json:"operation"`
	WorkflowID string              `json:"workflowId"`
	RunID      string              `json:"runId"`
	Session    contract.SessionRef `json:"session"`
	Status     RunStatus           `json:"status"`
	State      contract.State      `json:"state,omitempty"`
	Reason     contract.Code       `json:"reason,omitempty"`
	Trigger    contract.Reason     `json:"trigger,omitempty"`
	StartedAt  int64               `json:"startedAt"`
	ClosedAt   int64               `json:"closedAt,omitempty"`

	firstRun string // of a chain continued as new; "" when the server does not say
}

// Running reports whether the operation has not ended.
func (o Operation) Running() bool { return o.Status == RunRunning }

// Accepted names the operation's run for Wait.
func (o Operation) Accepted() Accepted {
	return Accepted{WorkflowID: o.WorkflowID, RunID: o.RunID, Operation: o.Operation}
}

func (c *Client) operation(info *workflowpb.WorkflowExecutionInfo) Operation {
	o := Operation{
		Operation:  c.memo(info.GetMemo()),
		WorkflowID: info.GetExecution().GetWorkflowId(),
		RunID:      info.GetExecution().GetRunId(),
		Status:     statusOf(info.GetStatus()),
		State:      contract.State(c.keyword(info, contract.AttrState)),
		Reason:     contract.Code(c.keyword(info, contract.AttrReason)),
		Trigger:    contract.Reason(c.keyword(info, contract.AttrTrigger)),
		StartedAt:  millis(info.GetStartTime()),
		ClosedAt:   millis(info.GetCloseTime()),
		firstRun:   info.GetFirstRunId(),
	}
	o.Session, _ = SessionOf(o.WorkflowID)
	return o
}

func (c *Client) keyword(info *workflowpb.WorkflowExecutionInfo, name string) string {
	p, ok := info.GetSearchAttributes().GetIndexedFields()[name]
	if !ok {
		return ""
	}
	var value string
	if err := c.conv.FromPayload(p, &value); err != nil {
		return ""
	}
	return value
}

// SessionOf reads the session out of a workflow id: compact/<tenant>/<store>/<session>.
func SessionOf(workflowID string) (contract.SessionRef, bool) {
	parts := strings.SplitN(workflowID, "/", 4)
	if len(parts) != 4 || parts[0] != "compact" {
		return contract.SessionRef{}, false
	}
	return contract.SessionRef{Tenant: parts[1], Store: parts[2], ID: parts[3]}, true
}

func statusOf(s enumspb.WorkflowExecutionStatus) RunStatus {
	switch s {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return RunCompleted
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED:
		return RunFailed
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		return RunCancelled
	case enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return RunTerminated
	case enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return RunTimedOut
	default: // running, or continued as new: the operation goes on
		return RunRunning
	}
}

func millis(t *timestamppb.Timestamp) int64 {
	if t == nil {
		return 0
	}
	return t.AsTime().UnixMilli()
}
