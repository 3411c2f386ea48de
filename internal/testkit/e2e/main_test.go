package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"recap/internal/devstack"
)

// stack is the one embedded stack of the test binary; bin holds the two binaries.
var (
	stack *devstack.Stack
	bin   string
	next  atomic.Int32
)

// namespaces is how many tests run at once; making one takes the server seconds.
const namespaces = 4

// free holds the namespaces no test is using.
var free = make(chan string, namespaces)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "end to end:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(namespaces)); err != nil { // tests wait far more than they work
		return 0, err
	}
	program, err := devstack.LookProgram(devstack.CacheDir())
	if err != nil {
		if os.Getenv("CI") == "true" {
			return 0, err
		}
		fmt.Fprintf(os.Stderr, "end to end: SKIPPED: %v (run `make tools`)\n", err)
		return 0, nil
	}
	dir, err := os.MkdirTemp("", "recap-e2e-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	bin = filepath.Join(dir, "bin")
	for name, pkg := range map[string]string{"recap": "recap/cmd/trigger", "recap-worker": "recap/cmd/worker"} {
		build := exec.Command("go", "build", "-o", filepath.Join(bin, name), pkg)
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return 0, fmt.Errorf("build %s: %w", pkg, err)
		}
	}
	var names []string
	for i := range namespaces {
		names = append(names, fmt.Sprintf("e2e-%d", i))
		free <- names[i]
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	stack, err = devstack.Start(ctx, devstack.Options{
		DataDir: filepath.Join(dir, "stack"), Program: program, MoreNamespaces: names,
	})
	if err != nil {
		return 0, err
	}
	defer stack.Stop() //nolint:errcheck // the tests are over
	if err := registerPlain(ctx); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// plainNamespace is on the server but without recap's search attributes.
const plainNamespace = "e2e-plain"

func registerPlain(ctx context.Context) error {
	ns, err := client.NewNamespaceClient(client.Options{HostPort: stack.TemporalAddress})
	if err != nil {
		return err
	}
	defer ns.Close()
	return ns.Register(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: plainNamespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
}
