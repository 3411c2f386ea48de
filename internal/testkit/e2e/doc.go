// Package e2e holds the end-to-end and crash tests: the real binaries' parts on a real Temporal
// server process and NATS, with the scripted model server as provider (DESIGN §10). Each test has a
// Temporal namespace, a session store and a blob store of its own, so all may run at once.
//
// The suite needs a temporal program (see devstack.LookProgram; `make tools` gets one). Without one
// it is skipped, and fails where CI=true.
package e2e
