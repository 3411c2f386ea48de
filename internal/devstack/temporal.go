package devstack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"recap/internal/contract"
)

// Names in the data folder.
const (
	databaseName = "temporal.db"
	logName      = "temporal.log"
	// servedName marks a database that a server has served from. Without it the database may be half
	// made, by a first start that was killed, and is made anew.
	servedName = "temporal.served"
)

// searchAttributes are the Keyword attributes that workflows of recap set.
var searchAttributes = []string{
	contract.AttrTenant, contract.AttrSession, contract.AttrTrigger, contract.AttrState, contract.AttrReason, contract.AttrOperation,
}

// portTries is how often a start is repeated when another process took a port between our choosing
// it and the server's opening it.
const portTries = 3

// startTemporal runs the development server and waits until it serves. lock is inherited by it.
func startTemporal(ctx context.Context, program string, o Options, lock *os.File) (*child, error) {
	if err := dropHalfMade(o.DataDir); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.StartTimeout)
	defer cancel()
	var last error
	for range portTries {
		c, err := tryTemporal(ctx, program, o, lock)
		if err == nil {
			return c, nil
		}
		last = err
		if ctx.Err() != nil || !errors.Is(err, errExited) {
			break
		}
	}
	return nil, last
}

func tryTemporal(ctx context.Context, program string, o Options, lock *os.File) (*child, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	args := []string{
		"server", "start-dev", "--ip", "127.0.0.1", "--port", ports[0], "--ui-port", ports[1],
		"--db-filename", databaseName, // relative to the folder it runs in: the name goes into a URI
		"--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL",
		"--dynamic-config-value", "system.enableActivityEagerExecution=true",
		"--dynamic-config-value", "matching.enableFairness=true",
		"--dynamic-config-value", "frontend.enableServerVersionCheck=false",
		"--log-level", "warn",
	}
	if o.Namespace != "default" { // which the server makes by itself
		args = append(args, "--namespace", o.Namespace)
	}
	for _, name := range o.MoreNamespaces {
		args = append(args, "--namespace", name)
	}
	for _, name := range searchAttributes {
		args = append(args, "--search-attribute", name+"=Keyword")
	}
	c, err := startChild(program, args, o.DataDir, filepath.Join(o.DataDir, logName), lock)
	if err != nil {
		return nil, err
	}
	c.address, c.ui = net.JoinHostPort("127.0.0.1", ports[0]), "http://"+net.JoinHostPort("127.0.0.1", ports[1])
	if err := c.awaitServing(ctx, o.Namespace); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	if err := os.WriteFile(filepath.Join(o.DataDir, servedName), nil, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("embedded stack: %w", err), c.stop())
	}
	return c, nil
}

// dropHalfMade removes a database that no server has ever served from.
func dropHalfMade(dir string) error {
	_, err := os.Stat(filepath.Join(dir, servedName))
	if err == nil {
		return nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("embedded stack: %w", err)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(filepath.Join(dir, databaseName+suffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("embedded stack: %w", err)
		}
	}
	return nil
}

// serveRetry is the pause between two questions whether the server answers.
const serveRetry = 50 * time.Millisecond

var errExited = errors.New("the server ended while starting")

// awaitServing waits until the server answers, knows the namespace and has the search attributes.
func (c *child) awaitServing(ctx context.Context, namespace string) error {
	cl, err := client.NewLazyClient(client.Options{HostPort: c.address, Namespace: namespace, Logger: silent{}})
	if err != nil {
		return fmt.Errorf("embedded Temporal: %w", err)
	}
	defer cl.Close()
	tick := time.NewTicker(serveRetry)
	defer tick.Stop()
	for {
		err := serving(ctx, cl, namespace)
		if err == nil {
			return nil
		}
		select {
		case <-c.exited:
			return fmt.Errorf("embedded Temporal: %w (%w)%s", errExited, c.err(), c.tail())
		case <-ctx.Done():
			return fmt.Errorf("embedded Temporal: gave up waiting for %s: %w; last answer: %w%s", c.address, ctx.Err(), err, c.tail())
		case <-tick.C:
		}
	}
}

// serving asks everything a worker needs, so that the first workflow does not fail for a part of the
// server that is still starting.
func serving(ctx context.Context, cl client.Client, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if _, err := cl.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return err
	}
	if _, err := cl.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace}); err != nil {
		return err
	}
	have, err := cl.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return err
	}
	missing := map[string]enums.IndexedValueType{}
	for _, name := range searchAttributes {
		if _, ok := have.GetCustomAttributes()[name]; !ok {
			missing[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
		}
	}
	if len(missing) == 0 {
		return nil
	}
	// A database made by an older recap lacks the newer ones: the server registers only with a new
	// namespace what its command line names.
	_, err = cl.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	return err
}

// freePorts chooses ports nobody listens on. All are held until all are chosen, so they differ.
func freePorts(n int) ([]string, error) {
	ports := make([]string, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("embedded stack: no free port: %w", err)
		}
		defer func() { _ = l.Close() }() // nothing was accepted on it
		ports[i] = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// tail is the end of the server's log, for an error that should explain itself.
func (c *child) tail() string {
	data, err := os.ReadFile(c.logPath)
	if err != nil {
		return ""
	}
	const most = 600
	text := strings.TrimSpace(string(data[max(0, len(data)-most):]))
	if text == "" {
		return ""
	}
	return "; its log " + c.logPath + " ends: " + strings.Join(strings.Fields(text), " ")
}

// silent keeps the client from writing on standard error.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
