package nats_test

import (
	"context"
	"net"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"recap/internal/event"
	"recap/internal/event/eventtest"
	"recap/internal/event/nats"
)

// broker is a NATS server in this process that can go away and come back on the same port and data.
type broker struct {
	t    *testing.T
	dir  string
	port int
	ns   *server.Server
}

func newBroker(t *testing.T) *broker {
	t.Helper()
	b := &broker{t: t, dir: t.TempDir(), port: server.RANDOM_PORT}
	b.up()
	b.port = b.ns.Addr().(*net.TCPAddr).Port
	t.Cleanup(b.down)
	return b
}

func (b *broker) up() {
	b.t.Helper()
	ns, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: b.port, JetStream: true, StoreDir: filepath.Join(b.dir, "js"), NoSigs: true, NoLog: true,
	})
	require.NoError(b.t, err)
	go ns.Start()
	require.True(b.t, ns.ReadyForConnections(10*time.Second))
	b.ns = ns
}

func (b *broker) down() {
	b.ns.Shutdown()
	b.ns.WaitForShutdown()
}

func (b *broker) setAway(away bool) {
	if away {
		b.down()
	} else {
		b.up()
	}
}

func (b *broker) url() string { return "nats://127.0.0.1:" + strconv.Itoa(b.port) }

func connect(t *testing.T, url string) *natsgo.Conn {
	t.Helper()
	conn, err := nats.Connect(nats.Options{URL: url})
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

func publisher(t *testing.T, conn *natsgo.Conn, o nats.StreamOptions) *nats.Publisher {
	t.Helper()
	p, err := nats.NewPublisher(conn, o)
	require.NoError(t, err)
	return p
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func streamConfig(t *testing.T, conn *natsgo.Conn) jetstream.StreamConfig {
	t.Helper()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	s, err := js.Stream(limited(t), nats.StreamName)
	require.NoError(t, err)
	return s.CachedInfo().Config
}

func TestConformance(t *testing.T) {
	t.Parallel()
	eventtest.Run(t, func(t *testing.T) eventtest.Bus {
		b := newBroker(t)
		conn := connect(t, b.url())
		s, err := nats.NewSubscriber(conn, nats.StreamOptions{})
		require.NoError(t, err)
		return eventtest.Bus{Publisher: publisher(t, conn, nats.StreamOptions{}), Subscriber: s, SetAway: b.setAway}
	})
}

func TestMessageCarriesItsAttributesAsHeaders(t *testing.T) {
	t.Parallel()
	conn := connect(t, newBroker(t).url())
	m := eventtest.Message(t, "a", "op", 1)
	require.NoError(t, publisher(t, conn, nats.StreamOptions{}).Publish(limited(t), m))
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	s, err := js.Stream(limited(t), nats.StreamName)
	require.NoError(t, err)
	got, err := s.GetMsg(limited(t), 1)
	require.NoError(t, err)
	require.Equal(t, m.Subject, got.Subject)
	require.Equal(t, m.Body, got.Data)
	require.Equal(t, m.ID, got.Header.Get("Nats-Msg-Id"))
	for k, v := range m.Headers {
		require.Equal(t, v, got.Header.Get(k), k)
	}
}

// Nothing needs NATS at start: the connection is made when it comes.
func TestConnectBeforeTheServer(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	b.down()
	p := publisher(t, connect(t, b.url()), nats.StreamOptions{})
	m := eventtest.Message(t, "a", "op", 1)
	start := time.Now()
	require.ErrorIs(t, p.Publish(limited(t), m), event.ErrUnavailable)
	require.Less(t, time.Since(start), time.Second)
	b.up()
	require.Eventually(t, func() bool { return p.Publish(limited(t), m) == nil }, 20*time.Second, 20*time.Millisecond)
}

// A server that takes connections and never answers holds a publish no longer than its context.
func TestPublishToADeafServerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	conn := connect(t, b.url())
	p := publisher(t, conn, nats.StreamOptions{})
	require.NoError(t, p.Publish(limited(t), eventtest.Message(t, "a", "op", 1)))
	require.NoError(t, b.ns.DisableJetStream())
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	require.Error(t, p.Publish(ctx, eventtest.Message(t, "a", "op", 2)))
	require.Less(t, time.Since(start), 2*time.Second)
}

// The stream is made again when it is gone: an event is never reported published without it.
func TestDeletedStreamIsMadeAgain(t *testing.T) {
	t.Parallel()
	conn := connect(t, newBroker(t).url())
	p := publisher(t, conn, nats.StreamOptions{})
	require.NoError(t, p.Publish(limited(t), eventtest.Message(t, "a", "op", 1)))
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(limited(t), nats.StreamName))
	require.NoError(t, p.Publish(limited(t), eventtest.Message(t, "a", "op", 2)))
	require.Equal(t, []string{event.Subjects}, streamConfig(t, conn).Subjects)
}

