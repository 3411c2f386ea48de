// Package provider is a strict, scripted model server for tests. It speaks two wire formats on a
// loopback port of its own: OpenAI-compatible chat completions (POST /v1/chat/completions) and
// Anthropic messages (POST /v1/messages).
//
// It is strict so that a client cannot pass here and fail at a vendor: credentials, required and
// unknown fields, roles and their order, tool pairing and the window are checked, and refused in the
// vendor's own words. It counts and keeps every request. A script decides each answer and injects
// faults: bad statuses, broken connections, streams that stop, answers that are none.
//
//	p := provider.New(t)                                  // good summaries
//	p := provider.New(t, provider.Status(529, ""), provider.GoodSummary)
//	p, err := provider.Start(func(r provider.Request) provider.Step { … }) // without a test
//
// Give a client p.OpenAI() or p.Anthropic() as base URL and provider.Key as key. The server needs no
// test around it, so worker processes can talk to it by URL.
//
// The package imports the standard library, gjson and testify; nothing of ours.
package provider
