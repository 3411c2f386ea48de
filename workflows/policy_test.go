package workflows

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/contract"
	"recap/internal/model"
)

var retryOn = contract.Retry{Enabled: true, MaxRetries: 10, BaseDelayMs: 500, MaxWaitMs: (6 * time.Hour).Milliseconds()}

// TestPolicyTable is the table of DESIGN §7, row by row.
func TestPolicyTable(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		f     failure
		retry contract.Retry
		act   action
		delay time.Duration
	}{
		{"transient waits the base delay", failure{class: classTransient}, retryOn, actRetry, 500 * time.Millisecond},
		{"transient doubles", failure{class: classTransient, tries: 3}, retryOn, actRetry, 4 * time.Second},
		{"backoff is capped at a minute", failure{class: classTransient, tries: 9}, retryOn, actRetry, time.Minute},
		{"a long backoff prefers the next candidate", failure{class: classTransient, tries: 9, hasNext: true}, retryOn, actNext, 0},
		{"transient tries end", failure{class: classTransient, tries: 10}, retryOn, actNext, 0},
		{"a larger hint wins", failure{class: classTransient, hint: 20 * time.Second}, retryOn, actRetry, 20 * time.Second},
		{"rate limited waits a short hint", failure{class: classRateLimited, hint: 30 * time.Second, hasNext: true}, retryOn, actRetry, 30 * time.Second},
		{"a long hint prefers the next candidate", failure{class: classRateLimited, hint: 3 * time.Hour, hasNext: true}, retryOn, actNext, 0},
		{"the last candidate waits a long hint", failure{class: classRateLimited, hint: 3 * time.Hour}, retryOn, actRetry, 3 * time.Hour},
		{"a wait over the cap needs an operator", failure{class: classRateLimited, hint: 7 * time.Hour}, retryOn, actOperator, 0},
		{"waits add up to the cap", failure{class: classRateLimited, hint: 3 * time.Hour, waited: 4 * time.Hour}, retryOn, actOperator, 0},
		{"retries off", failure{class: classTransient}, contract.Retry{}, actNext, 0},
		{"timeout never repeats", failure{class: classTimeout}, retryOn, actNext, 0},
		{"quota never repeats", failure{class: classQuota}, retryOn, actNext, 0},
		{"auth never repeats", failure{class: classAuth}, retryOn, actNext, 0},
		{"refused never repeats", failure{class: classRefused}, retryOn, actNext, 0},
		{"unsupported never repeats", failure{class: classUnsupported}, retryOn, actNext, 0},
		{"invalid never repeats", failure{class: classInvalid}, retryOn, actNext, 0},
		{"overflow never sends the same bytes", failure{class: classOverflow}, retryOn, actNextLarger, 0},
		{"payload goes on", failure{class: classPayload}, retryOn, actNext, 0},
		{"empty asks once more, changed", failure{class: classEmpty}, retryOn, actChange, 0},
		{"empty changes only once", failure{class: classEmpty, changed: true}, retryOn, actNext, 0},
		{"truncated asks once more, changed", failure{class: classTruncated}, retryOn, actChange, 0},
		{"bad output asks once more, changed", failure{class: classBadOutput}, retryOn, actChange, 0},
		{"a refusal by the gate asks once more, changed", failure{class: classGate}, retryOn, actChange, 0},
		{"cancelled stops", failure{class: classCanceled}, retryOn, actStop, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			act, delay := decide(tc.f, tc.retry)
			require.Equal(t, tc.act, act)
			require.Equal(t, tc.delay, delay)
		})
	}
}

// TestPolicyKnowsEveryClass keeps the class names here in step with package model.
func TestPolicyKnowsEveryClass(t *testing.T) {
	t.Parallel()
	here := map[string]bool{}
	for _, c := range []string{
		classTransient, classRateLimited, classTimeout, classQuota, classAuth, classOverflow, classPayload, classRefused,
		classUnsupported, classInvalid, classEmpty, classTruncated, classBadOutput, classCanceled,
	} {
		here[c] = true
	}
	require.Len(t, here, len(model.Classes))
	for _, c := range model.Classes {
		require.True(t, here[string(c)], "class %s is not known to the policy", c)
	}
}

func TestExhaustedChainNamesTheReason(t *testing.T) {
	t.Parallel()
	attempt := func(candidate, class string) contract.Attempt {
		return contract.Attempt{Candidate: candidate, Class: class}
	}
	for _, tc := range []struct {
		name     string
		attempts []contract.Attempt
		state    contract.State
		code     contract.Code
	}{
		{"only the gate's refusal rejects", []contract.Attempt{attempt("a/1", classTransient), attempt("b/1", classGate), attempt("b/1", classEmpty)}, contract.StateRejected, contract.CodeGateRefused},
		{"quota everywhere", []contract.Attempt{attempt("a/1", classQuota), attempt("b/1", classQuota)}, contract.StateNeedsOperator, contract.CodeQuota},
		{"the first candidate names what the operator must cure", []contract.Attempt{attempt("a/1", classAuth), attempt("b/1", classQuota)}, contract.StateNeedsOperator, contract.CodeCredentials},
		{"one ordinary failure among them", []contract.Attempt{attempt("a/1", classAuth), attempt("b/1", classTimeout)}, contract.StateFailed, contract.CodeCandidatesFailed},
		{"overflow everywhere", []contract.Attempt{attempt("a/1", classOverflow), attempt("b/1", classOverflow)}, contract.StateFailed, contract.CodeTooLarge},
		{"the last class of a candidate counts", []contract.Attempt{attempt("a/1", classTransient), attempt("a/1", classQuota)}, contract.StateNeedsOperator, contract.CodeQuota},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			state, code := exhausted(tc.attempts)
			require.Equal(t, tc.state, state)
			require.Equal(t, tc.code, code)
		})
	}
}

func TestTwoVendorsInvalidIsOurBug(t *testing.T) {
	t.Parallel()
	require.False(t, twoVendorsInvalid([]contract.Attempt{{Candidate: "a/1", Class: classInvalid}, {Candidate: "a/2", Class: classInvalid}}))
	require.True(t, twoVendorsInvalid([]contract.Attempt{{Candidate: "a/1", Class: classInvalid}, {Candidate: "b/2", Class: classInvalid}}))
}
