// Package tokens sizes text, messages and contexts in tokens, and resolves when a context is too
// full (spec/summary §2). Two estimates live side by side: Text and Message are the plain byte rule
// that the documented thresholds and cut points are defined by; Conservative is for fitting a request
// into a window and must not fall short of what a real tokenizer counts.
//
// It is pure: no I/O, no clock. It may import session and contract, and the standard library.
package tokens
