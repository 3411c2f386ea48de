package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"recap/internal/blob"
	"recap/internal/client"
	"recap/internal/client/record"
	"recap/internal/store"
)

// badRequest marks a command that stays wrong however often it is sent.
type badRequest struct{ err error }

func (e *badRequest) Error() string { return "bad request: " + e.err.Error() }
func (e *badRequest) Unwrap() error { return e.err }

// tooLarge marks an answer that the bus does not carry.
type tooLarge struct {
	size  int
	limit int64
}

func (e *tooLarge) Error() string {
	return fmt.Sprintf("the answer has %d bytes, the NATS server carries %d; read it from the blob store", e.size, e.limit)
}

// Codes of the Nats-Service-Error-Code header, numbered as HTTP numbers them.
const (
	codeBadRequest  = "400"
	codeCredentials = "401"
	codeNotFound    = "404"
	codeConflict    = "409"
	codeTooLarge    = "413"
	codeInternal    = "500"
	codeUnavailable = "503"
)

// failure is the service's error table. The text goes into a header, so it is one line.
func failure(err error) (code, text string) {
	text = strings.Join(strings.Fields(err.Error()), " ")
	if _, ok := errors.AsType[*badRequest](err); ok {
		return codeBadRequest, text
	}
	if _, ok := errors.AsType[*tooLarge](err); ok {
		return codeTooLarge, text
	}
	if _, ok := errors.AsType[*record.NoCompactionError](err); ok {
		return codeConflict, text
	}
	switch client.KindOf(err) {
	case client.KindNotFound:
		return codeNotFound, text
	case client.KindUnavailable:
		return codeUnavailable, text
	case client.KindCredentials:
		return codeCredentials, text
	case client.KindInvalid:
		return codeBadRequest, text
	case client.KindClosed, client.KindLost:
		return codeConflict, text
	}
	switch store.KindOf(err) {
	case store.KindNotFound:
		return codeNotFound, text
	case store.KindNotSession, store.KindOutside:
		return codeBadRequest, text
	}
	switch {
	case errors.Is(err, record.ErrNone), errors.Is(err, blob.ErrNotFound):
		return codeNotFound, text
	case errors.Is(err, context.DeadlineExceeded):
		return codeUnavailable, text
	default:
		return codeInternal, text
	}
}