// Another stream on the same subjects is not ours, and its acknowledgement not worth anything.
func TestAcknowledgementOfAnotherStreamIsAnError(t *testing.T) {
	t.Parallel()
	conn := connect(t, newBroker(t).url())
	p := publisher(t, conn, nats.StreamOptions{})
	require.NoError(t, p.Publish(limited(t), eventtest.Message(t, "a", "op", 1)))
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(limited(t), nats.StreamName))
	_, err = js.CreateStream(limited(t), jetstream.StreamConfig{Name: "OTHER", Subjects: []string{"recap.>"}})
	require.NoError(t, err)
	require.ErrorContains(t, p.Publish(limited(t), eventtest.Message(t, "a", "op", 2)), "OTHER")
}

func TestStreamIsAsTheOptionsSay(t *testing.T) {
	t.Parallel()
	conn := connect(t, newBroker(t).url())
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	require.NoError(t, nats.EnsureStream(limited(t), js, nats.StreamOptions{}))
	have := streamConfig(t, conn)
	require.Equal(t, jetstream.FileStorage, have.Storage)
	require.Equal(t, nats.DefaultMaxAge, have.MaxAge)
	require.Equal(t, nats.Window, have.Duplicates)

	have.MaxBytes = 1 << 20 // an operator's own limit
	_, err = js.UpdateStream(limited(t), have)
	require.NoError(t, err)
	require.NoError(t, nats.EnsureStream(limited(t), js, nats.StreamOptions{MaxAge: 2 * time.Hour}))
	have = streamConfig(t, conn)
	require.Equal(t, 2*time.Hour, have.MaxAge)
	require.Equal(t, 2*time.Hour, have.Duplicates, "the window cannot exceed the age")
	require.EqualValues(t, 1<<20, have.MaxBytes)
}

func TestStoppedSubscriptionLeavesNoConsumer(t *testing.T) {
	t.Parallel()
	conn := connect(t, newBroker(t).url())
	s, err := nats.NewSubscriber(conn, nats.StreamOptions{})
	require.NoError(t, err)
	sub, err := s.Subscribe(limited(t), event.Filter{}, event.StartNew)
	require.NoError(t, err)
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	consumers := func() int {
		stream, err := js.Stream(limited(t), nats.StreamName)
		require.NoError(t, err)
		return stream.CachedInfo().State.Consumers
	}
	require.Equal(t, 1, consumers())
	sub.Stop()
	require.Eventually(t, func() bool { return consumers() == 0 }, 10*time.Second, 20*time.Millisecond)
}

func TestWrongOptionsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "none")
	for name, o := range map[string]nats.Options{
		"url":         {URL: "http://[::1"},
		"credentials": {URL: "nats://127.0.0.1:1", Credentials: empty},
		"CA file":     {URL: "nats://127.0.0.1:1", CA: empty},
		"certificate": {URL: "nats://127.0.0.1:1", Cert: empty, Key: empty},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := nats.Connect(o)
			require.Error(t, err)
			if name != "url" {
				require.ErrorContains(t, err, name)
			}
		})
	}
}
