// Package devstack runs the embedded stack of DESIGN §9: everything recap needs on one machine with
// nothing installed but Go. NATS with JetStream runs in this process, a real Temporal development
// server as a child process; both keep their data in one folder and can be started on it again.
//
// What a crash costs: a process that dies loses nothing, for both servers write before they answer.
// A power cut may lose the last moments, for neither waits for the disk on every write.
//
// The package may import contract, the NATS server, the Temporal client and golang.org/x. It runs on
// Unix systems.
package devstack
