package transcript_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// TestEncodeIsWhatEncodingJSONWrites also fails when a field is added to a type and not to Encode:
// rapid fills every exported field.
func TestEncodeIsWhatEncodingJSONWrites(t *testing.T) {
	t.Parallel()
	request := rapid.Make[transcript.Request]()
	rapid.Check(t, func(t *rapid.T) {
		r := request.Draw(t, "request")
		encoded := r.Encode()
		require.Equal(t, len(encoded), cap(encoded), "allocated once")

		var want, got transcript.Request
		plain, err := json.Marshal(r)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(plain, &want))
		require.NoError(t, json.Unmarshal(encoded, &got))
		require.Empty(t, cmp.Diff(want, got, cmpopts.IgnoreUnexported(transcript.Call{}), cmpopts.EquateEmpty()))
	})
}

func TestEncodeEscapes(t *testing.T) {
	t.Parallel()
	r := transcript.Request{Part: contract.PartHistory, Conversation: []transcript.Block{{Role: transcript.User, Text: "a\"b\\c\n\t\r\x00\x1f</b>日😀\u2028"}}}
	require.Equal(t, `{"part":"history","system":"","conversation":[{"role":"user","text":"a\"b\\c\n\t\u000d\u0000\u001f</b>日😀`+"\u2028"+`"}],"instruction":""}`, string(r.Encode()))
	var back transcript.Request
	require.NoError(t, json.Unmarshal(r.Encode(), &back))
	require.Empty(t, cmp.Diff(r, back, cmpopts.IgnoreUnexported(transcript.Call{})))
}
