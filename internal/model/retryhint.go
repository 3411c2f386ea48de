package model

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxHint bounds a server's hint. Longer ones are cut: nothing here waits a day.
const maxHint = 24 * time.Hour

// RetryHint reads how long a server asks to wait, 0 when it does not say. The most exact source
// wins (spec/providers §3.3): retry-after-ms, retry-after (seconds or a date), the latest reset of
// a limit that is used up, a delay inside the body, the words "try again in 41.7s".
func RetryHint(h http.Header, message string, inBody time.Duration, now time.Time) time.Duration {
	for _, source := range []func() time.Duration{
		func() time.Duration { return floatUnit(h.Get("retry-after-ms"), time.Millisecond) },
		func() time.Duration { return retryAfter(h.Get("retry-after"), now) },
		func() time.Duration { return limitResets(h, now) },
		func() time.Duration { return inBody },
		func() time.Duration { return hintText(message) },
	} {
		if d := source(); d > 0 {
			return min(d, maxHint)
		}
	}
	return 0
}

func retryAfter(v string, now time.Time) time.Duration {
	if d := floatUnit(v, time.Second); d > 0 {
		return d
	}
	if t, err := http.ParseTime(v); err == nil {
		return t.Sub(now)
	}
	return 0
}

// limitResets is the longest wait among the limits that have nothing remaining, of OpenAI
// (x-ratelimit-reset-<what>: 6m0s, 17ms, 0.5), Azure (seconds), Anthropic
// (anthropic-ratelimit-<what>-reset: RFC 3339, or Unix seconds for its unified limits) and
// OpenRouter (x-ratelimit-reset: Unix milliseconds).
func limitResets(h http.Header, now time.Time) time.Duration {
	var longest time.Duration
	for name, values := range h {
		name = strings.ToLower(name)
		what, ok := resetOf(name)
		if !ok || len(values) == 0 || !usedUp(h, what) {
			continue
		}
		longest = max(longest, resetWait(values[0], now))
	}
	return longest
}

// resetOf turns the name of a reset header into that of the header with what remains.
func resetOf(name string) (remaining string, ok bool) {
	switch {
	case strings.HasPrefix(name, "x-ratelimit-reset"):
		return strings.Replace(name, "-reset", "-remaining", 1), true
	case strings.HasPrefix(name, "anthropic-ratelimit-") && strings.HasSuffix(name, "-reset"):
		return strings.TrimSuffix(name, "-reset") + "-remaining", true
	}
	return "", false
}

// usedUp reports whether nothing remains of a limit. Anthropic's unified limits report a status.
func usedUp(h http.Header, remaining string) bool {
	if v := h.Get(remaining); v != "" {
		n, err := strconv.ParseFloat(v, 64)
		return err == nil && n <= 0
	}
	return h.Get(strings.TrimSuffix(remaining, "remaining")+"status") == "rejected"
}

func resetWait(v string, now time.Time) time.Duration {
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		switch {
		case n > 1e11: // Unix milliseconds
			return time.UnixMilli(int64(n)).Sub(now)
		case n > 1e8: // Unix seconds
			return time.Unix(int64(n), 0).Sub(now)
		}
		return floatUnit(v, time.Second)
	}
	if d, err := time.ParseDuration(v); err == nil {
		return d
	}
	if t, err := time.Parse(time.RFC3339, v); err == nil {
		return t.Sub(now)
	}
	return 0
}

// floatUnit reads a number of units, 0 when it is none or out of bounds.
func floatUnit(v string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n, float64(maxHint/unit)) * float64(unit))
}

var (
	hintWords = regexp.MustCompile(`(?i)(?:try again|retry)(?: in| after) ((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*)+)`)
	hintParts = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)\b`)
	hintJoins = regexp.MustCompile(`([a-zA-Z])(\d)`)
)

// hintText finds "try again in 1m2s", "retry after 30 seconds" and the like.
func hintText(message string) time.Duration {
	m := hintWords.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	var sum time.Duration
	for _, part := range hintParts.FindAllStringSubmatch(hintJoins.ReplaceAllString(m[1], "$1 $2"), -1) {
		sum += floatUnit(part[1], hintUnit(strings.ToLower(part[2])))
	}
	return sum
}

func hintUnit(name string) time.Duration {
	switch {
	case name == "ms" || strings.HasPrefix(name, "milli"):
		return time.Millisecond
	case name[0] == 's':
		return time.Second
	case name[0] == 'm':
		return time.Minute
	case name[0] == 'h':
		return time.Hour
	}
	return 24 * time.Hour
}
