package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"recap/internal/contract"
)

// Filter selects operations to list; a zero field selects all.
type Filter struct {
	Tenant    string
	Session   *contract.SessionRef
	Operation string
	State     contract.State
	Reason    contract.Code
	Trigger   contract.Reason
	Running   bool // only what has not ended
	Limit     int  // 0 = DefaultLimit
}

// DefaultLimit is how many operations a listing holds unless the filter says otherwise.
const DefaultLimit = 100

// scanLimit bounds how many runs a listing reads from a server without our search attributes.
const scanLimit = 5000

// List returns operations, newest first. On a server that does not know recap's search attributes it
// reads the runs and filters here; State, Reason and Trigger are then not known, and selecting by them is
// an error of KindInvalid.
func (c *Client) List(ctx context.Context, f Filter) ([]Operation, error) {
	if f.Limit <= 0 {
		f.Limit = DefaultLimit
	}
	if !c.plain.Load() {
		ops, err := c.list(ctx, f.query(), f)
		if _, refused := errors.AsType[*serviceerror.InvalidArgument](err); !refused {
			return ops, classify(ctx, "list", "operations", err)
		}
	}
	if f.State != "" || f.Reason != "" || f.Trigger != "" {
		return nil, &Error{
			Kind: KindInvalid, Verb: "list", On: "operations",
			Msg: "this server does not know recap's search attributes, so nothing can be selected by state, reason or trigger; register them",
		}
	}
	ops, err := c.list(ctx, f.plainQuery(), f)
	return ops, classify(ctx, "list", "operations", err)
}

func (c *Client) list(ctx context.Context, query string, f Filter) ([]Operation, error) {
	ops := []Operation{}
	var token []byte
	for read := 0; read < scanLimit; {
		page, err := c.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			PageSize: int32(min(f.Limit, 1000)), NextPageToken: token, Query: query,
		})
		if err != nil {
			return nil, err
		}
		for _, info := range page.GetExecutions() {
			if o, ok := c.match(info, f); ok {
				ops = append(ops, o)
			}
			if len(ops) == f.Limit {
				return ops, nil
			}
		}
		read += len(page.GetExecutions())
		if token = page.GetNextPageToken(); len(token) == 0 {
			break
		}
	}
	return ops, nil
}

// match decides again what the query should have decided: it is what makes the plain query work, and
// two sessions may share a session label.
func (c *Client) match(info *workflowpb.WorkflowExecutionInfo, f Filter) (Operation, bool) {
	o := c.operation(info)
	ok := info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW && // its successor is listed
		(f.Tenant == "" || o.Session.Tenant == f.Tenant) &&
		(f.Session == nil || o.Session == *f.Session) &&
		(f.Operation == "" || o.Operation == f.Operation) &&
		(f.State == "" || o.State == f.State) &&
		(f.Reason == "" || o.Reason == f.Reason) &&
		(f.Trigger == "" || o.Trigger == f.Trigger) &&
		(!f.Running || o.Running())
	return o, ok
}

func (f Filter) query() string {
	terms := []string{f.plainQuery()}
	add := func(name, value string) {
		if value != "" {
			terms = append(terms, fmt.Sprintf("%s = '%s'", name, strings.ReplaceAll(value, "'", "''")))
		}
	}
	if f.Tenant != "" {
		add(contract.AttrTenant, label(f.Tenant))
	}
	if f.Session != nil {
		add(contract.AttrSession, SessionLabel(*f.Session))
	}
	add(contract.AttrOperation, f.Operation)
	add(contract.AttrState, string(f.State))
	add(contract.AttrReason, string(f.Reason))
	add(contract.AttrTrigger, string(f.Trigger))
	return strings.Join(terms, " AND ")
}

// plainQuery uses only what every server indexes.
func (f Filter) plainQuery() string {
	q := fmt.Sprintf("WorkflowType = '%s'", contract.WorkflowCompact)
	if f.Running {
		q += " AND ExecutionStatus = 'Running'"
	}
	return q
}

// Served reports whether any worker polls the queue of a session store. The server remembers pollers
// for some minutes, so a worker that has just gone may still be counted.
func (c *Client) Served(ctx context.Context, store string) (bool, error) {
	queue := contract.StoreQueue(store)
	resp, err := c.temporal.DescribeTaskQueue(ctx, queue, enumspb.TASK_QUEUE_TYPE_ACTIVITY)
	if err != nil {
		return false, classify(ctx, "look for workers of", queue, err)
	}
	return len(resp.GetPollers()) > 0, nil
}
