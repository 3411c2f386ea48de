package deptest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/testkit/repo"
)

// TestLayout checks the module as it is.
func TestLayout(t *testing.T) {
	t.Parallel()
	files, err := Load(repo.Root(t), repo.Files(t))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, v := range Check(files) {
		t.Error(v)
	}
}

// TestRulesFindViolations shows for every kind of rule that breaking it is noticed, and that what is
// allowed passes.
func TestRulesFindViolations(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, file, src string
		want            []string
	}{
		{"a command names a worker", "cmd/worker/main.go", `package main; import _ "recap/workers"`, []string{"cmd/worker imports workers"}},
		{"a command may start the CLI", "cmd/worker/main.go", `package main; import _ "recap/internal/cli"`, nil},
		{"contract imports ours", "internal/contract/x.go", `package contract; import _ "recap/internal/session"`, []string{"imports internal/session"}},
		{"a pure package opens files", "internal/session/x.go", `package session; import _ "os"`, []string{"imports os"}},
		{"a pure package looks up", "internal/tokens/x.go", `package tokens; import _ "recap/internal/compaction"`, []string{"imports internal/compaction"}},
		{"a pure package asks the time", "internal/tokens/x.go", `package tokens; import "time"; var _ = time.Now()`, []string{"time.Now"}},
		{"renaming an import hides nothing", "internal/tokens/x.go", `package tokens; import clock "time"; var _ = clock.Now()`, []string{"time.Now"}},
		{"a pure package may name a duration", "internal/tokens/x.go", `package tokens; import "time"; const _ = time.Second`, nil},
		{"a test of a pure package may ask the time", "internal/tokens/x_test.go", `package tokens; import "time"; var _ = time.Now()`, nil},
		{"no test may sleep", "internal/tokens/x_test.go", `package tokens; import "time"; func f() { time.Sleep(1) }`, []string{"time.Sleep"}},
		{"a workflow imports activities", "workflows/x.go", `package workflows; import _ "recap/activities"`, []string{"imports activities"}},
		{"a workflow imports prompts", "workflows/x.go", `package workflows; import _ "recap/prompts"`, []string{"imports prompts"}},
		{"a workflow draws numbers", "workflows/x.go", `package workflows; import _ "math/rand"`, []string{"imports math/rand"}},
		{"a workflow speaks HTTP", "workflows/x.go", `package workflows; import _ "net/http"`, []string{"imports net/http"}},
		{"a workflow names a port", "workflows/x.go", `package workflows; import _ "recap/internal/store"`, []string{"imports internal/store"}},
		{"a workflow uses its SDK", "workflows/x.go", `package workflows; import _ "go.temporal.io/sdk/workflow"`, nil},
		{"an activity names an adapter", "activities/x.go", `package activities; import _ "recap/internal/store/jsonl"`, []string{"imports internal/store/jsonl", "only workers"}},
		{"an activity uses a vendor SDK", "activities/x.go", `package activities; import _ "github.com/openai/openai-go/v3"`, []string{"openai-go", "openai-go"}},
		{"an activity uses a port", "activities/x.go", `package activities; import _ "recap/internal/store"`, nil},
		{"an adapter imports another", "internal/store/redis/x.go", `package redis; import _ "recap/internal/store/jsonl"`, []string{"never another adapter"}},
		{"an adapter imports a foreign port", "internal/store/redis/x.go", `package redis; import _ "recap/internal/blob"`, []string{"never another adapter"}},
		{"an adapter imports its port", "internal/store/redis/x.go", `package redis; import _ "recap/internal/store"`, nil},
		{"the wrong adapter imports an SDK", "internal/model/openaichat/x.go", `package openaichat; import _ "github.com/anthropics/anthropic-sdk-go/v2"`, []string{"one adapter speaks"}},
		{"workers name adapters", "workers/x.go", `package workers; import _ "recap/internal/store/jsonl"`, nil},
		{"a global logger", "internal/client/x.go", `package client; import "log/slog"; var _ = slog.Default()`, []string{"slog.Default"}},
		{"a library in tests only", "internal/client/x.go", `package client; import _ "github.com/stretchr/testify/require"`, []string{"test libraries"}},
		{"ending the process", "internal/client/x.go", `package client; import "os"; func f() { os.Exit(1) }`, []string{"os.Exit"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse(tc.file, []byte(tc.src))
			require.NoError(t, err)
			got := Check([]File{f})
			require.Len(t, got, len(tc.want), "%v", got)
			for i, want := range tc.want {
				require.Contains(t, got[i].String(), want)
			}
		})
	}
}

// TestTestCodeIsNotReachable shows that a chain of imports from a command to code for tests is found.
func TestTestCodeIsNotReachable(t *testing.T) {
	t.Parallel()
	var files []File
	for name, src := range map[string]string{
		"cmd/trigger/main.go":  `package main; import _ "recap/internal/cli"`,
		"internal/cli/x.go":    `package cli; import _ "recap/internal/store"`,
		"internal/store/x.go":  `package store; import _ "recap/internal/store/storetest"`,
		"internal/store/y.go":  `package store`,
		"workers/unrelated.go": `package workers; import _ "recap/internal/testkit/repo"`,
	} {
		f, err := Parse(name, []byte(src))
		require.NoError(t, err)
		files = append(files, f)
	}
	found := checkReach(files)
	require.Len(t, found, 1)
	require.Equal(t, "internal/store/x.go", found[0].File)
}

func TestSetPatterns(t *testing.T) {
	t.Parallel()
	s := set{"a", "b/...", "c/*"}
	for path, want := range map[string]bool{
		"a": true, "a/x": false, "b": true, "b/x": true, "bb": false, "c": false, "c/x": true, "c/x/y": true, "": false,
	} {
		require.Equal(t, want, s.has(path), path)
	}
}
