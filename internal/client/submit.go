package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"recap/internal/contract"
)

// Accepted says that an operation is running. Operation is whose: when Joined, a run of another
// operation was under way on the session and the caller's request became part of it.
type Accepted struct {
	WorkflowID string `json:"workflowId"`
	RunID      string `json:"runId"`
	Operation  string `json:"operation"`
	Joined     bool   `json:"joined"`
	// Unindexed says that the server does not know recap's search attributes: list and find by
	// operation work, but slower.
	Unindexed bool `json:"unindexed,omitempty"`
}

// Submit starts the operation, or joins the one that is running on the same session. Sending the
// same request again is safe: one request id is one operation (promise G2).
func (c *Client) Submit(ctx context.Context, req contract.Request) (Accepted, error) {
	req = req.Normalize()
	if err := req.Validate(); err != nil {
		return Accepted{}, &Error{Kind: KindInvalid, Verb: "submit", On: req.Operation, Msg: "the request is not valid", Err: err}
	}
	id := contract.CompactID(req.Session)
	run, err := c.start(ctx, req, c.options(id, req))
	if err != nil {
		return Accepted{}, classify(ctx, "submit", id, err)
	}
	owner, err := c.owner(ctx, id, run.GetRunID())
	if err != nil {
		return Accepted{}, err
	}
	return Accepted{
		WorkflowID: id, RunID: run.GetRunID(), Operation: owner,
		Joined: owner != req.Operation, Unindexed: c.plain.Load(),
	}, nil
}

// start starts with search attributes, and without them where the server does not know them. An
// invalid argument cannot be told apart by type from other invalid arguments, so the proof is that
// the same start without attributes is accepted.
func (c *Client) start(ctx context.Context, req contract.Request, o client.StartWorkflowOptions) (client.WorkflowRun, error) {
	if !c.plain.Load() {
		run, err := c.temporal.ExecuteWorkflow(ctx, o, contract.WorkflowCompact, req)
		if _, refused := errors.AsType[*serviceerror.InvalidArgument](err); !refused {
			return run, err
		}
	}
	o.TypedSearchAttributes = temporal.SearchAttributes{}
	run, err := c.temporal.ExecuteWorkflow(ctx, o, contract.WorkflowCompact, req)
	if err == nil && c.plain.CompareAndSwap(false, true) {
		c.log.Warn("server does not know the search attributes of recap; register them to list operations quickly",
			"workflow_id", o.ID)
	}
	return run, err
}

func (c *Client) options(id string, req contract.Request) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID:                       id,
		TaskQueue:                contract.QueueMain,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo:                     map[string]any{contract.MemoOperation: req.Operation},
		TypedSearchAttributes:    attributes(req),
		Priority:                 priority(req),
		StaticSummary:            "compaction, " + string(req.Reason),
		EnableEagerStart:         c.eager,
	}
}

func attributes(req contract.Request) temporal.SearchAttributes {
	keyword := func(name, value string) temporal.SearchAttributeUpdate {
		return temporal.NewSearchAttributeKeyKeyword(name).ValueSet(value)
	}
	return temporal.NewSearchAttributes(
		keyword(contract.AttrTenant, label(req.Session.Tenant)),
		keyword(contract.AttrSession, SessionLabel(req.Session)),
		keyword(contract.AttrTrigger, string(req.Reason)),
		keyword(contract.AttrOperation, req.Operation),
	)
}

// priority puts what an agent waits for before what a person waits for, and both before what nobody
// waits for; within a level tenants take turns.
func priority(req contract.Request) temporal.Priority {
	p := temporal.Priority{FairnessKey: label(req.Session.Tenant)}
	switch req.Reason {
	case contract.ReasonOverflow, contract.ReasonIncomplete, contract.ReasonMidTurn:
		p.PriorityKey = 1
	case contract.ReasonThreshold:
		p.PriorityKey = 3
	case contract.ReasonIdle:
		p.PriorityKey = 5
	default:
		p.PriorityKey = 2
	}
	return p
}

// safeLabel bounds what goes into a search attribute or a fairness key (64 bytes).
var safeLabel = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

func label(s string) string {
	if safeLabel.MatchString(s) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// SessionLabel is the value of the session's search attribute: the last element of its id, never a
// path (DESIGN §4). Two sessions may share one; List compares workflow ids as well.
func SessionLabel(r contract.SessionRef) string {
	return label(r.ID[strings.LastIndexByte(r.ID, '/')+1:])
}

// owner reads whose operation a run was started for. Every run that this package starts has the
// memo; a run without one was started by other means and is its own owner.
func (c *Client) owner(ctx context.Context, workflowID, runID string) (string, error) {
	desc, err := c.temporal.DescribeWorkflow(ctx, workflowID, runID)
	if err != nil {
		return "", classify(ctx, "submit", workflowID, err)
	}
	return c.memo(desc.RawResponse.GetWorkflowExecutionInfo().GetMemo()), nil
}

func (c *Client) memo(m *commonpb.Memo) string {
	p, ok := m.GetFields()[contract.MemoOperation]
	if !ok {
		return ""
	}
	var operation string
	if err := c.conv.FromPayload(p, &operation); err != nil {
		return ""
	}
	return operation
}
