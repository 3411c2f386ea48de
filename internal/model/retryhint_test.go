package model

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetryHint(t *testing.T) {
	t.Parallel()
	s := time.Second
	cases := []struct {
		name    string
		headers []string
		message string
		inBody  time.Duration
		want    time.Duration
	}{
		{name: "none"},
		{name: "milliseconds", headers: []string{"Retry-After-Ms", "1500", "Retry-After", "9"}, want: 1500 * time.Millisecond},
		{name: "seconds", headers: []string{"Retry-After", "30"}, want: 30 * s},
		{name: "fractions", headers: []string{"Retry-After", "0.5"}, want: s / 2},
		{name: "date", headers: []string{"Retry-After", "Tue, 05 May 2026 12:01:40 GMT"}, want: 100 * s},
		{name: "past date", headers: []string{"Retry-After", "Tue, 05 May 2026 11:00:00 GMT"}},
		{name: "negative", headers: []string{"Retry-After", "-3"}},
		{name: "nonsense", headers: []string{"Retry-After", "soon", "Retry-After-Ms", "NaN"}},
		{name: "endless", headers: []string{"Retry-After", "1e300"}, want: 24 * time.Hour},
		{name: "openai resets", headers: []string{
			"X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "1m2s",
			"X-Ratelimit-Remaining-Tokens", "12", "X-Ratelimit-Reset-Tokens", "6m0s",
		}, want: 62 * s},
		{name: "openai, the later of two", headers: []string{
			"X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "17ms",
			"X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "6m0s",
		}, want: 6 * time.Minute},
		{name: "azure seconds", headers: []string{"X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "45"}, want: 45 * s},
		{name: "nothing used up", headers: []string{"X-Ratelimit-Remaining-Tokens", "5", "X-Ratelimit-Reset-Tokens", "45"}},
		{name: "openrouter", headers: []string{"X-Ratelimit-Remaining", "0", "X-Ratelimit-Reset", strconv.FormatInt(noon.Add(40*s).UnixMilli(), 10)}, want: 40 * s},
		{name: "anthropic rfc 3339", headers: []string{
			"Anthropic-Ratelimit-Input-Tokens-Remaining", "0", "Anthropic-Ratelimit-Input-Tokens-Reset", "2026-05-05T12:00:50Z",
		}, want: 50 * s},
		{name: "anthropic unix", headers: []string{
			"Anthropic-Ratelimit-Unified-Status", "rejected", "Anthropic-Ratelimit-Unified-Reset", strconv.FormatInt(noon.Add(3*time.Hour).Unix(), 10),
		}, want: 3 * time.Hour},
		{name: "header over body", headers: []string{"Retry-After", "2"}, message: "try again in 41s", inBody: 34 * s, want: 2 * s},
		{name: "body over text", message: "retry in 41s", inBody: 34 * s, want: 34 * s},
		{name: "text", message: "Please try again in 41.724s. Visit …", want: 41724 * time.Millisecond},
		{name: "text, minutes", message: "Please try again in 1m2s.", want: 62 * s},
		{name: "text, millis", message: "try again in 500ms", want: s / 2},
		{name: "text, words", message: "Try again in 5 seconds. Passed model=x", want: 5 * s},
		{name: "text, words of minutes", message: "Please retry after 2 minutes", want: 2 * time.Minute},
		{name: "text, no number", message: "please try again in a moment"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			for i := 0; i < len(c.headers); i += 2 {
				h.Set(c.headers[i], c.headers[i+1])
			}
			require.Equal(t, c.want, RetryHint(h, c.message, c.inBody, noon))
		})
	}
}

func TestRetryHintOfADailyLimit(t *testing.T) {
	t.Parallel()
	perDay := `{"error":{"message":"Rate limit reached on tokens per day (TPD): Limit 100, Used 100, Requested 5."}}`
	require.Equal(t, ClassQuota, Classify(response(429, perDay)).Class, "nobody knows when it ends")
	got := Classify(response(429, perDay, "Retry-After", "500"))
	require.Equal(t, ClassRateLimited, got.Class, "the server knows when it ends")
	require.Equal(t, 500*time.Second, got.RetryAfter)
}

func TestGoogleRetryInfo(t *testing.T) {
	t.Parallel()
	got := Classify(response(429, `[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[{"retryDelay":"34.5s"}]}}]`))
	require.Equal(t, 34500*time.Millisecond, got.RetryAfter)
}
