package reduce_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/reduce"
	"recap/internal/session"
)

// started is the time of the first message of every test session; each later one comes a second after.
var started = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)

type failer interface {
	require.TestingT
	Helper()
}

// script writes a session. Every entry hangs under the one before it.
type script struct {
	buf    bytes.Buffer
	parent any
	n      int
	clock  time.Time
}

func newScript() *script {
	s := &script{clock: started}
	s.buf.WriteString(`{"type":"session","version":3,"id":"s-1","timestamp":"2026-05-01T00:00:00.000Z","cwd":"/srv/demo"}` + "\n")
	return s
}

type object = map[string]any

// entry adds an entry and returns its id.
func (s *script) entry(kind string, fields object) string {
	s.n++
	id := fmt.Sprintf("e%07d", s.n)
	e := object{"type": kind, "id": id, "parentId": s.parent, "timestamp": s.clock.Format(time.RFC3339)}
	for k, v := range fields {
		e[k] = v
	}
	raw, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	s.buf.Write(raw)
	s.buf.WriteByte('\n')
	s.parent = id
	return id
}

func (s *script) message(m object) string {
	s.clock = s.clock.Add(time.Second)
	if _, ok := m["timestamp"]; !ok {
		m["timestamp"] = s.clock.UnixMilli()
	}
	return s.entry("message", object{"message": m})
}

func text(words string) object { return object{"type": "text", "text": words} }

func image() object { return object{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"} }

func (s *script) user(words string) string {
	return s.message(object{"role": "user", "content": words})
}

func (s *script) says(words string) string {
	return s.message(object{"role": "assistant", "content": []any{text(words)}, "stopReason": "stop"})
}

// calls adds an assistant message with one call.
func (s *script) calls(id, tool string, args object) string {
	return s.message(object{"role": "assistant", "stopReason": "toolUse", "content": []any{
		object{"type": "toolCall", "id": id, "name": tool, "arguments": args},
	}})
}

// answers adds a result; more overrides or adds fields.
func (s *script) answers(id, tool, words string, more ...object) string {
	m := object{"role": "toolResult", "toolCallId": id, "toolName": tool, "content": []any{text(words)}, "isError": false}
	for _, fields := range more {
		for k, v := range fields {
			m[k] = v
		}
	}
	return s.message(m)
}

// tool adds a call with its result and returns the result's id.
func (s *script) tool(tool string, args object, words string, more ...object) string {
	id := fmt.Sprintf("call-%d", s.n)
	s.calls(id, tool, args)
	return s.answers(id, tool, words, more...)
}

func (s *script) read(path, words string, more ...object) string {
	return s.tool("read", object{"path": path}, words, more...)
}

// filler adds about so many tokens of talk that no pass touches.
func (s *script) filler(tokens int) { s.says(strings.Repeat("word", tokens)) }

func (s *script) compacted(keep string) string {
	return s.entry("compaction", object{"summary": "So far so good.", "firstKeptEntryId": keep, "tokensBefore": 1})
}

func (s *script) file(t failer) *session.File {
	t.Helper()
	return parse(t, s.buf.Bytes())
}

func parse(t failer, data []byte) *session.File {
	t.Helper()
	f, err := session.Parse(data)
	require.NoError(t, err)
	return f
}

func source(t failer, f *session.File) reduce.Source {
	t.Helper()
	path, err := f.Log.Path()
	require.NoError(t, err)
	return reduce.Source{Path: path, Bodies: f, Now: started.Add(10 * time.Minute)}
}

// tail reads the live tail, ten minutes after the session began.
func (s *script) tail(t failer, change ...func(*reduce.Source)) *reduce.Tail {
	t.Helper()
	src := source(t, s.file(t))
	for _, c := range change {
		c(&src)
	}
	tail, err := reduce.Read(src)
	require.NoError(t, err)
	return tail
}

func idle(src *reduce.Source) { src.Now = src.Now.Add(24 * time.Hour) }

// decided maps the entries a pass touches to their notices.
func decided(p reduce.Pass) map[string]string {
	out := map[string]string{}
	for _, d := range p.Decisions {
		var all []string
		for _, e := range d.Edits {
			all = append(all, e.Text)
		}
		out[d.EntryID] = strings.Join(all, "|")
	}
	return out
}

func must(t failer) func(p reduce.Pass, err error) reduce.Pass {
	return func(p reduce.Pass, err error) reduce.Pass {
		t.Helper()
		require.NoError(t, err)
		return p
	}
}

func stale(t failer, tail *reduce.Tail) map[string]string {
	t.Helper()
	return decided(must(t)(tail.Stale(reduce.DefaultStaleRules())))
}

// rewritten is the file with some entries replaced.
func rewritten(t failer, f *session.File, data []byte, changed map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	at := int64(0)
	for i := range f.Log.Entries {
		e := &f.Log.Entries[i]
		if body, ok := changed[e.ID]; ok {
			out.Write(data[at:e.Offset])
			out.Write(body)
			at = e.Offset + int64(e.Length)
		}
	}
	out.Write(data[at:])
	return out.Bytes()
}

func rawContext(t failer, f *session.File) []session.Message {
	t.Helper()
	c, err := session.BuildContext(f.Log, f, session.ContextOptions{Raw: true})
	require.NoError(t, err)
	return c.Messages
}

var errSummarized = errors.New("an entry before the boundary was read")

// sealed fails when an entry before a path index is read.
type sealed struct {
	session.Bodies
	before map[string]bool
}

func seal(src reduce.Source, before int) reduce.Source {
	b := sealed{src.Bodies, map[string]bool{}}
	for _, e := range src.Path[:before] {
		b.before[e.ID] = true
	}
	src.Bodies = b
	return src
}

func (s sealed) Body(e *session.Entry) ([]byte, error) {
	if s.before[e.ID] {
		return nil, errSummarized
	}
	return s.Bodies.Body(e)
}

const (
	supersededNotice = "[Superseded by a newer read of this file]"
	uselessNotice    = "[Uneventful result elided]"
)

var long = strings.Repeat("line of output\n", 40) // 150 tokens

func indexOf(t *testing.T, path []*session.Entry, id string) int {
	t.Helper()
	for i, e := range path {
		if e.ID == id {
			return i
		}
	}
	require.FailNow(t, "no such entry", id)
	return -1
}
