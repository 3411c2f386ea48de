package session_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
)

func TestInspectReadsTheObjectsOfALine(t *testing.T) {
	t.Parallel()
	const a = `{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hi"}}`
	const b = `{"type":"label","id":"b2","parentId":"a1","targetId":"a1"}`
	objA := session.Object{Raw: []byte(a), Type: "message", ID: "a1", HasParent: true, Role: "user", Timestamp: "2026-01-01T00:00:00.000Z"}
	objB := session.Object{Raw: []byte(b), Type: "label", ID: "b2", ParentID: "a1", HasParent: true}
	at := func(o session.Object, offset int) session.Object { o.Offset = offset; return o }
	one := func(o session.Object) []session.Object { return []session.Object{o} }
	raw := func(s string) session.Object { return session.Object{Raw: []byte(s)} }
	tests := []struct {
		name string
		line string
		want []session.Object
		kind session.DamageKind
	}{
		{name: "blank", line: ""},
		{name: "white space", line: " \t\r"},
		{name: "one object", line: a, want: one(objA)},
		{name: "carriage return at the end", line: a + "\r", want: one(objA)},
		{name: "byte order mark", line: "\xEF\xBB\xBF" + a, want: one(at(objA, 3))},
		{name: "two objects glued", line: a + b, want: []session.Object{objA, at(objB, len(a))}, kind: session.DamageGlued},
		{name: "object and half an object", line: a + b[:20], want: one(objA), kind: session.DamageUnparseable},
		{name: "torn", line: a[:50], kind: session.DamageUnparseable},
		{name: "array", line: `[{}]`, kind: session.DamageUnparseable},
		{name: "null", line: `null`, kind: session.DamageUnparseable},
		{name: "NUL bytes", line: "\x00\x00\x00", kind: session.DamageUnparseable},
		{name: "trailing comma", line: `{"a":1,}`, kind: session.DamageUnparseable},
		{name: "raw control character", line: "{\"a\":\"\x01\"}", kind: session.DamageUnparseable},
		{name: "leading zero", line: `{"a":01}`, kind: session.DamageUnparseable},
		{name: "empty object", line: `{}`, want: one(raw(`{}`))},
		{
			name: "last of equal keys counts", line: `{"type":"label","id":"x","type":"custom","id":"y","parentId":"p","parentId":null}`,
			want: one(session.Object{Raw: []byte(`{"type":"label","id":"x","type":"custom","id":"y","parentId":"p","parentId":null}`), Type: "custom", ID: "y", HasParent: true}),
		},
		{
			name: "last message counts for the role", line: `{"type":"message","message":{"role":"user"},"message":{"content":[]}}`,
			want: one(session.Object{Raw: []byte(`{"type":"message","message":{"role":"user"},"message":{"content":[]}}`), Type: "message"}),
		},
		{
			name: "keys of nested values do not count", line: `{"a":{"type":"x","id":"y"},"message":{"a":{"role":"user"}},"b":[{"role":"user","id":"z"}]}`,
			want: one(raw(`{"a":{"type":"x","id":"y"},"message":{"a":{"role":"user"}},"b":[{"role":"user","id":"z"}]}`)),
		},
		{
			name: "only the message has a role", line: `{"type":"message","data":{"role":"user"}}`,
			want: one(session.Object{Raw: []byte(`{"type":"message","data":{"role":"user"}}`), Type: "message"}),
		},
		{
			name: "escaped key and value", line: `{"\u0074ype":"mess\u0061ge","id":"a\"b"}`,
			want: one(session.Object{Raw: []byte(`{"\u0074ype":"mess\u0061ge","id":"a\"b"}`), Type: "message", ID: `a"b`}),
		},
		{
			name: "line separators inside strings", line: "{\"type\":\"custom\",\"id\":\"a\u2028b\u2029c\"}",
			want: one(session.Object{Raw: []byte("{\"type\":\"custom\",\"id\":\"a\u2028b\u2029c\"}"), Type: "custom", ID: "a\u2028b\u2029c"}),
		},
		{
			name: "numeric id and parent keep their text", line: `{"id":5,"parentId":4}`,
			want: one(session.Object{Raw: []byte(`{"id":5,"parentId":4}`), ID: "5", ParentID: "4", HasParent: true}),
		},
		{
			name: "leaf record names its target", line: `{"type":"leaf","id":"l","parentId":"p","targetId":"t"}`,
			want: one(session.Object{Raw: []byte(`{"type":"leaf","id":"l","parentId":"p","targetId":"t"}`), Type: "leaf", ID: "l", ParentID: "t", HasParent: true}),
		},
		{
			name: "invalid UTF-8 is replaced in fields", line: "{\"id\":\"a\xff\"}",
			want: one(session.Object{Raw: []byte("{\"id\":\"a\xff\"}"), ID: "a\uFFFD"}),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, kind := session.Inspect([]byte(tt.line))
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.kind, kind)
		})
	}
}

func TestInspectBoundsNesting(t *testing.T) {
	t.Parallel()
	deep := func(n int) []byte {
		return []byte(`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	_, kind := session.Inspect(deep(4000))
	require.Empty(t, kind)
	_, kind = session.Inspect(deep(5000))
	require.Equal(t, session.DamageUnparseable, kind)
	_, kind = session.Inspect([]byte(`{"a":` + strings.Repeat(`{"b":`, 1<<20)))
	require.Equal(t, session.DamageUnparseable, kind)
}

func TestInspectAllocatesOnceAnObject(t *testing.T) {
	line := []byte(`{"type":"message","id":"a1b2c3d4","parentId":"e5f6a7b8","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"` +
		strings.Repeat(`text with \n escapes `, 500) + `"}}`)
	objects := make([]session.Object, 0, 4)
	got := testing.AllocsPerRun(100, func() { objects, _ = session.AppendObjects(objects[:0], line) })
	require.LessOrEqual(t, got, 1.0)
}

// FuzzInspect holds the scanner against the standard library: a line that is one object for one of
// them is one for the other, and its fields are those that JSON.parse would give.
func FuzzInspect(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"\u00e9\n"}]}}`,
		`{"a":1}{"b":2}`, `{"a":[1,2.5e-3,true,false,null,"x",{}]}`, `{"id":"\ud800"}`, "\xEF\xBB\xBF{}", `{"a":"` + "\x7f\x80\xff" + `"}`, `{"a":-0.0E+1}`, `{"a":1 , "b" : [ ] }`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		objects, kind := session.Inspect(line)
		for _, o := range objects {
			require.True(t, json.Valid(o.Raw), "%q", o.Raw)
			require.Equal(t, string(o.Raw), string(line[o.Offset:o.Offset+len(o.Raw)]))
			var m map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(o.Raw, &m))
			if id, ok := m["id"]; ok && id[0] == '"' {
				var want string
				require.NoError(t, json.Unmarshal(id, &want))
				require.Equal(t, squeeze(want), squeeze(o.ID))
			}
		}
		if len(objects) == 1 && kind == "" {
			return
		}
		trimmed := strings.Trim(string(line), " \t\r\n")
		if strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) {
			require.Greater(t, strings.Count(trimmed, "[")+strings.Count(trimmed, "{"), 4096, "valid object refused: %q", line)
		}
	})
}

// squeeze makes one replacement character of several: decoders differ in how many they write.
func squeeze(s string) string {
	for strings.Contains(s, "\uFFFD\uFFFD") {
		s = strings.ReplaceAll(s, "\uFFFD\uFFFD", "\uFFFD")
	}
	return s
}
