package service

import (
	"context"
	"encoding/json"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"recap/internal/blob"
	blobmem "recap/internal/blob/mem"
	"recap/internal/client"
	"recap/internal/client/record"
	"recap/internal/contract"
	"recap/internal/store"
)

// fakeOperations records what it is asked and answers from fields.
type fakeOperations struct {
	submitted chan contract.Request
	named     chan client.Name
	err       error
	hold      chan struct{} // Submit waits for it, when set
}

func (f *fakeOperations) Submit(ctx context.Context, r contract.Request) (client.Accepted, error) {
	if f.hold != nil {
		select {
		case <-f.hold:
		case <-ctx.Done():
		}
	}
	f.submitted <- r
	return client.Accepted{WorkflowID: contract.CompactID(r.Session), Operation: r.RequestID}, f.err
}

func (f *fakeOperations) Retry(_ context.Context, n client.Name) (client.Retried, error) {
	f.named <- n
	return client.Retried{Attempt: 2}, f.err
}

func (f *fakeOperations) Cancel(_ context.Context, n client.Name) (client.Accepted, error) {
	f.named <- n
	return client.Accepted{Operation: n.Operation}, f.err
}

func (f *fakeOperations) Status(_ context.Context, n client.Name) (client.Standing, error) {
	f.named <- n
	return client.Standing{Progress: contract.Status{Phase: contract.PhaseWaiting}}, f.err
}

type fixture struct {
	ops   *fakeOperations
	blobs blob.Driver
	conn  *nats.Conn
}

// startBus runs a NATS server; stop it, or leave it to the end of the test.
func startBus(t *testing.T, port int) (bus *server.Server, stop func()) {
	t.Helper()
	bus, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true})
	require.NoError(t, err)
	bus.Start()
	stop = func() { bus.Shutdown(); bus.WaitForShutdown() }
	t.Cleanup(stop)
	require.True(t, bus.ReadyForConnections(10*time.Second))
	return bus, stop
}

