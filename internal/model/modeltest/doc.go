// Package modeltest is the conformance suite of model.Client. Every adapter that speaks HTTP runs
// it in its own tests, against the strict server of testkit/provider, so that all of them give the
// same answer to the same fault: the same class, one request, the same usage (spec/providers §1.2,
// §3.3; cases T3 and T8).
package modeltest
