package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/session"
)

// window is the preserveData of a server-side compaction by a provider.
func window(provider string) string {
	return `"preserveData":{"remoteCompaction":{"version":1,"provider":"` + provider + `","api":"openai-responses","model":"g","compactedAt":"2026-01-01T00:00:00Z","window":[{"type":"message"},{"type":"compaction","encrypted_content":"x"}]}}`
}

func effective(t *testing.T, f *session.File) (int, session.Compaction) {
	t.Helper()
	path, err := f.Log.Path()
	require.NoError(t, err)
	k, c, err := session.EffectiveCompaction(path, f)
	require.NoError(t, err)
	return k, c
}

func TestDecodeCompactionReadsBothDialects(t *testing.T) {
	t.Parallel()
	c, err := session.DecodeCompaction([]byte(entry("compaction", "c", "a", `"summary":"s","firstKeptEntryId":"k","tokensBefore":null,"details":{"readFiles":["a"],"recap":{"operation":"op","attempt":2}},"fromHook":true,"customInstructions":"focus"`)))
	require.NoError(t, err)
	require.Equal(t, "s", c.Summary)
	require.Equal(t, "k", c.FirstKeptEntryID)
	require.Nil(t, c.TokensBefore, "null is not 0")
	require.True(t, c.FromExtension)
	require.Equal(t, "focus", c.CustomInstructions)
	require.Equal(t, &session.RecapMark{Operation: "op", Attempt: 2}, c.Recap)

	c, err = session.DecodeCompaction([]byte(entry("compaction", "c", "a", `"summary":"s","shortSummary":"t","tokensBefore":0,"fromExtension":false,"preserveData":{"recap":{"operation":"op"}}`)))
	require.NoError(t, err)
	require.Equal(t, ptr(0), c.TokensBefore)
	require.Equal(t, "t", c.ShortSummary)
	require.False(t, c.FromExtension)
	require.Equal(t, &session.RecapMark{Operation: "op"}, c.Recap)

	_, err = session.DecodeCompaction([]byte(`[`))
	require.Error(t, err)
}

func TestEffectiveCompactionIsTheNewestUsable(t *testing.T) {
	t.Parallel()
	good := compaction("c1", "a", "summary", "a")
	tests := []struct {
		name  string
		later string // fields of a newer compaction
		want  int
	}{
		{name: "newer one with text", later: `"summary":"newer"`, want: 2},
		{name: "empty summary", later: `"summary":""`, want: 1},
		{name: "white space", later: `"summary":" \n"`, want: 1},
		{name: "legacy placeholder", later: `"summary":"placeholder","preserveData":{"openaiRemoteCompaction":{}}`, want: 1},
		{name: "legacy placeholder, second form", later: `"summary":"placeholder","preserveData":{"compactionV2":{}}`, want: 1},
		{name: "CTX-07 window of the active provider", later: `"summary":"",` + window("p"), want: 2},
		{name: "CTX-07 window of another provider", later: `"summary":"",` + window("q"), want: 1},
		{name: "malformed window is absent", later: `"summary":"",` + strings.Replace(window("p"), "encrypted_content", "other", 1), want: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k, _ := effective(t, parse(t, header, user("a", "", "1"), good, entry("compaction", "c2", "c1", tt.later), assistant("z", "c2", textOf("x"))))
			require.Equal(t, tt.want, k)
		})
	}
	k, _ := effective(t, parse(t, header, user("a", "", "1")))
	require.Equal(t, -1, k)
	k, _ = effective(t, parse(t, header, user("a", "", "1"), compaction("x", "a", "other branch", "a"), user("b", "a", "2")))
	require.Equal(t, -1, k, "a compaction on another branch is invisible")
}

func TestActiveProviderIsThatOfTheDefaultModelChange(t *testing.T) {
	t.Parallel()
	// The assistant speaks for p, the explicit change for q; a change of another role says nothing.
	lines := []string{
		header, entry("model_change", "m1", "", `"model":"q/g"`), entry("model_change", "m2", "m1", `"model":"r/h","role":"fallback"`),
		assistant("z", "m2", textOf("x")), entry("compaction", "c", "z", `"summary":"",`+window("q")),
	}
	k, _ := effective(t, parse(t, lines...))
	require.Equal(t, 3, k)
}

func TestBoundaryIndex(t *testing.T) {
	t.Parallel()
	f := parse(t, header, user("a", "", "1"), compaction("c1", "a", "s", "a"), user("b", "c1", "2"), compaction("c2", "b", "s", "b"), user("d", "c2", "3"))
	path, err := f.Log.Path()
	require.NoError(t, err)
	for _, tt := range []struct {
		keep  string
		want  int
		found bool
	}{
		{keep: "", want: 0, found: true},
		{keep: "a", want: 0, found: true},
		{keep: "b", want: 2, found: true},
		{keep: session.KeepNothing, want: 4, found: true},
		{keep: "nope", want: 0, found: false},
	} {
		got, found := session.BoundaryIndex(path, tt.keep)
		require.Equal(t, tt.want, got, fmt.Sprintf("%q", tt.keep))
		require.Equal(t, tt.found, found)
	}
}

func TestArchiveIsRecoveredAsText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"snapcompact":{"text":"a█b\u000e\u000f","frames":[1]}}`: "a\nb",
		`{"snapcompact":{"textHead":"h","textTail":"t"}}`:         "h\nt",
		`{"snapcompact":{"textTail":"t"}}`:                        "t",
		`{"snapcompact":{"frames":[1]}}`:                          "",
		`{}`:                                                      "",
		`null`:                                                    "",
	} {
		c, err := session.DecodeCompaction([]byte(`{"type":"compaction","preserveData":` + in + `}`))
		require.NoError(t, err)
		require.Equal(t, want, c.Archive(), in)
	}
}
