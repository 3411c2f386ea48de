package event_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/contract"
	"recap/internal/event"
)

func TestTokenEncodesUnsafeIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"abc-DEF_012":    "abc-DEF_012",
		"":               "=",
		"=":              "=3d",
		"a.b":            "a=2eb",
		"a/b":            "a=2fb",
		"*":              "=2a",
		">":              "=3e",
		"a b\tc\n":       "a=20b=09c=0a",
		"$SYS":           "=24SYS",
		"größe":          "gr=c3=b6=c3=9fe",
		"\xff":           "=ff",
		"日":              "=e6=97=a5",
		"=3d":            "=3d3d",
		"proj/s.jsonl":   "proj=2fs=2ejsonl",
		"a==b":           "a=3d=3db",
		"UPPER.lower=20": "UPPER=2elower=3d20",
	} {
		require.Equal(t, want, event.Token(id), "%q", id)
	}
}

func TestLongTokenKeepsItsStartAndAHash(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 96)
	require.Equal(t, long, event.Token(long))
	over := event.Token(long + "b")
	require.Regexp(t, `^a{24}==[0-9a-f]{64}$`, over)
	require.NotEqual(t, over, event.Token(long+"c"))
}

var safeToken = regexp.MustCompile(`^[A-Za-z0-9=_-]{1,96}$`)

// Two ids never share a token, and every token is one a NATS server takes.
func TestTokenIsInjectiveAndSafe(t *testing.T) {
	t.Parallel()
	ids := rapid.OneOf(rapid.String(), rapid.StringMatching(`[=a-f0-9./]{0,12}`), rapid.StringMatching(`a{90,99}[=.]?`))
	rapid.Check(t, func(t *rapid.T) {
		a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
		require.Regexp(t, safeToken, event.Token(a))
		require.Equal(t, a == b, event.Token(a) == event.Token(b), "%q %q", a, b)
	})
}

func TestFilterMatchesItsOwnSubjectsOnly(t *testing.T) {
	t.Parallel()
	e := sample(contract.EventStarted)
	subject := event.Subject(e)
	other := e.Session
	other.Store = "other"
	tests := map[string]struct {
		filter  event.Filter
		subject string
		match   bool
	}{
		"everything":        {event.Filter{}, "recap.v1.evt.*.*.*.*", true},
		"tenant":            {event.Filter{Tenant: "acme"}, "recap.v1.evt.acme.*.*.*", true},
		"other tenant":      {event.Filter{Tenant: "acm"}, "recap.v1.evt.acm.*.*.*", false},
		"session":           {event.Filter{Session: e.Session}, "recap.v1.evt.acme.local=2fproj=2fs=2ejsonl.*.*", true},
		"same id elsewhere": {event.Filter{Session: other}, "recap.v1.evt.acme.other=2fproj=2fs=2ejsonl.*.*", false},
		"operation":         {event.Filter{Operation: e.Operation}, "recap.v1.evt.*.*.op-1.*", true},
		"other operation":   {event.Filter{Operation: "op-2"}, "recap.v1.evt.*.*.op-2.*", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.subject, tt.filter.Subject())
			require.Equal(t, tt.match, tt.filter.Match(subject))
		})
	}
	require.False(t, event.Filter{}.Match("recap.v1.cmd.compact"))
}
