package model

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestExcerptRemovesSecrets(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		"sk-proj-abcDEF123456", "sk-ant-api03-xyz_890", "AIzaSyA1234567890abcdefghijk", "AKIAIOSFODNN7EXAMPLE",
		"ghp_abcdefghijklmnop1234", "Bearer abc.def", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
		strings.Repeat("aGVsbG8", 12), strings.Repeat("0123456789abcdef", 4), "hunter22",
	} {
		got := Excerpt("the key "+secret+" is wrong", "x", "hunter22")
		require.NotContains(t, got, secret)
		require.Contains(t, got, "[redacted]")
	}
}

func TestExcerptIsOneShortLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text") + strings.Repeat(rapid.String().Draw(t, "more")+"ü ", 300)
		got := Excerpt(text)
		if len(got) > MaxExcerpt || strings.ContainsAny(got, "\r\n\x00") || !utf8.ValidString(got) {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
	})
}

func FuzzClassify(f *testing.F) {
	f.Add(400, []byte(`{"error":{"message":"prompt is too long: 2 tokens > 1 maximum"}}`), "stop")
	f.Add(200, []byte(`[{"error":{"code":429,"details":[{"retryDelay":"34s"}]}}]`), "")
	f.Add(500, []byte(`<html>`), "length")
	f.Add(0, []byte(`{"error":{"metadata":{"raw":"{\"error\":\"x\"}"}}}`), "")
	known := map[Class]bool{}
	for _, class := range Classes {
		known[class] = true
	}
	f.Fuzz(func(t *testing.T, status int, body []byte, finish string) {
		for _, e := range []Evidence{
			response(status, string(body)),
			answered(func(e *Evidence) { e.Status, e.Text, e.Finish = status, string(body), finish }),
		} {
			got := Classify(e)
			if got == nil {
				require.NotEmpty(t, strings.TrimSpace(e.Text))
				require.NotEmpty(t, e.Finish)
				continue
			}
			require.True(t, known[got.Class], got.Class)
			require.LessOrEqual(t, len(got.Excerpt), MaxExcerpt)
			require.GreaterOrEqual(t, got.RetryAfter, time.Duration(0))
			require.LessOrEqual(t, got.RetryAfter, maxHint)
			require.GreaterOrEqual(t, got.Used+got.Max, 0)
		}
	})
}
