package compaction_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/session"
	"recap/prompts"
)

// now is long after everything in the test sessions.
var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

type failer interface {
	require.TestingT
	Helper()
}

func parse(t failer, text string) *session.File {
	t.Helper()
	f, err := session.Parse([]byte(text))
	require.NoError(t, err)
	return f
}

func input(f *session.File, keep int) compaction.Input {
	return compaction.Input{
		Log: f.Log, Bodies: f, Dialect: f.Dialect, Operation: "op-1", Reason: contract.ReasonManual,
		Settings: contract.Settings{KeepRecentTokens: keep}, Prompts: prompts.All(), Now: now, Parallel: 2,
	}
}

// prepare returns nil when there is nothing to compact.
func prepare(t failer, in compaction.Input) *compaction.Prepared {
	t.Helper()
	p, err := compaction.Prepare(in)
	var skip *compaction.Skip
	if errors.As(err, &skip) {
		require.Equal(t, contract.CodeNothingToCompact, skip.Code, skip.Message)
		return nil
	}
	require.NoError(t, err)
	return p
}

func skipOf(t failer, in compaction.Input) *compaction.Skip {
	t.Helper()
	_, err := compaction.Prepare(in)
	var skip *compaction.Skip
	require.ErrorAs(t, err, &skip)
	return skip
}

// sent is all text that the plan's requests show a model.
func sent(p *compaction.Prepared) string {
	var all []string
	for _, r := range p.Requests() {
		all = append(all, r.UserText())
	}
	return strings.Join(all, "\n")
}

// assembled is the summary made of the answers to those parts that the plan asks for.
func assembled(p *compaction.Prepared, history, prefix string) string {
	if p.History == nil {
		history = ""
	}
	if p.TurnPrefix == nil {
		prefix = ""
	}
	return compaction.Assemble(&p.Plan, history, prefix)
}

// commit appends the plan's entry to the file.
func commit(t failer, text string, p *compaction.Prepared, id, history, prefix string) string {
	t.Helper()
	entry := compaction.NewEntry(&p.Plan, assembled(p, history, prefix))
	entry.ID, entry.ParentID, entry.Timestamp = id, p.Plan.Leaf, "2026-06-01T12:00:00.000Z"
	entry.Recap = session.RecapMark{Operation: p.Plan.Operation, Attempt: 1}
	object, err := session.BuildCompaction(p.Plan.Dialect, entry)
	require.NoError(t, err)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + string(object) + "\n"
}

func contextOf(t failer, text string) session.Context {
	t.Helper()
	f := parse(t, text)
	c, err := session.BuildContext(f.Log, f, session.ContextOptions{})
	require.NoError(t, err)
	return c
}

// validatePairs is the strict reading of a provider: every result stands right behind the assistant
// message that holds its call, among results of that message only, and every call has its result.
func validatePairs(messages []session.Message) error {
	var open map[string]bool
	for i, m := range messages {
		switch m.Role {
		case session.RoleToolResult:
			if !open[m.ToolCallID] {
				return fmt.Errorf("message %d: result %s has no open call", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		case session.RoleAssistant, session.RoleUser, session.RoleDeveloper:
		default:
			return fmt.Errorf("message %d: role %s", i, m.Role)
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d: %d calls before it have no result", i, len(open))
		}
		open = map[string]bool{}
		for _, b := range m.Content {
			if b.Type == session.BlockToolCall {
				open[b.ID] = true
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the last calls have no result")
	}
	return nil
}

// texts is everything a context shows a model.
func texts(messages []session.Message) string {
	var b strings.Builder
	for i := range messages {
		b.WriteString(messages[i].Text("\n"))
		for _, block := range messages[i].Content {
			b.WriteString(block.Name)
			b.Write(block.Arguments)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// lines builds a session of version 3 from entries given without parent: each hangs under the one
// before it.
func lines(entries ...map[string]any) string {
	var b bytes.Buffer
	b.WriteString(`{"type":"session","version":3,"id":"s-1","timestamp":"2026-05-01T00:00:00.000Z","cwd":"/srv/demo"}` + "\n")
	var parent any
	for _, e := range entries {
		if _, ok := e["parentId"]; !ok {
			e["parentId"] = parent
		}
		if _, ok := e["timestamp"]; !ok {
			e["timestamp"] = "2026-05-01T00:00:01.000Z"
		}
		raw, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		b.Write(raw)
		b.WriteByte('\n')
		parent = e["id"]
	}
	return b.String()
}

func message(id string, m map[string]any) map[string]any {
	return map[string]any{"type": "message", "id": id, "message": m}
}

func user(id, text string) map[string]any {
	return message(id, map[string]any{"role": "user", "content": text})
}

func says(id, text string) map[string]any {
	return message(id, map[string]any{"role": "assistant", "content": []any{block(text)}, "stopReason": "stop"})
}

// calls is an assistant message with one call of the tool for each call id.
func calls(id, tool, path string, ids ...string) map[string]any {
	var content []any
	for _, call := range ids {
		content = append(content, map[string]any{"type": "toolCall", "id": call, "name": tool, "arguments": map[string]any{"path": path}})
	}
	return message(id, map[string]any{"role": "assistant", "content": content, "stopReason": "toolUse"})
}

func answers(id, call, text string) map[string]any {
	return message(id, map[string]any{"role": "toolResult", "toolCallId": call, "toolName": "read", "content": []any{block(text)}, "isError": false})
}

func block(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

func compacted(id, firstKept, summary string) map[string]any {
	return map[string]any{"type": "compaction", "id": id, "summary": summary, "firstKeptEntryId": firstKept, "tokensBefore": 1}
}

func entry(kind, id string, fields ...any) map[string]any {
	e := map[string]any{"type": kind, "id": id}
	for i := 0; i < len(fields); i += 2 {
		e[fields[i].(string)] = fields[i+1]
	}
	return e
}

// covered checks that every entry that yields a message since the start of the range is summarised or
// kept, exactly once and in order.
func covered(t failer, f *session.File, p *compaction.Prepared, start string) {
	t.Helper()
	path, err := f.Log.Path()
	require.NoError(t, err)
	var want []string
	for i := slices.IndexFunc(path, func(e *session.Entry) bool { return e.ID == start }); i < len(path); i++ {
		if !path[i].IsMessageLike() {
			continue
		}
		body, err := f.Body(path[i])
		require.NoError(t, err)
		_, ok, err := session.DecodeEntry(path[i], body)
		require.NoError(t, err)
		if ok {
			want = append(want, path[i].ID)
		}
	}
	c := p.Plan.Coverage
	require.Equal(t, want, slices.Concat(c.Summarized, c.TurnPrefix, c.Kept))
}

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

func mustLine(e map[string]any) string {
	raw, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(raw) + "\n"
}
