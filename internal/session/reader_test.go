package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTextAgreesWithEncodingJSON reads strings of every kind of character and escape.
func TestTextAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.StringMatching(`[ -!#-\[\]-~]{0,20}`), rapid.SampledFrom([]string{
				`\n`, `\\`, `\"`, `\/`, `\b`, `\f`, `\r`, `\t`, `\u00e9`, `\uD83D\uDE00`, `\ud83d`, `\ude00x`, `\ud83d\n`, `\u0000`, "é", "漢", "😀", "\u2028", "\xff.", // a run of invalid bytes is replaced as one, unlike there
			}),
		)).Draw(t, "pieces")
		raw := `"` + strings.Join(pieces, "") + `"`
		var want string
		require.NoError(t, json.Unmarshal([]byte(raw), &want))
		r := reader{b: []byte(raw)}
		require.Equal(t, want, r.text())
		require.False(t, r.bad)
		require.Equal(t, len(raw), r.i)
	})
}

// TestReaderRefusesWhatIsNoJSON wants an error for every way to break a message, and no panic.
func TestReaderRefusesWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	whole := `{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"a\u00e9"},{"type":"toolCall","arguments":{"a":[1,-2.5e3,true]}}],"usage":{"input":1}}}`
	e := &Entry{ID: "a", Type: TypeMessage}
	_, ok, err := DecodeEntry(e, []byte(whole))
	require.NoError(t, err)
	require.True(t, ok)
	for i := range whole {
		_, _, err := DecodeEntry(e, []byte(whole[:i]))
		require.Error(t, err, "cut at %d", i)
		for _, c := range []string{"}", "x", "\x01", ","} {
			broken := whole[:i] + c + whole[i+1:]
			_, _, err := DecodeEntry(e, []byte(broken))
			require.Equal(t, json.Valid([]byte(broken)), err == nil, broken)
		}
	}
}

func TestEachMember(t *testing.T) {
	t.Parallel()
	var got []string
	require.True(t, EachMember(json.RawMessage(` {"a": 1 , "b\n":{"c":[]}, "a":null} `), func(key string, value json.RawMessage) {
		got = append(got, key+"="+string(value))
	}))
	require.Equal(t, []string{"a=1", "b\n={\"c\":[]}", "a=null"}, got)
	for _, not := range []string{"", "null", "[]", `"a"`, "{", `{"a":}`, `{} {}`} {
		require.False(t, EachMember(json.RawMessage(not), func(string, json.RawMessage) {}), not)
	}
}
