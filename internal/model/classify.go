package model

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// Classify judges how a request ended, from everything that is known about it. It returns nil only
// when there is positive evidence of a finished answer. It is pure; the order of its questions is
// that of spec/providers §3.2, first match wins:
//
//  1. Did the caller cancel, or one of the limits run out?
//  2. Did the transport break before a response came?
//  3. Does the provider speak of a rate limit? (before overflow: "too many tokens, please wait")
//  4. Does it use a code or type that means one class only?
//  5. Does it speak of a quota, or of a window that is too small?
//  6. What does the status say?
//  7. Is the answer of a 2xx complete?
func Classify(e Evidence) *Error {
	err := e.classify()
	if err == nil {
		return nil
	}
	err.Candidate = e.Candidate
	err.Status = e.Status
	err.Usage = e.usage()
	if err.RequestID == "" {
		err.RequestID = e.requestID()
	}
	if err.Err == nil {
		err.Err = e.Transport
	}
	return err
}

func (e *Evidence) classify() *Error {
	if err := e.interrupted(); err != nil {
		return err
	}
	if e.failed() {
		return e.classifyFailure()
	}
	if e.Transport != nil {
		return e.classifyTransport()
	}
	return e.classifyAnswer()
}

// failed reports whether the provider itself says that the request failed.
func (e *Evidence) failed() bool {
	return len(e.Failure) > 0 || (e.Status != 0 && (e.Status < 200 || e.Status > 299))
}

// interrupted is step 1. A failure that the provider reported before a limit ran out is worth more
// than the limit, even when its body never came.
func (e *Evidence) interrupted() *Error {
	var limit *TimeoutError
	switch {
	case errors.Is(e.Context, context.Canceled):
		return &Error{Class: ClassCanceled, Phase: e.Phase, Err: e.Context}
	case e.Context != nil:
		return &Error{Class: ClassTimeout, Phase: LimitTotal, Err: e.Context}
	case errors.As(e.Transport, &limit) && !e.failed():
		return &Error{Class: ClassTimeout, Phase: limit.Limit, Err: limit}
	}
	return nil
}

// classifyTransport is step 2, and the same for a body that broke off.
func (e *Evidence) classifyTransport() *Error {
	class := ClassTransient
	switch {
	case errors.Is(e.Transport, ErrTooLarge):
		class = ClassBadOutput
	case e.Phase == PhasePrepare, errors.Is(e.Transport, http.ErrSchemeMismatch):
		class = ClassInvalid // no retry helps: the address or a parameter is wrong
	}
	return &Error{Class: class, Phase: e.Phase}
}

// classifyFailure is steps 3 to 6.
func (e *Evidence) classifyFailure() *Error {
	f := parseFailure(e.Failure, e.Header)
	status := e.Status
	if status >= 200 && status <= 299 {
		status = f.status // the real one, of an error inside a 200; 0 when it does not say
	}
	err := &Error{
		Phase: PhaseBody, Code: f.code, Type: f.kind, RequestID: f.requestID,
		RetryAfter: RetryHint(e.Header, f.message, f.retry, e.Now),
		Excerpt:    Excerpt(f.text(e.Failure), e.Secrets...),
	}
	if e.Status >= 200 && e.Status <= 299 {
		err.Phase = PhaseStream
	}
	err.Class = e.failureClass(&f, status)
	if err.Class == ClassOverflow {
		err.Used, err.Max = f.used, f.max
	}
	if err.Class == ClassRateLimited && f.daily && err.RetryAfter == 0 {
		err.Class = ClassQuota
	}
	return err
}

func (e *Evidence) failureClass(f *failure, status int) Class {
	text := f.message + "\n" + strings.Join(f.words, "\n")
	if rateText.MatchString(text) {
		return f.rateClass()
	}
	if class, ok := exactClass(f.words); ok {
		return e.fit(class, f)
	}
	if quotaText.MatchString(f.message) {
		return ClassQuota
	}
	if overflowText.MatchString(text) {
		f.readNumbers()
		return ClassOverflow
	}
	if bytesText.MatchString(f.message) {
		return e.tooManyBytes()
	}
	if mediaText.MatchString(f.message) {
		return ClassInvalid
	}
	if len(e.Failure) == 0 && (status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge) && e.nearlyFull() {
		return ClassOverflow // some providers refuse a long prompt without a word
	}
	if status == 0 {
		if class, ok := broadClass(f.words); ok {
			return class
		}
		return ClassTransient
	}
	return e.statusClass(status, f)
}

// fit gives a class of the exact table its details.
func (e *Evidence) fit(class Class, f *failure) Class {
	switch class {
	case ClassOverflow:
		f.readNumbers()
	case ClassPayload:
		return e.tooManyBytes()
	}
	return class
}

// tooManyBytes tells a request that is too large in bytes but not in tokens (drop its media) from
// one that is too large in both (DESIGN §7: an estimate under half the window).
func (e *Evidence) tooManyBytes() Class {
	if e.Window > 0 && e.InputTokens*2 >= e.Window {
		return ClassOverflow
	}
	return ClassPayload
}

// nearlyFull reports an estimate over 70 % of the window.
func (e *Evidence) nearlyFull() bool {
	return e.Window > 0 && e.InputTokens*10 > e.Window*7
}

// statusClass is step 6.
func (e *Evidence) statusClass(status int, f *failure) Class {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ClassAuth
	case http.StatusPaymentRequired:
		return ClassQuota
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusFailedDependency, 499:
		return ClassTransient
	case http.StatusRequestEntityTooLarge:
		return e.tooManyBytes()
	case http.StatusTooManyRequests:
		return f.rateClass()
	case http.StatusNotImplemented:
		return ClassUnsupported
	}
	if status >= 500 {
		return ClassTransient
	}
	return ClassInvalid // other 4xx, and redirects, which are never followed
}

// requestID finds the provider's name for the request in its headers.
func (e *Evidence) requestID() string {
	if e.RequestID != "" {
		return e.RequestID
	}
	for _, name := range []string{"request-id", "x-request-id", "x-amzn-requestid", "x-litellm-call-id", "cf-ray"} {
		if id := e.Header.Get(name); id != "" {
			return id
		}
	}
	return ""
}
