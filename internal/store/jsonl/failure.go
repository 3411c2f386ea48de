package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"recap/internal/session"
	"recap/internal/store"
)

// fail makes the error of a session.
func fail(kind store.Kind, id string, cause error, format string, args ...any) error {
	return &store.Error{Kind: kind, ID: id, Msg: fmt.Sprintf(format, args...), Err: cause}
}

// openError types a failure to reach a file for reading.
func openError(id string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL): // no name a file can have
		return fail(store.KindNotFound, id, nil, "no such session")
	case errors.Is(err, fs.ErrPermission):
		return fail(store.KindUnreadable, id, err, "may not be read; check its permissions")
	}
	return fail(store.KindUnreadable, id, err, "cannot be opened")
}

// readError types a failure while reading; errors of the store and of the context stay as they are.
func readError(id string, err error) error {
	var known *store.Error
	var other *session.NotSessionError
	switch {
	case errors.As(err, &other):
		return fail(store.KindNotSession, id, err, "cannot be used")
	case errors.Is(err, syscall.EISDIR):
		return fail(store.KindNotSession, id, nil, "is a folder; name a session file in it")
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case isShort(err):
		return fail(store.KindUnreadable, id, nil, "is being rewritten by somebody else; try again when it is quiet")
	}
	return fail(store.KindUnreadable, id, err, "cannot be read")
}

// isShort reports that a file ended before the size it had.
func isShort(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// writeError types a failure while writing; step says what was being done.
func writeError(id, step string, err error) error {
	var known *store.Error
	switch {
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fail(store.KindNoSpace, id, err, "%s: no space left; free some and retry", step)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fail(store.KindReadOnly, id, err, "%s: not allowed; check the permissions of the file and its folder", step)
	case errors.Is(err, fs.ErrNotExist):
		return fail(store.KindNotFound, id, err, "%s: it is gone", step)
	}
	return fail(store.KindIO, id, err, "%s", step)
}

// also adds a failure of tidying up to an error, on the same line.
func also(err, more error) error {
	switch {
	case more == nil:
		return err
	case err == nil:
		return more
	}
	return fmt.Errorf("%w; also: %w", err, more)
}
