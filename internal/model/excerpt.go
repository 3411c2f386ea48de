package model

import (
	"regexp"
	"strings"
	"unicode"
)

// MaxExcerpt is the most bytes of a provider's words that an Error carries.
const MaxExcerpt = 512

// minSecret is how long a known secret must be: shorter ones are also words.
const minSecret = 4

var secretTexts = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[^\s"',;]+`),
	regexp.MustCompile(`\b(?:sk|pk|rk|gsk|xai|key)-[A-Za-z0-9_*-]{6,}`),
	regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{20,}`),
	regexp.MustCompile(`\bA[KS]IA[A-Z0-9]{12,}`),
	regexp.MustCompile(`\b(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{16,}`),
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)+`),
	regexp.MustCompile(`[A-Za-z0-9+/_=-]{40,}`), // base64, hex, anything that is no word
}

// Excerpt makes a provider's words fit for logs and histories: one line, at most MaxExcerpt bytes,
// without keys, tokens and long runs of base64. The given secrets are removed wherever they stand.
func Excerpt(text string, secrets ...string) string {
	text = clip(text, 8*MaxExcerpt)
	for _, secret := range secrets {
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	for _, re := range secretTexts {
		text = re.ReplaceAllString(text, "[redacted]")
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	return clip(strings.Join(strings.Fields(text), " "), MaxExcerpt)
}
