package client

import (
	"context"
	"errors"
	"strings"

	"recap/internal/contract"
)

// Name is how a caller may name an operation: by its id, by its workflow id, or by the session it
// is (or was last) working on.
type Name struct {
	Operation  string
	WorkflowID string
	Session    *contract.SessionRef
}

func (n Name) String() string {
	switch {
	case n.WorkflowID != "":
		return n.WorkflowID
	case n.Session != nil:
		return contract.CompactID(*n.Session)
	}
	return n.Operation
}

// ParseName reads a word as a workflow id when it has the form of one, else as an operation id.
func ParseName(word string) Name {
	if _, ok := SessionOf(word); ok {
		return Name{WorkflowID: word}
	}
	return Name{Operation: strings.TrimSpace(word)}
}

// Find returns the newest run of the named operation, or an error of KindNotFound. An operation that
// was submitted a moment ago may take a second to be found by its id; its workflow id always works.
func (c *Client) Find(ctx context.Context, n Name) (Operation, error) {
	if n.Operation == "" {
		return c.describe(ctx, n.String(), "")
	}
	ops, err := c.List(ctx, Filter{Operation: n.Operation, Limit: 1})
	if err != nil {
		return Operation{}, err
	}
	if len(ops) == 0 {
		return Operation{}, &Error{
			Kind: KindNotFound, Verb: "find", On: n.Operation,
			Msg: "no operation of this id, as far as the server remembers",
		}
	}
	return c.describe(ctx, ops[0].WorkflowID, ops[0].RunID)
}

// describe asks the server itself: what a listing says may be a second old.
func (c *Client) describe(ctx context.Context, workflowID, runID string) (Operation, error) {
	desc, err := c.temporal.DescribeWorkflow(ctx, workflowID, runID)
	if err != nil {
		err = classify(ctx, "find", workflowID, err)
		if e, ok := errors.AsType[*Error](err); ok && e.Kind == KindNotFound {
			e.Msg, e.Err = "no operation is or was working on it, as far as the server remembers", nil
		}
		return Operation{}, err
	}
	return c.operation(desc.RawResponse.GetWorkflowExecutionInfo()), nil
}