func start(t *testing.T) fixture {
	t.Helper()
	bus, _ := startBus(t, server.RANDOM_PORT)
	connect := func() *nats.Conn {
		conn, err := nats.Connect(bus.ClientURL())
		require.NoError(t, err)
		t.Cleanup(conn.Close)
		return conn
	}
	f := fixture{
		ops:   &fakeOperations{submitted: make(chan contract.Request, 10), named: make(chan client.Name, 10)},
		blobs: blobmem.New(), conn: connect(),
	}
	s, err := Start(Config{
		Conn: connect(), Client: f.ops, Blobs: f.blobs, Tenant: "acme", Version: "v1.2",
		Resolve: func(_ context.Context, name string) (contract.SessionRef, error) {
			if name == "gone" {
				return contract.SessionRef{}, &store.Error{Kind: store.KindNotFound, ID: name, Msg: "no such session"}
			}
			return contract.SessionRef{Tenant: "acme", Store: "local", ID: name}, nil
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return f
}

// call sends a command and returns the body, or the error code of the reply.
func (f fixture) call(t *testing.T, verb, body string) (data []byte, code string) {
	t.Helper()
	reply, err := f.conn.Request(Prefix+"."+verb, []byte(body), 10*time.Second)
	require.NoError(t, err)
	return reply.Data, reply.Header.Get(micro.ErrorCodeHeader)
}

func TestCompactAcceptsASessionByNameAndByReference(t *testing.T) {
	t.Parallel()
	f := start(t)
	data, code := f.call(t, "compact", `{"session":"s1","requestId":"r1","reason":"threshold","writer":"none"}`)
	require.Empty(t, code)
	require.JSONEq(t, `{"workflowId":"compact/acme/local/s1","runId":"","operation":"r1","joined":false}`, string(data))
	got := <-f.ops.submitted
	require.Equal(t, contract.ReasonThreshold, got.Reason)
	require.Equal(t, contract.WriterNone, got.Writer)

	_, code = f.call(t, "compact", `{"session":{"store":"other","id":"s2"}}`)
	require.Empty(t, code)
	got = <-f.ops.submitted
	require.Equal(t, contract.SessionRef{Tenant: "acme", Store: "other", ID: "s2"}, got.Session)
	require.NotEmpty(t, got.RequestID, "a request without an id is an operation of its own")
}

func TestBadCommandsAreRefusedWithACode(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, tc := range []struct{ verb, body, want string }{
		{"compact", `not json`, "400"},
		{"compact", `{"session":"s1","reazon":"manual"}`, "400"},
		{"compact", `{"session":{"store":"x"}}`, "400"},
		{"compact", `{"session":"gone"}`, "404"},
		{"status", `{}`, "400"},
		{"result", `{}`, "400"},
		{"result", `{"operation":"never"}`, "404"},
		{"blob", `{"digest":"../../etc/passwd"}`, "400"},
		{"blob", `{"digest":"` + string(blob.Of([]byte("absent"))) + `"}`, "404"},
	} {
		_, code := f.call(t, tc.verb, tc.body)
		require.Equal(t, tc.want, code, "%s %s", tc.verb, tc.body)
	}
}

func TestFailuresOfTheClientHaveCodes(t *testing.T) {
	t.Parallel()
	for kind, want := range map[client.Kind]string{
		client.KindNotFound: "404", client.KindUnavailable: "503", client.KindCredentials: "401", client.KindInvalid: "400",
		client.KindClosed: "409", client.KindLost: "409", client.KindInternal: "500",
	} {
		code, text := failure(&client.Error{Kind: kind, Verb: "retry", On: "op", Msg: "two\nlines"})
		require.Equal(t, want, code, kind)
		require.NotContains(t, text, "\n")
	}
}

func TestNamedVerbsPassTheNameOn(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, verb := range []string{"retry", "cancel", "status"} {
		_, code := f.call(t, verb, `{"operation":"op-1"}`)
		require.Empty(t, code)
		require.Equal(t, client.Name{Operation: "op-1"}, <-f.ops.named)
		_, code = f.call(t, verb, `{"session":"s1"}`)
		require.Empty(t, code)
		require.Equal(t, "s1", (<-f.ops.named).Session.ID)
	}
}

func TestResultReturnsTheCompaction(t *testing.T) {
	t.Parallel()
	f := start(t)
	before := 1234
	f.finish(t, contract.Outcome{
		Operation: "op-1", Attempt: 2, State: contract.StateReturned, FirstKeptEntryID: "e7", TokensBefore: &before,
	}, "the summary")
	data, code := f.call(t, "result", `{"operation":"op-1"}`)
	require.Empty(t, code)
	var got record.Compaction
	require.NoError(t, json.Unmarshal(data, &got))
	require.Equal(t, "the summary", got.Summary)
	require.Equal(t, "e7", got.FirstKeptEntryID)
	require.Equal(t, &before, got.TokensBefore)
	require.JSONEq(t, `{"operation":"op-1","attempt":2}`, gjson.GetBytes(got.Details, "recap").Raw)

	f.finish(t, contract.Outcome{Operation: "op-2", State: contract.StateRejected, Message: "no"}, "")
	_, code = f.call(t, "result", `{"operation":"op-2"}`)
	require.Equal(t, "409", code)
}

// finish files a receipt as the last step of an operation does.
func (f fixture) finish(t *testing.T, out contract.Outcome, summary string) {
	t.Helper()
	ctx := t.Context()
	if summary != "" {
		d, err := f.blobs.Put(ctx, []byte(summary))
		require.NoError(t, err)
		out.Summary = string(d)
	}
	data, err := json.Marshal(contract.Receipt{Version: contract.ReceiptVersion, Outcome: out})
	require.NoError(t, err)
	d, err := f.blobs.Put(ctx, data)
	require.NoError(t, err)
	require.NoError(t, f.blobs.Relink(ctx, contract.OperationBlob("acme", out.Operation), d))
}

func TestBlobReturnsTheBytes(t *testing.T) {
	t.Parallel()
	f := start(t)
	d, err := f.blobs.Put(t.Context(), []byte("raw \x00 bytes"))
	require.NoError(t, err)
	data, code := f.call(t, "blob", `{"digest":"`+string(d)+`"}`)
	require.Empty(t, code)
	require.Equal(t, "raw \x00 bytes", string(data))

	big, err := f.blobs.Put(t.Context(), make([]byte, f.conn.MaxPayload()+1))
	require.NoError(t, err)
	_, code = f.call(t, "blob", `{"digest":"`+string(big)+`"}`)
	require.Equal(t, "413", code)
}

// One command that waits must not hold the others back.
func TestCommandsDoNotQueueBehindEachOther(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.ops.hold = make(chan struct{})
	inbox := nats.NewInbox()
	sub, err := f.conn.SubscribeSync(inbox)
	require.NoError(t, err)
	require.NoError(t, f.conn.PublishRequest(Prefix+".compact", inbox, []byte(`{"session":"slow"}`)))
	_, code := f.call(t, "status", `{"operation":"op-1"}`)
	require.Empty(t, code)
	close(f.ops.hold)
	_, err = sub.NextMsg(10 * time.Second)
	require.NoError(t, err)
}

// NATS being away at the start delays commands and fails nothing.
func TestServiceStartsWhileNATSIsAway(t *testing.T) {
	t.Parallel()
	bus, stop := startBus(t, server.RANDOM_PORT)
	url, port := bus.ClientURL(), bus.Addr().(*net.TCPAddr).Port
	stop()
	conn, err := nats.Connect(url, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.ReconnectWait(10*time.Millisecond))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	ops := &fakeOperations{named: make(chan client.Name, 100)}
	s, err := Start(Config{
		Conn: conn, Client: ops, Blobs: blobmem.New(), Tenant: "acme",
		Resolve: func(context.Context, string) (contract.SessionRef, error) { return contract.SessionRef{}, nil },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })

	startBus(t, port)
	caller, err := nats.Connect(url)
	require.NoError(t, err)
	t.Cleanup(caller.Close)
	require.Eventually(t, func() bool { // the connection comes back when it comes back
		reply, err := caller.Request(Prefix+".status", []byte(`{"operation":"op-1"}`), time.Second)
		return err == nil && reply.Header.Get(micro.ErrorCodeHeader) == ""
	}, 10*time.Second, 20*time.Millisecond)
}

func TestServiceIsDiscoverable(t *testing.T) {
	t.Parallel()
	f := start(t)
	reply, err := f.conn.Request("$SRV.INFO."+Name, nil, 10*time.Second)
	require.NoError(t, err)
	var info micro.Info
	require.NoError(t, json.Unmarshal(reply.Data, &info))
	require.Equal(t, "0.0.0", info.Version, "discovery wants a semantic version")
	subjects := map[string]bool{}
	for _, e := range info.Endpoints {
		subjects[e.Subject] = true
	}
	for _, verb := range []string{"compact", "retry", "cancel", "status", "result", "blob"} {
		require.True(t, subjects[Prefix+"."+verb], verb)
	}
}
