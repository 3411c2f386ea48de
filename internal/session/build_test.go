package session_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/session"
)

func newCompaction() session.NewCompaction {
	return session.NewCompaction{
		ID: "c1", ParentID: "p1", Timestamp: "2026-01-01T00:00:00.000Z", Summary: "a <b> & \"c\"\n\u2028", FirstKeptEntryID: "k1",
		Recap: session.RecapMark{Operation: "op/1", Attempt: 2},
	}
}

func TestBuildCompactionForPi(t *testing.T) {
	t.Parallel()
	c := newCompaction()
	c.TokensBefore = ptr(7)
	c.Details = json.RawMessage(`{"readFiles":["a"],"modifiedFiles":["b"],"recap":"forged"}`)
	c.CustomInstructions = "focus"
	c.PreserveData = json.RawMessage(`{"x":1}`)
	got, err := session.BuildCompaction(session.DialectPi, c)
	require.NoError(t, err)
	require.Equal(t, `{"type":"compaction","id":"c1","parentId":"p1","timestamp":"2026-01-01T00:00:00.000Z","summary":"a <b> & \"c\"\n\u2028","firstKeptEntryId":"k1","tokensBefore":7,`+
		`"details":{"readFiles":["a"],"modifiedFiles":["b"],"recap":{"operation":"op/1","attempt":2}},"fromHook":false,"customInstructions":"focus"}`, string(got))
}

func TestBuildCompactionForVeyyon(t *testing.T) {
	t.Parallel()
	c := newCompaction()
	c.ParentID, c.Estimate = "", 12
	c.Details = json.RawMessage(`{"base":"c0","readFilesAdded":["a"],"modifiedFilesAdded":[]}`)
	c.PreserveData = json.RawMessage(`{"x":1}`)
	got, err := session.BuildCompaction(session.DialectVeyyon, c)
	require.NoError(t, err)
	require.Equal(t, `{"type":"compaction","id":"c1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","summary":"a <b> & \"c\"\n\u2028","firstKeptEntryId":"k1","tokensBefore":12,`+
		`"details":{"base":"c0","readFilesAdded":["a"],"modifiedFilesAdded":[]},"preserveData":{"x":1,"recap":{"operation":"op/1","attempt":2}},"fromExtension":false}`, string(got))
}

func TestBuildCompactionNeverWritesNullTokens(t *testing.T) {
	t.Parallel()
	for _, d := range []session.Dialect{session.DialectPi, session.DialectVeyyon} {
		c := newCompaction()
		c.TokensBefore = ptr(-1)
		body, err := session.BuildCompaction(d, c)
		require.NoError(t, err)
		require.Contains(t, string(body), `"tokensBefore":0`)
		c.TokensBefore, c.Estimate = nil, 33
		body, err = session.BuildCompaction(d, c)
		require.NoError(t, err)
		got, err := session.DecodeCompaction(body)
		require.NoError(t, err)
		require.Equal(t, ptr(33), got.TokensBefore)
	}
}

func TestBuildCompactionRefusesWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for _, d := range []session.Dialect{session.DialectPi, session.DialectVeyyon} {
		c := newCompaction()
		c.Details = json.RawMessage(`[1]`)
		_, err := session.BuildCompaction(d, c)
		require.Error(t, err)
	}
	c := newCompaction()
	c.PreserveData = json.RawMessage(`{"a":`)
	_, err := session.BuildCompaction(session.DialectVeyyon, c)
	require.Error(t, err)
	_, err = session.BuildCompaction("other", newCompaction())
	require.Error(t, err)
}

// What is built is one line, and reads back as it was meant, in its own dialect.
func TestBuiltCompactionsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]session.Dialect{session.DialectPi, session.DialectVeyyon}).Draw(t, "dialect")
		c := session.NewCompaction{
			ID: "c1", ParentID: "p", Summary: rapid.String().Draw(t, "summary"), FirstKeptEntryID: rapid.StringN(1, 8, -1).Draw(t, "keep"),
			CustomInstructions: rapid.String().Draw(t, "focus"), FromExtension: rapid.Bool().Draw(t, "hook"),
			TokensBefore: ptr(rapid.IntRange(0, 1<<40).Draw(t, "tokens")),
			Recap:        session.RecapMark{Operation: rapid.StringN(1, 20, -1).Draw(t, "op"), Attempt: rapid.IntRange(1, 9).Draw(t, "attempt")},
		}
		body, err := session.BuildCompaction(d, c)
		require.NoError(t, err)
		require.NotContains(t, string(body), "\n")
		objects, kind := session.Inspect(body)
		require.Empty(t, kind)
		require.Equal(t, "compaction", objects[0].Type)
		require.Equal(t, "p", objects[0].ParentID)
		got, err := session.DecodeCompaction(body)
		require.NoError(t, err)
		require.Equal(t, c.Summary, got.Summary)
		require.Equal(t, c.FirstKeptEntryID, got.FirstKeptEntryID)
		require.Equal(t, c.CustomInstructions, got.CustomInstructions)
		require.Equal(t, c.FromExtension, got.FromExtension)
		require.Equal(t, c.TokensBefore, got.TokensBefore)
		require.Equal(t, &c.Recap, got.Recap)
		if d == session.DialectVeyyon {
			require.Equal(t, session.DialectVeyyon, objects[0].Signals().Dialect())
		}
	})
}
