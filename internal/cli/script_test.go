package cli

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"recap/internal/sample"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"recap":        func() { os.Exit(Trigger()) },
		"recap-worker": func() { os.Exit(Worker()) },
	})
}

// TestScripts runs the real programs on what needs no server: exit codes, the split of standard
// output and error, and the shape of the JSON documents.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("NOBODY", "127.0.0.1:1") // nothing listens there
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Getuid() == 0, nil
			}
			return false, errors.New("unknown condition " + cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "json": jsonField, "sample": writeSample, "oneline": oneLine, "tear": tear,
		},
	})
}

// exits runs a program and compares its exit code: exits CODE PROGRAM ARG…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = failed.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// jsonField checks that standard output is one JSON document, and a value in it: json PATH WANT
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json PATH WANT")
	}
	out := ts.ReadFile("stdout")
	if !gjson.Valid(out) {
		ts.Fatalf("standard output is not exactly one JSON document: %s", out)
	}
	if got := gjson.Get(out, args[0]).String(); (got == args[1]) == neg {
		ts.Fatalf("%s is %q, want %q", args[0], got, args[1])
	}
}

// oneLine checks that standard error is exactly one line of the program's own.
func oneLine(ts *testscript.TestScript, _ bool, args []string) {
	program := "recap"
	if len(args) == 1 {
		program = args[0]
	}
	text := ts.ReadFile("stderr")
	if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, program+": ") {
		ts.Fatalf("standard error is not one line of %s: %q", program, text)
	}
}

// writeSample writes a generated session: sample FILE [ENTRIES]
func writeSample(ts *testscript.TestScript, _ bool, args []string) {
	o := sample.Options{Seed: 7}
	if len(args) > 1 {
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		o.Entries = n
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), sample.Generate(o), 0o600))
}

// tear cuts the last byte off a file, the newline that an archive gives every file: tear FILE
func tear(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	info, err := os.Stat(name)
	ts.Check(err)
	ts.Check(os.Truncate(name, info.Size()-1))
}
