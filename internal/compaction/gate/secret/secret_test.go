package secret_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/compaction/gate/secret"
)

// fake makes a value that looks like a credential and opens nothing.
func fake(prefix string, n int) string { return prefix + strings.Repeat("aZ3kQ9", n/6+1)[:n] }

func TestCredentialsAreMasked(t *testing.T) {
	t.Parallel()
	for kind, text := range map[string]string{
		"github-token":   "token " + fake("ghp_", 36),
		"gitlab-token":   fake("glpat-", 20),
		"slack-token":    fake("xoxb-", 24),
		"api-key":        "use " + fake("sk-ant-", 40) + " here",
		"google-key":     fake("AIza", 35),
		"stripe-key":     fake("sk_live_", 24),
		"npm-token":      fake("npm_", 36),
		"aws-access-key": "AKIA" + strings.Repeat("Q7", 8),
		"jwt":            fake("eyJ", 20) + "." + fake("eyJ", 20) + "." + fake("", 20),
		"url-password":   "postgres://app:" + "s3cretpw" + "@db/main",
		"bearer-token":   "Authorization: Bearer " + fake("", 30),
		"password":       "password: hunter2!x",
		"secret":         `"client_secret": "` + fake("", 24) + `"`,
		"private-key":    "-----BEGIN RSA PRIVATE KEY-----\n" + fake("", 60) + "\n-----END RSA PRIVATE KEY-----",
	} {
		masked, n := secret.Mask(secret.Default(), text)
		require.Equal(t, 1, n, "%s: %s", kind, masked)
		require.Contains(t, masked, "[redacted:"+kind+":", text)
		again, n := secret.Mask(secret.Default(), masked)
		require.Zero(t, n, masked)
		require.Equal(t, masked, again)
	}
}

// TestMaskTellsValuesApart: the same value has the same mask, so facts about it stay readable.
func TestMaskTellsValuesApart(t *testing.T) {
	t.Parallel()
	a, b := fake("ghp_", 36), fake("ghp_", 40)
	masked, n := secret.Mask(secret.Default(), a+" "+b+" "+a)
	require.Equal(t, 3, n)
	parts := strings.Fields(masked)
	require.Equal(t, parts[0], parts[2])
	require.NotEqual(t, parts[0], parts[1])
}

func TestLookAlikesSurvive(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"commit 4f9a2c71be0d88f1a2b3c4d5e6f708192a3b4c5d", "key: 3f2b8c1e-0d4a-4c55-9b7f-2a6d1e8f9c10", "token count: 128000", "sha256: " + strings.Repeat("0a1b", 16),
		"AKIAIOSFODNN7EXAMPLE", "password: <your password>", "PASSWORD=$DB_PASSWORD", "secret: vault:kv/app", "token = process.env.TOKEN", "api_key: YOUR-API-KEY-HERE",
		"password=changeme123", "the password is stored in the keychain", "tokens: 8192, maxTokens=4096", "cache key = user-profile-page", "https://example.org/a?b=c",
		"ssh://git@host/x.git", "monkey: 12345678", "key=value", "Basic authentication is used", "sk-learn is a package", "token: string", "the secret is out",
		"primary key is (id, created_at)", "password reset e-mails", "AUTH_TOKEN is read from .env", "Bearer tokens expire after 15 minutes",
	} {
		masked, n := secret.Mask(secret.Default(), text)
		require.Zero(t, n, masked)
		require.Equal(t, text, masked)
	}
}

func TestMaskIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			fake("ghp_", 36), "password=", "hunter2!x", " ", "\n", "://", "a:", "b2c3d4", "@h", "token: ", fake("", 24), "[redacted:", "]", "bearer ", "-----BEGIN PRIVATE KEY-----",
		})).Draw(t, "parts"), "")
		once, _ := secret.Mask(secret.Default(), text)
		twice, n := secret.Mask(secret.Default(), once)
		if n != 0 || twice != once {
			t.Fatalf("%q became %q", once, twice)
		}
	})
}
