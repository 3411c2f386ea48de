// Package client is the calling side of recap's operations: submit one, wait for its outcome, ask
// what it is doing, list, retry and cancel. It talks to a Temporal server and has no user interface.
// The NATS face of the same verbs is in the sub-package service.
//
// It may import contract and the Temporal SDK, nothing else of ours.
package client
