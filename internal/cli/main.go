package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// Trigger runs the program `recap` and returns its exit code.
func Trigger() int { return process("recap", triggerTree) }

// Worker runs the program `recap-worker` and returns its exit code.
func Worker() int { return process("recap-worker", workerTree) }

// process runs a command tree on the real process: its arguments, streams, environment and signals.
// The first signal cancels the command's context, so that it drains and unwinds; the second ends the
// program without waiting.
func process(name string, tree func(*app) *cobra.Command) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	a := newApp(name, os.Stdin, os.Stdout, os.Stderr)
	done := make(chan int, 1)
	go func() { done <- a.run(ctx, tree, os.Args[1:]) }()
	select {
	case code := <-done:
		return code
	case <-signals:
		cancel(errInterrupted)
	}
	select {
	case code := <-done:
		return code
	case <-signals:
		a.notef("interrupted again: quitting without waiting")
		return exitInterrupted
	}
}

// app is one run of a program: its streams, its environment and the flags every command shares.
type app struct {
	name string
	in   io.Reader
	out  io.Writer // data
	err  io.Writer // everything else

	lookupEnv func(string) (string, bool)
	now       func() time.Time

	flags   globalFlags
	started bool // a command's own code has begun: what fails before is a usage error
}

func newApp(name string, in io.Reader, out, err io.Writer) *app {
	return &app{name: name, in: in, out: out, err: err, lookupEnv: os.LookupEnv, now: time.Now}
}

// run parses and executes, prints the error if there is one, and returns the exit code.
func (a *app) run(ctx context.Context, tree func(*app) *cobra.Command, args []string) int {
	root := tree(a)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.started {
		err = &usageError{err: err}
	}
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errInterrupted) && errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w", cause)
	}
	code := exitOf(err)
	a.report(err)
	return code
}

// report prints an error as one line, prefixed with the program's name. Further lines are kept only
// where an error lists several problems, indented. A standard error that cannot be written to leaves
// nobody to tell.
func (a *app) report(err error) {
	if e, ok := errors.AsType[*exitError](err); ok {
		err = e.err
	}
	if err == nil {
		return
	}
	_, _ = fmt.Fprintf(a.err, "%s: %s\n", a.name, strings.TrimRight(err.Error(), "\n"))
}

// notef prints a remark for a person.
func (a *app) notef(format string, args ...any) {
	if !a.flags.quiet {
		_, _ = fmt.Fprintf(a.err, a.name+": "+format+"\n", args...)
	}
}
