package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Kind classifies what a call can fail with; match with KindOf, never by text.
type Kind string

// Failure kinds of a client.
const (
	KindNotFound    Kind = "notFound"    // no such operation
	KindUnavailable Kind = "unavailable" // the server is away or too busy: trying later makes sense
	KindCredentials Kind = "credentials" // the server refused who we are
	KindInvalid     Kind = "invalid"     // the request is wrong and stays wrong
	KindClosed      Kind = "closed"      // the operation is over: nothing to signal, cancel or retry
	KindLost        Kind = "lost"        // the run was terminated or timed out, so it left no outcome
	KindInternal    Kind = "internal"    // anything else
)

// Error is a failed call: one line that says what failed, on what, and what to do.
type Error struct {
	Kind Kind
	Verb string // what was tried: submit, wait, status, …
	On   string // operation, session or address
	Msg  string
	Err  error // cause, may be nil
}

func (e *Error) Error() string {
	msg := e.Verb
	if e.On != "" {
		msg += " " + e.On
	}
	msg += ": " + e.Msg
	if e.Err != nil && (e.Kind == KindInvalid || e.Kind == KindInternal) { // else the kind says it all
		msg += ": " + e.Err.Error()
	}
	return msg
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of a client error, or "" for any other.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// skew is how much earlier than the caller a server may end a call at the caller's own deadline.
const skew = 2 * time.Second

// classify wraps a failure of the Temporal client. A context that ended by the caller's own will is
// passed on untouched, so that callers can tell a timeout or an interrupt of their own from a server
// that is away.
func classify(ctx context.Context, verb, on string, err error) error {
	if err == nil {
		return nil
	}
	if deadline, ok := ctx.Deadline(); ok && is[*serviceerror.DeadlineExceeded](err) && time.Until(deadline) < skew {
		<-ctx.Done() // the server was told the caller's deadline and keeps it by its own clock
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s %s: %w", verb, on, context.Cause(ctx))
	}
	kind, msg := kindOf(err)
	return &Error{Kind: kind, Verb: verb, On: on, Msg: msg, Err: err}
}

func kindOf(err error) (Kind, string) {
	switch {
	case is[*serviceerror.NotFound](err), is[*serviceerror.NamespaceNotFound](err):
		return KindNotFound, "the server does not know it"
	case is[*serviceerror.PermissionDenied](err):
		return KindCredentials, "the Temporal server refused the credentials"
	case is[*serviceerror.InvalidArgument](err), is[*serviceerror.FailedPrecondition](err), is[*serviceerror.QueryFailed](err):
		return KindInvalid, "the Temporal server refused the request"
	case is[*serviceerror.Unavailable](err), is[*serviceerror.ResourceExhausted](err), is[*serviceerror.DeadlineExceeded](err),
		is[*serviceerror.NamespaceUnavailable](err), is[*serviceerror.Canceled](err), is[*serviceerror.WorkflowNotReady](err),
		errors.Is(err, context.DeadlineExceeded):
		return KindUnavailable, "the Temporal server does not answer"
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted:
		return KindUnavailable, "the Temporal server does not answer"
	case codes.Unauthenticated, codes.PermissionDenied:
		return KindCredentials, "the Temporal server refused the credentials"
	default:
		return KindInternal, "the call failed"
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
