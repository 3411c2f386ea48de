package devstack_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/devstack"
)

// TestMain lets the test binary stand in for a process that runs a stack and is then killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DEVSTACK_TEST_RUN"); dir != "" {
		runUntilKilled(dir)
		return
	}
	os.Exit(m.Run())
}

func runUntilKilled(dir string) {
	s, err := devstack.Start(context.Background(), devstack.Options{DataDir: dir, Program: os.Getenv("DEVSTACK_TEST_PROGRAM")})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("serving", s.TemporalAddress)
	<-s.Done()
}

// program is a temporal program that is here already; tests build none.
func program(t *testing.T) string {
	t.Helper()
	path, err := devstack.LookProgram(devstack.CacheDir())
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI must run these tests: %v; make tools installs it", err)
		}
		t.Skipf("%v; make tools installs it", err)
	}
	return path
}

// start runs a stack on dir that ends with the test.
func start(t *testing.T, dir string) *devstack.Stack {
	t.Helper()
	var log syncBuffer
	s, err := devstack.Start(limited(t), devstack.Options{
		DataDir: dir, Program: program(t), Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Stop())
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return s
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// syncBuffer is a buffer that several goroutines may write.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
