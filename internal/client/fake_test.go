package client

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"recap/internal/contract"
)

// fakeServer behaves like a Temporal server as far as this package uses one: it joins starts on a
// running id, keeps runs newest first, and knows search attributes or refuses them.
type fakeServer struct {
	client.Client // panics on what the package does not use

	mu        sync.Mutex
	runs      []*fakeRun // oldest first
	attrs     bool       // knows recap's search attributes
	err       error      // every call fails with it
	starts    []client.StartWorkflowOptions
	queries   []string
	signals   []string
	cancelled []string
	status    contract.Status
}

type fakeRun struct {
	info    *workflowpb.WorkflowExecutionInfo
	input   contract.Request
	outcome contract.Outcome
	err     error // what Get returns instead of the outcome
}

func (f *fakeServer) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	f.starts = append(f.starts, o)
	if !f.attrs && o.TypedSearchAttributes.Size() > 0 {
		return nil, serviceerror.NewInvalidArgument("no mapping for a search attribute")
	}
	if workflow != contract.WorkflowCompact || len(args) != 1 {
		return nil, serviceerror.NewInvalidArgument("not a compaction")
	}
	for _, r := range f.runs {
		if r.info.Execution.WorkflowId == o.ID && r.info.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			return fakeHandle{f: f, id: o.ID, run: r.info.Execution.RunId}, nil
		}
	}
	r := f.add(o.ID, o.Memo[contract.MemoOperation].(string))
	r.input = args[0].(contract.Request)
	return fakeHandle{f: f, id: o.ID, run: r.info.Execution.RunId}, nil
}

// add appends a running run; the caller holds the lock or owns the server.
func (f *fakeServer) add(id, operation string) *fakeRun {
	memo := map[string]*commonpb.Payload{}
	if operation != "" {
		memo[contract.MemoOperation] = payload(operation)
	}
	r := &fakeRun{info: &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: fmt.Sprintf("run-%d", len(f.runs)+1)},
		Type:      &commonpb.WorkflowType{Name: contract.WorkflowCompact},
		Status:    enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
		StartTime: timestamppb.New(time.UnixMilli(int64(1000 * (len(f.runs) + 1)))),
		Memo:      &commonpb.Memo{Fields: memo},
	}}
	f.runs = append(f.runs, r)
	return r
}

// end closes a run with an outcome, or with an error that carries one.
func (r *fakeRun) end(out contract.Outcome, err error) {
	r.outcome, r.err = out, err
	r.info.CloseTime = timestamppb.New(time.UnixMilli(99000))
	r.info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	if err != nil {
		r.info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_FAILED
	}
}

func (f *fakeServer) find(id, run string) *fakeRun {
	for i := len(f.runs) - 1; i >= 0; i-- {
		e := f.runs[i].info.Execution
		if e.WorkflowId == id && (run == "" || e.RunId == run) {
			return f.runs[i]
		}
	}
	return nil
}

func (f *fakeServer) GetWorkflow(_ context.Context, id, run string) client.WorkflowRun {
	return fakeHandle{f: f, id: id, run: run}
}

type fakeHandle struct {
	client.WorkflowRun
	f       *fakeServer
	id, run string
}

func (h fakeHandle) GetID() string    { return h.id }
func (h fakeHandle) GetRunID() string { return h.run }

func (h fakeHandle) Get(_ context.Context, into any) error {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	r := h.f.find(h.id, h.run)
	if h.f.err != nil {
		return h.f.err
	}
	if r == nil {
		return serviceerror.NewNotFound("no run")
	}
	if r.err != nil {
		return r.err
	}
	*into.(*contract.Outcome) = r.outcome
	return nil
}

func (f *fakeServer) DescribeWorkflow(_ context.Context, id, run string) (*client.WorkflowExecutionDescription, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	r := f.find(id, run)
	if r == nil {
		return nil, serviceerror.NewNotFound("no run")
	}
	return &client.WorkflowExecutionDescription{RawResponse: &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: r.info}}, nil
}

func (f *fakeServer) ListWorkflow(_ context.Context, req *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	f.queries = append(f.queries, req.Query)
	if !f.attrs && strings.Contains(req.Query, "Recap") {
		return nil, serviceerror.NewInvalidArgument("unknown search attribute")
	}
	resp := &workflowservice.ListWorkflowExecutionsResponse{}
	for i := len(f.runs) - 1; i >= 0; i-- {
		resp.Executions = append(resp.Executions, f.runs[i].info)
	}
	return resp, nil
}

func (f *fakeServer) SignalWorkflow(_ context.Context, id, run, name string, _ any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signals = append(f.signals, id+" "+run+" "+name)
	return f.err
}

func (f *fakeServer) CancelWorkflow(_ context.Context, id, run string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancelled = append(f.cancelled, id+" "+run)
	return f.err
}

func (f *fakeServer) QueryWorkflow(_ context.Context, _, _, query string, _ ...any) (converter.EncodedValue, error) {
	if query != contract.QueryStatus {
		return nil, serviceerror.NewQueryFailed("unknown query")
	}
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(f.status)
	return client.NewValue(payloads), err
}

func (f *fakeServer) GetWorkflowHistory(_ context.Context, id, run string, _ bool, _ enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &fakeHistory{run: f.find(id, run)}
}

type fakeHistory struct {
	run  *fakeRun
	done bool
}

func (h *fakeHistory) HasNext() bool { return !h.done }

func (h *fakeHistory) Next() (*historypb.HistoryEvent, error) {
	h.done = true
	if h.run == nil {
		return nil, serviceerror.NewNotFound("no history")
	}
	input, err := converter.GetDefaultDataConverter().ToPayloads(h.run.input)
	return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: input},
	}}, err
}

func payload(v any) *commonpb.Payload {
	p, err := converter.GetDefaultDataConverter().ToPayload(v)
	if err != nil {
		panic(err)
	}
	return p
}

var ref = contract.SessionRef{Tenant: "acme", Store: "local", ID: "s1.jsonl"}

func request(id string) contract.Request {
	return contract.Request{RequestID: id, Session: ref}
}

func submit(t *testing.T, c *Client, req contract.Request) Accepted {
	t.Helper()
	a, err := c.Submit(t.Context(), req)
	require.NoError(t, err)
	return a
}
