package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
)

const header = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv/x"}`

// parse reads a session from lines.
func parse(tb testing.TB, lines ...string) *session.File {
	tb.Helper()
	f, err := session.Parse([]byte(strings.Join(lines, "\n") + "\n"))
	require.NoError(tb, err)
	return f
}

// entry makes an entry line; parent "" is null, fields are further keys as JSON.
func entry(typ, id, parent, fields string) string {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	if fields != "" {
		fields = "," + fields
	}
	return fmt.Sprintf(`{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z"%s}`, typ, id, p, fields)
}

func user(id, parent, text string) string {
	return entry("message", id, parent, `"message":{"role":"user","content":`+quote(text)+`}`)
}

func assistant(id, parent string, blocks ...string) string {
	return entry("message", id, parent, `"message":{"role":"assistant","provider":"p","model":"m","stopReason":"toolUse","content":[`+strings.Join(blocks, ",")+`]}`)
}

func textOf(s string) string { return `{"type":"text","text":` + quote(s) + `}` }

func callOf(id string) string {
	return `{"type":"toolCall","id":` + quote(id) + `,"name":"read","arguments":{"path":"a.go"}}`
}

func result(id, parent, call string) string {
	return entry("message", id, parent, `"message":{"role":"toolResult","toolCallId":`+quote(call)+`,"toolName":"read","content":[{"type":"text","text":"ok"}],"isError":false}`)
}

func compaction(id, parent, summary, keep string) string {
	return entry("compaction", id, parent, `"summary":`+quote(summary)+`,"firstKeptEntryId":`+quote(keep)+`,"tokensBefore":100`)
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func ids(path []*session.Entry) []string {
	out := []string{}
	for _, e := range path {
		out = append(out, e.ID)
	}
	return out
}

func entryIDs(messages []session.Message) []string {
	out := []string{}
	for i := range messages {
		out = append(out, messages[i].EntryID)
	}
	return out
}

// live builds the context a model would be sent.
func live(tb testing.TB, f *session.File, o session.ContextOptions) session.Context {
	tb.Helper()
	c, err := session.BuildContext(f.Log, f, o)
	require.NoError(tb, err)
	return c
}
