package session_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"recap/internal/session"
)

const oldHeader = `{"type":"session","id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/x","provider":"anthropic","modelId":"m"}`

func oldMessage(text string) string {
	return `{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":` + quote(text) + `}}`
}

func oldCompaction(index string) string {
	return `{"type":"compaction","timestamp":"2025-01-01T00:00:02.000Z","summary":"sum","firstKeptEntryIndex":` + index + `,"tokensBefore":5}`
}

func bodies(t *testing.T, f *session.File) []string {
	t.Helper()
	var out []string
	for i := range f.Log.Entries {
		b, err := f.Body(&f.Log.Entries[i])
		require.NoError(t, err)
		require.True(t, json.Valid(b))
		out = append(out, string(b))
	}
	return out
}

func TestMigrationChainsVersion1AndKeepsOtherBytes(t *testing.T) {
	t.Parallel()
	f := parse(t, oldHeader, oldMessage("one"), oldMessage("two"))
	require.Equal(t, 1, f.Log.Header.Version)
	e := f.Log.Entries
	require.Regexp(t, regexp.MustCompile(`^[0-9a-f]{8}$`), e[0].ID)
	require.NotEqual(t, e[0].ID, e[1].ID)
	require.Empty(t, e[0].ParentID)
	require.Equal(t, e[0].ID, e[1].ParentID)
	got := bodies(t, f)
	require.Equal(t, strings.TrimSuffix(oldMessage("one"), "}")+`,"id":"`+e[0].ID+`","parentId":null}`, got[0])
	require.Equal(t, strings.TrimSuffix(oldMessage("two"), "}")+`,"id":"`+e[1].ID+`","parentId":"`+e[0].ID+`"}`, got[1])
}

func TestMigrationIDsFollowFromLineAndContent(t *testing.T) {
	t.Parallel()
	a := parse(t, oldHeader, oldMessage("same"), oldMessage("same"))
	b := parse(t, oldHeader, oldMessage("same"), oldMessage("same"), oldMessage("more"))
	require.NotEqual(t, a.Log.Entries[0].ID, a.Log.Entries[1].ID, "equal content on two lines")
	require.Equal(t, a.Log.Entries[0].ID, b.Log.Entries[0].ID, "an append changes no id")
	require.Equal(t, a.Log.Entries[1].ID, b.Log.Entries[1].ID)
	glued := parse(t, oldHeader, oldMessage("same")+oldMessage("same"))
	require.NotEqual(t, glued.Log.Entries[0].ID, glued.Log.Entries[1].ID, "equal content on one line")
}

func TestMigrationResolvesTheKeptIndex(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lines []string
		want  int // entry the compaction keeps from, -1 for none named
	}{
		{name: "counts the header as 0", lines: []string{oldMessage("a"), oldMessage("b"), oldCompaction("2")}, want: 1},
		{name: "the header itself", lines: []string{oldMessage("a"), oldCompaction("0")}, want: -1},
		{name: "out of range", lines: []string{oldMessage("a"), oldCompaction("9")}, want: -1},
		{name: "negative", lines: []string{oldMessage("a"), oldCompaction("-1")}, want: -1},
		{name: "the compaction itself keeps nothing before it", lines: []string{oldMessage("a"), oldCompaction("2")}, want: 1},
		{name: "glued objects count one each", lines: []string{oldMessage("a") + oldMessage("b"), oldMessage("c"), oldCompaction("3")}, want: 2},
		{name: "a line that is no object does not count", lines: []string{oldMessage("a"), "garbage", oldMessage("c"), oldCompaction("2")}, want: 1},
		{name: "a second header counts", lines: []string{oldMessage("a"), oldHeader, oldMessage("c"), oldCompaction("3")}, want: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := parse(t, append([]string{oldHeader}, tt.lines...)...)
			got := bodies(t, f)
			c := got[len(got)-1]
			require.False(t, gjson.Get(c, "firstKeptEntryIndex").Exists())
			if tt.want < 0 {
				require.False(t, gjson.Get(c, "firstKeptEntryId").Exists())
				return
			}
			require.Equal(t, f.Log.Entries[tt.want].ID, gjson.Get(c, "firstKeptEntryId").Str)
		})
	}
}

func TestMigrationReplacesIDsOfAVersion1FileThatHasSome(t *testing.T) {
	t.Parallel()
	f := parse(t, oldHeader, `{"id":"m1","type":"message","parentId":"zz","id":"m2","message":{"role":"user","content":"x"}}`)
	got := bodies(t, f)[0]
	require.Equal(t, 1, strings.Count(got, `"id":`))
	require.Equal(t, f.Log.Entries[0].ID, gjson.Get(got, "id").Str)
	require.Equal(t, gjson.Null, gjson.Get(got, "parentId").Type)
}

func TestMigrationRenamesHookMessages(t *testing.T) {
	t.Parallel()
	for _, h := range []string{oldHeader, strings.Replace(header, `"version":3`, `"version":2`, 1)} {
		line := entry("message", "a", "", `"message":{"role":"hookMessage","customType":"note","content":"x","role":"hookMessage"},"extra":[1, 2]`)
		f := parse(t, h, line)
		require.Equal(t, session.RoleCustom, f.Log.Entries[0].Role)
		got := bodies(t, f)[0]
		require.Equal(t, "custom", gjson.Get(got, "message.role").Str)
		require.NotContains(t, got, "hookMessage")
		require.Contains(t, got, `"extra":[1, 2]`)
	}
}

func TestMigrationLeavesVersion2IDsAndVersion3Bytes(t *testing.T) {
	t.Parallel()
	f := parse(t, strings.Replace(header, `"version":3`, `"version":2`, 1), user("keepme", "", "x"))
	require.Equal(t, "keepme", f.Log.Entries[0].ID)
	require.Equal(t, []string{user("keepme", "", "x")}, bodies(t, f))
	hook := entry("message", "a", "", `"message":{"role":"hookMessage","content":"x"}`)
	require.Equal(t, []string{hook}, bodies(t, parse(t, header, hook)), "a current file is not touched")
}

func TestMigrateHeaderSetsOnlyTheVersion(t *testing.T) {
	t.Parallel()
	got, err := session.MigrateHeader([]byte(oldHeader))
	require.NoError(t, err)
	require.Equal(t, strings.TrimSuffix(oldHeader, "}")+`,"version":3}`, string(got))
	got, err = session.MigrateHeader([]byte(strings.Replace(header, `"version":3`, `"version":2`, 1)))
	require.NoError(t, err)
	require.Equal(t, header, string(got))
	_, err = session.MigrateHeader([]byte(`[]`))
	require.Error(t, err)
}
