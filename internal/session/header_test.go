package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
)

func TestHeaderIsTheFirstRecordOrFollowsATitle(t *testing.T) {
	t.Parallel()
	title := `{"type":"title","v":1,"title":"x","pad":"` + strings.Repeat(" ", 100) + `"}`
	f := parse(t, title, header, user("a", "", "hi"))
	require.Equal(t, "s1", f.Log.Header.ID)
	require.Equal(t, "/srv/x", f.Log.Header.Cwd)
	require.Equal(t, header, string(f.Log.Header.Raw))
	require.Equal(t, 3, f.Log.Entries[0].Line)
	require.Len(t, f.Log.Entries, 1)

	f = parse(t, "", "  ", header)
	require.Equal(t, "s1", f.Log.Header.ID, "blank lines before the header")
	f = parse(t, strings.Replace(header, `"cwd":"`, `"cwd":"`+strings.Repeat("/long", 400), 1))
	require.Equal(t, "s1", f.Log.Header.ID, "a header longer than 512 bytes")
	f = parse(t, `{"type":"session","id":"old"}`)
	require.Equal(t, 1, f.Log.Header.Version, "no version means 1")
	for in, want := range map[string]int{"null": 1, "2": 2, `"3"`: 3, "9": 9, "{}": session.CurrentVersion} {
		require.Equal(t, want, parse(t, `{"type":"session","id":"s","version":`+in+`}`).Log.Header.Version, in)
	}
}

func TestParseRefusesWhatIsNoSession(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, data, format, reason string
	}{
		{name: "empty", data: "", reason: "empty"},
		{name: "blank", data: "\n\n", reason: "empty"},
		{name: "entry before the header", data: user("a", "", "x") + "\n" + header, reason: `"message"`},
		{name: "header without id", data: `{"type":"session"}`, reason: "string id"},
		{name: "header with a numeric id", data: `{"type":"session","id":7}`, reason: "string id"},
		{name: "damaged first line", data: `{"type":"sess` + "\n" + header, reason: "first line"},
		{name: "framed journal", data: "BCJ1\x00\x00\x01\x02\x90", format: "framed journal", reason: "framed journal"},
		{name: "array", data: "[1,2]", format: "framed journal", reason: "no JSON object"},
		{name: "Claude Code", data: `{"parentUuid":null,"sessionId":"x","type":"user"}`, format: "Claude Code", reason: "Claude Code"},
		{name: "Codex", data: `{"type":"session_meta","payload":{}}`, format: "Codex", reason: "Codex"},
		{name: "some object", data: `{"a":1}`, reason: "no type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := session.Parse([]byte(tt.data))
			var got *session.NotSessionError
			require.ErrorAs(t, err, &got)
			require.Equal(t, tt.format, got.Format)
			require.Contains(t, err.Error(), tt.reason)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestDialectFollowsTheTraitsOfTheFile(t *testing.T) {
	t.Parallel()
	title := `{"type":"title","v":1,"title":"x"}`
	tests := []struct {
		name  string
		lines []string
		want  session.Dialect
	}{
		{name: "nothing special", lines: []string{header}, want: session.DialectPi},
		{name: "pi model change", lines: []string{header, entry("model_change", "a", "", `"provider":"p","modelId":"m"`)}, want: session.DialectPi},
		{name: "title slot", lines: []string{title, header}, want: session.DialectVeyyon},
		{name: "title in the header", lines: []string{strings.Replace(header, `"cwd"`, `"title":"t","cwd"`, 1)}, want: session.DialectVeyyon},
		{name: "one model string", lines: []string{header, entry("model_change", "a", "", `"model":"p/m"`)}, want: session.DialectVeyyon},
		{name: "session_init", lines: []string{header, entry("session_init", "a", "", `"task":"x"`)}, want: session.DialectVeyyon},
		{name: "fromExtension", lines: []string{header, entry("compaction", "a", "", `"summary":"s","fromExtension":false`)}, want: session.DialectVeyyon},
		{name: "fromHook", lines: []string{header, entry("compaction", "a", "", `"summary":"s","fromHook":false,"details":{"readFiles":[]}`)}, want: session.DialectPi},
		{name: "delta lists", lines: []string{header, entry("compaction", "a", "", `"summary":"s","details":{"readFilesAdded":[]}`)}, want: session.DialectVeyyon},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := parse(t, tt.lines...)
			require.Equal(t, tt.want, f.Dialect)
			require.Equal(t, tt.want, f.Log.Report.Dialect)
		})
	}
}
