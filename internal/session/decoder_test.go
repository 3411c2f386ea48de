package session

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestDecoderAgreesWithDecodeEntry decodes messages one after the other with one Decoder, overwriting
// the bytes of each before the next, as a reader that reads ahead does.
func TestDecoderAgreesWithDecodeEntry(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{`""`, `"plain"`, `"a\nb\t\u00e9"`, `"\ud83d\ude00 \ud800"`, "\"\xff\"", `null`, `7`})
		block := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{
				`{"type":"text","text":` + text.Draw(t, "text") + `}`,
				`{"type":"thinking","thinking":` + text.Draw(t, "thinking") + `,"thinkingSignature":"s\n"}`,
				`{"type":"toolCall","id":` + text.Draw(t, "call") + `,"name":"read","arguments":{"path": ` + text.Draw(t, "path") + `}}`,
				`{"type":"image","mimeType":"image/png","data":` + text.Draw(t, "data") + `}`,
				`null`,
			}).Draw(t, "block")
		})
		var d Decoder
		var buf []byte
		for range rapid.IntRange(1, 6).Draw(t, "messages") {
			content := "["
			for i, b := range rapid.SliceOfN(block, 0, 4).Draw(t, "blocks") {
				if i > 0 {
					content += ","
				}
				content += b
			}
			body := `{"type":"message","message":{"role":"assistant","content":` + content + `],"usage":{"input":` +
				rapid.SampledFrom([]string{"1", "2", "null"}).Draw(t, "usage") + `},"toolName":` + text.Draw(t, "name") + `}}`
			if rapid.IntRange(0, 9).Draw(t, "cut") == 0 {
				body = body[:len(body)-1]
			}
			e := &Entry{ID: "a", Type: rapid.SampledFrom([]string{TypeMessage, TypeCustom, TypeCustomMessage}).Draw(t, "type")}
			want, ok, wantErr := DecodeEntry(e, []byte(body))
			buf = append(buf[:0], body...)
			got, err := d.Decode(e, buf)
			require.Equal(t, wantErr, err)
			require.Equal(t, ok, got != nil)
			if ok {
				require.Empty(t, cmp.Diff(want, *got, cmpopts.EquateEmpty()))
			}
			clear(buf)
		}
	})
}

// TestSlabKeepsWhatItCopied fills pieces with strings of all sizes and looks at all of them afterwards.
func TestSlabKeepsWhatItCopied(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s Slab
		var want, got []string
		for range rapid.IntRange(0, 40).Draw(t, "strings") {
			b := bytes.Repeat([]byte{byte(rapid.IntRange('a', 'z').Draw(t, "letter"))}, rapid.SampledFrom([]int{0, 1, 7, 250, 256, 5000, 70000}).Draw(t, "length"))
			want = append(want, string(b), string(b)+","+string(b))
			got = append(got, s.Copy(b), s.Join(string(b), ",", string(b)))
			clear(b)
		}
		require.Equal(t, want, got)
	})
}

// TestCompactAgreesWithEncodingJSON compacts values with white space wherever JSON allows it.
func TestCompactAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"1", " 1\n", `"a b\" c"`, "[ ]", "[1 , 2.50e+1,\ttrue]", "{ \"a b\" : { \"c\":\r\n[\"\\\\\" , null] } }", `{"a":"\\"} `,
	} {
		var want bytes.Buffer
		require.NoError(t, json.Compact(&want, []byte(raw)))
		got := AppendCompact([]byte("x"), []byte(raw))
		require.Equal(t, "x"+want.String(), string(got))
		require.Equal(t, want.Len(), CompactLen([]byte(raw)))
	}
	for _, broken := range []string{"", `"`, `{"a`, `"\`, `"\u12`, "\"\x01 \"", `\ "`} {
		require.Len(t, AppendCompact(nil, []byte(broken)), CompactLen([]byte(broken)), broken)
	}
}
