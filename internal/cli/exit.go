package cli

import (
	"context"
	"errors"
	"fmt"

	"recap/internal/blob"
	"recap/internal/client"
	"recap/internal/client/record"
	"recap/internal/config"
	"recap/internal/contract"
	"recap/internal/devstack"
	"recap/internal/session"
	"recap/internal/store"
)

// Exit codes of both programs (DESIGN §9).
const (
	exitOK          = 0   // done, or nothing to do
	exitFailed      = 1   // failed
	exitUsage       = 2   // usage or configuration
	exitRejected    = 3   // rejected by the gate
	exitNoop        = 4   // nothing to do, with --fail-on-noop
	exitNotFound    = 5   // not found
	exitStale       = 6   // stale, or a live writer
	exitPartial     = 7   // part of a batch failed
	exitTemporary   = 75  // needs an operator, or a server is away
	exitCredentials = 77  // credentials
	exitTimeout     = 124 // timed out waiting, the work goes on
	exitInterrupted = 130 // interrupted
)

// usageError marks what the caller typed wrongly; only its own line is printed.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// exitError carries an exit code that was decided where the result was printed. A nil err prints
// nothing more.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitWith returns nil for code 0, else an error that ends the program with the code and no further
// words: everything was said in the output.
func exitWith(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// errTimeout is the cause of a context that --timeout ended; errInterrupted of one a signal ended.
var (
	errTimeout     = errors.New("timed out waiting")
	errInterrupted = errors.New("interrupted")
)

// exitOf is the exit code of an error.
func exitOf(err error) int {
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	switch {
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, errTimeout):
		return exitTimeout
	case isType[*usageError](err), isType[*config.Error](err):
		return exitUsage
	case isType[*config.SecretError](err):
		return exitCredentials
	case isType[*record.NoCompactionError](err), isType[*session.PathError](err):
		return exitFailed
	case errors.Is(err, errStackEnded), isType[*devstack.InUseError](err), errors.Is(err, devstack.ErrNoProgram):
		return exitTemporary
	case errors.Is(err, record.ErrNone), errors.Is(err, blob.ErrNotFound):
		return exitNotFound
	}
	if code, ok := clientExits[client.KindOf(err)]; ok {
		return code
	}
	if code, ok := storeExits[store.KindOf(err)]; ok {
		return code
	}
	return exitFailed
}

var clientExits = map[client.Kind]int{
	client.KindNotFound:    exitNotFound,
	client.KindUnavailable: exitTemporary,
	client.KindCredentials: exitCredentials,
	client.KindInvalid:     exitUsage,
	client.KindClosed:      exitOK, // nothing to do; --fail-on-noop makes it exitNoop
	client.KindLost:        exitFailed,
	client.KindInternal:    exitFailed,
}

var storeExits = map[store.Kind]int{
	store.KindNotFound:   exitNotFound,
	store.KindNotSession: exitFailed,
	store.KindDamaged:    exitFailed,
	store.KindUnreadable: exitFailed,
	store.KindReadOnly:   exitFailed,
	store.KindNoSpace:    exitFailed,
	store.KindIO:         exitFailed,
	store.KindOutside:    exitUsage,
	store.KindConflict:   exitStale,
	store.KindBusy:       exitStale,
}

// exitOfOutcome is the exit code of an operation that has ended. The state decides it; the reason
// only tells a session in use from one with nothing to do, and credentials from other needs.
func exitOfOutcome(o contract.Outcome, failOnNoop bool) int {
	switch o.State {
	case contract.StateCommitted, contract.StateReturned:
		return exitOK
	case contract.StateSkipped:
		return exitOfSkip(o.Reason, failOnNoop)
	case contract.StateStale:
		return exitStale
	case contract.StateRejected:
		return exitRejected
	case contract.StateNeedsOperator:
		if o.Reason == contract.CodeCredentials {
			return exitCredentials
		}
		return exitTemporary
	case contract.StateCancelled:
		return exitInterrupted
	case contract.StateFailed:
		if o.Reason == contract.CodeSessionNotFound {
			return exitNotFound
		}
	}
	return exitFailed
}

func exitOfSkip(reason contract.Code, failOnNoop bool) int {
	switch reason {
	case contract.CodeLiveWriter, contract.CodeBusy, contract.CodeCallInFlight:
		return exitStale
	case contract.CodeAlreadyApplied:
		return exitOK
	}
	if failOnNoop {
		return exitNoop
	}
	return exitOK
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
