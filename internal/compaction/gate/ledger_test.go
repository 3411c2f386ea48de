package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/compaction/gate"
	"recap/internal/compaction/transcript"
)

func TestErrorLedgerNamesTheCommand(t *testing.T) {
	t.Parallel()
	call := func(name, key, value string) transcript.Call {
		return transcript.Call{Name: name, Args: []transcript.Arg{{Key: key, JSON: `"` + value + `"`}}}
	}
	fail := func(text string) transcript.Block {
		return transcript.Block{Role: transcript.ToolResult, Error: true, Text: text}
	}
	got := gate.ErrorLedger([]transcript.Block{
		fail("panic: nobody asked"),
		{Role: transcript.Assistant, Calls: []transcript.Call{call("bash", "command", "make\\n  test"), call("read", "path", "a.go"), {Name: "probe"}}},
		{Role: transcript.ToolResult, Text: "Error: not marked as one"},
		fail("first line\nopen a.go: permission denied\nlast line"),
		fail("just words"),
		{Role: transcript.Assistant, Calls: []transcript.Call{call("bash", "command", "make lint")}},
		fail("just words"),
	}, 3)
	require.Empty(t, cmp.Diff([]gate.ErrorFact{
		{Command: "make lint", Text: "just words"},
		{Command: "read a.go", Text: "open a.go: permission denied"},
		{Command: "", Text: "panic: nobody asked"},
	}, got))
}

func TestSourceTellsWhatItWants(t *testing.T) {
	t.Parallel()
	en := tongues["en"]
	src := gate.Read(conversation(en), "")
	ask, answered := src.LatestAsk()
	require.Equal(t, en.ask, ask)
	require.False(t, answered)
	require.Empty(t, cmp.Diff([]gate.Anchor{
		{Class: gate.ClassError, Text: "Error: ENOENT: no such file or directory, open 'scripts/smoke.sh'"},
		{Class: gate.ClassPath, Text: "jobs/billing.yaml"},
		{Class: gate.ClassConstraint, Text: en.rule},
		{Class: gate.ClassNumber, Text: "6543"},
	}, src.MustKeep()))
}
