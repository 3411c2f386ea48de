package workflows

import (
	"time"

	"recap/internal/contract"
)

// Error classes as the workflow reads them from results; the strings are those of package model,
// which workflows may not import. TestPolicyKnowsEveryClass keeps the two in step.
const (
	classTransient   = "transient"
	classRateLimited = "rateLimited"
	classTimeout     = "timeout"
	classQuota       = "quota"
	classAuth        = "auth"
	classOverflow    = "overflow"
	classPayload     = "payload"
	classRefused     = "refused"
	classUnsupported = "unsupported"
	classInvalid     = "invalid"
	classEmpty       = "empty"
	classTruncated   = "truncated"
	classBadOutput   = "badOutput"
	classCanceled    = "canceled"
	classGate        = "gate" // the gate refused a complete answer
)

const (
	// longDelay is the delay beyond which the next candidate, if there is one, is asked instead.
	longDelay = 30 * time.Second
	// maxBackoff caps the delay between tries that no server hint lengthens.
	maxBackoff = 60 * time.Second
	// maxFailedAttempts bounds the failed model requests of one run.
	maxFailedAttempts = 60
)

// action is what the chain does after a failed attempt.
type action int

const (
	// actRetry asks the same candidate for the same thing after delay.
	actRetry action = iota
	// actChange asks the same candidate once more for another answer: the next sample ordinal, with
	// a larger output cap and less thinking.
	actChange
	// actNext goes to the next candidate.
	actNext
	// actNextLarger goes to the next candidate with a larger window.
	actNextLarger
	// actOperator ends the run: the wait would be longer than the cap.
	actOperator
	// actStop ends the run as cancelled.
	actStop
)

// failure is what decide needs to know about a failed attempt.
type failure struct {
	class   string
	hint    time.Duration // the server's retry hint, 0 = none
	tries   int           // failed tries of this candidate that were answered with actRetry, this one not counted
	changed bool          // actChange was used on this candidate already
	hasNext bool          // a further admitted candidate is left
	waited  time.Duration // durable waits on this candidate so far
}

// decide is the table of DESIGN §7. It is the only place that says what follows a failed attempt.
func decide(f failure, retry contract.Retry) (action, time.Duration) {
	switch f.class {
	case classCanceled:
		return actStop, 0
	case classTransient, classRateLimited:
		return decideDelay(f, retry)
	case classOverflow:
		return actNextLarger, 0
	case classEmpty, classTruncated, classBadOutput, classGate:
		if !f.changed && retry.Enabled {
			return actChange, 0
		}
		return actNext, 0
	default: // timeout, quota, auth, refused, unsupported, invalid, payload, and classes not known here
		return actNext, 0
	}
}

func decideDelay(f failure, retry contract.Retry) (action, time.Duration) {
	if !retry.Enabled || f.tries >= retry.MaxRetries {
		return actNext, 0
	}
	delay := max(backoff(f.tries, retry), f.hint)
	if delay > longDelay && f.hasNext {
		return actNext, 0
	}
	if f.waited+delay > time.Duration(retry.MaxWaitMs)*time.Millisecond {
		return actOperator, 0
	}
	return actRetry, delay
}

// backoff is the delay after the given number of earlier tries: base, doubling, capped.
func backoff(tries int, retry contract.Retry) time.Duration {
	delay := time.Duration(retry.BaseDelayMs) * time.Millisecond
	for range tries {
		if delay >= maxBackoff {
			break
		}
		delay *= 2
	}
	return min(delay, maxBackoff)
}

// exhausted says how a run ends whose chain has no candidate left, from the attempts it made: the
// gate's refusal of a complete answer outweighs the rest, then what an operator can cure when every
// candidate ended so, else the run failed (DESIGN §4, §7).
func exhausted(attempts []contract.Attempt) (contract.State, contract.Code) {
	last := map[string]string{} // candidate → class of its last attempt
	for _, a := range attempts {
		if a.Class == classGate {
			return contract.StateRejected, contract.CodeGateRefused
		}
		if a.Class != "" {
			last[a.Candidate] = a.Class
		}
	}
	operator := contract.CodeNone
	overflow := len(last) > 0
	for _, a := range attempts { // in order, so that the first candidate names the reason
		class := last[a.Candidate]
		if class != classOverflow {
			overflow = false
		}
		code, ok := operatorCode(class)
		if !ok {
			operator = contract.CodeNone
			break
		}
		if operator == contract.CodeNone {
			operator = code
		}
	}
	switch {
	case operator != contract.CodeNone:
		return contract.StateNeedsOperator, operator
	case overflow:
		return contract.StateFailed, contract.CodeTooLarge
	default:
		return contract.StateFailed, contract.CodeCandidatesFailed
	}
}

// operatorCode maps a class that only an operator can cure to its reason code.
func operatorCode(class string) (contract.Code, bool) {
	switch class {
	case classQuota:
		return contract.CodeQuota, true
	case classAuth:
		return contract.CodeCredentials, true
	case classRateLimited:
		return contract.CodeRateLimited, true
	}
	return contract.CodeNone, false
}

// twoVendorsInvalid reports whether candidates of two different providers called the request
// invalid: then the request is wrong, and asking on would only repeat our bug.
func twoVendorsInvalid(attempts []contract.Attempt) bool {
	vendor := ""
	for _, a := range attempts {
		if a.Class != classInvalid {
			continue
		}
		v := vendorOf(a.Candidate)
		if vendor != "" && v != vendor {
			return true
		}
		vendor = v
	}
	return false
}

// vendorOf is the provider half of provider/model.
func vendorOf(candidate string) string {
	for i := range len(candidate) {
		if candidate[i] == '/' {
			return candidate[:i]
		}
	}
	return candidate
}
