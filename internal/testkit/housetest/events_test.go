package housetest

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/contract"
	"recap/internal/event"
	"recap/internal/testkit/repo"
)

// TestEventsDocumentIsComplete wants every event name and every field of the body in docs/events.md,
// and an example of every event where the document says.
func TestEventsDocumentIsComplete(t *testing.T) {
	t.Parallel()
	text := repo.Read(t, "docs/events.md")
	names := []string{
		contract.EventStarted, contract.EventStageCompleted, contract.EventAttemptFailed, contract.EventNotice, contract.EventWaiting,
	}
	for _, s := range contract.States {
		names = append(names, s.EventName())
	}
	for _, name := range names {
		require.Contains(t, text, "`"+name+"`")
		examples, err := filepath.Glob(filepath.Join(repo.Root(t), "internal", "event", "testdata", name+"*.json"))
		require.NoError(t, err)
		require.NotEmpty(t, examples, "no example of %s", name)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[event.Body](), reflect.TypeFor[event.Result]()} {
		for i := range typ.NumField() {
			field, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			require.Contains(t, text, "`"+field+"`", "field of the body")
		}
	}
	for _, word := range []string{event.Prefix + ".", event.TypePrefix, event.TypeAutoStart, event.TypeAutoEnd, event.TypeManualStart, event.TypeManualEnd} {
		require.Contains(t, text, word)
	}
	require.Equal(t, 512<<10, event.MaxBody, "the document says 512 KiB")
}

// TestStatesAreDocumented wants every terminal state where people look for what it means.
func TestStatesAreDocumented(t *testing.T) {
	t.Parallel()
	text := repo.Read(t, "docs/architecture.md")
	for _, s := range contract.States {
		require.Contains(t, text, "| `"+string(s)+"` |")
	}
}
