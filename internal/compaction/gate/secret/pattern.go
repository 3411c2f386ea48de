package secret

import (
	"regexp"
	"strings"
)

// pattern is one kind of credential. Hints are words in lower case of which a text must hold one
// before the expression is worth running; group is the submatch that is the credential.
type pattern struct {
	kind  string
	hints []string
	expr  *regexp.Regexp
	group int
	guess bool // the value's shape says little: it must look random and be no placeholder
}

var patterns = []pattern{
	{kind: "private-key", hints: []string{"private key"}, expr: regexp.MustCompile(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s]*)`)},
	{kind: "aws-access-key", hints: []string{"akia", "asia"}, expr: regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{kind: "github-token", hints: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, expr: regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})`)},
	{kind: "gitlab-token", hints: []string{"glpat-"}, expr: regexp.MustCompile(`\bglpat-[\w-]{20,}`)},
	{kind: "slack-token", hints: []string{"xox"}, expr: regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},
	{kind: "slack-webhook", hints: []string{"hooks.slack.com"}, expr: regexp.MustCompile(`hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}`)},
	{kind: "api-key", hints: []string{"sk-"}, expr: regexp.MustCompile(`\bsk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{20,}`), guess: true},
	{kind: "google-key", hints: []string{"aiza", "ya29."}, expr: regexp.MustCompile(`\b(?:AIza[\w-]{35}|ya29\.[\w-]{20,})`)},
	{kind: "stripe-key", hints: []string{"sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"}, expr: regexp.MustCompile(`\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,})`)},
	{kind: "npm-token", hints: []string{"npm_"}, expr: regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}\b`)},
	{kind: "pypi-token", hints: []string{"pypi-"}, expr: regexp.MustCompile(`\bpypi-[\w-]{50,}`)},
	{kind: "huggingface-token", hints: []string{"hf_"}, expr: regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}`)},
	{kind: "sendgrid-key", hints: []string{"sg."}, expr: regexp.MustCompile(`\bSG\.[\w-]{16,32}\.[\w-]{30,60}`)},
	{kind: "digitalocean-token", hints: []string{"dop_v1_", "doo_v1_"}, expr: regexp.MustCompile(`\bdo[op]_v1_[a-f0-9]{64}\b`)},
	{kind: "age-key", hints: []string{"age-secret-key-"}, expr: regexp.MustCompile(`\bAGE-SECRET-KEY-1[0-9A-Z]{50,}`)},
	{kind: "telegram-token", hints: []string{":aa"}, expr: regexp.MustCompile(`\b\d{8,10}:AA[\w-]{33}\b`)},
	{kind: "jwt", hints: []string{"eyj"}, expr: regexp.MustCompile(`\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}`)},
	{kind: "url-password", hints: []string{"://"}, expr: regexp.MustCompile("\\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\\s/:@\"'<>`]*:([^\\s/@\"'<>`]{3,})@[\\w.\\[-]"), group: 1, guess: true},
	{kind: "bearer-token", hints: []string{"bearer", "basic "}, expr: regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{16,})`), group: 1, guess: true},
	{
		kind: "password", hints: []string{"passw", "pwd", "passphrase"}, group: 1, guess: true,
		expr: regexp.MustCompile("(?i)(?:passw(?:or)?d|pwd|passphrase)[\"'`]?\\s*(?:[:=]|=>|\\bis\\b)\\s*[\"'`]?([^\\s\"'`,;()<>\\[\\]{}]{6,})"),
	},
	{
		kind: "secret", hints: []string{"secret", "token", "key", "credential"}, group: 1, guess: true,
		expr: regexp.MustCompile("(?i)(?:secret|token|api[_ -]?key|apikey|access[_-]?key|account[_-]?key|auth[_-]?key|credentials?)(?:[_-](?:key|id|value))?[\"'`]?\\s*(?:[:=]|=>|\\bis\\b)\\s*[\"'`]?([A-Za-z0-9_+/=.~!@#$%^&*-]{8,})"),
	},
}

// documented are values that vendors print in their manuals; they open nothing.
var documented = []string{
	"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AKIAI44QH8DHBEXAMPLE", "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
	"sk_test_4eC39HqLyjWDarjtT1zdp7dc", "sk_test_BQokikJOvBiI2HlWgH4olfQ2",
}

type known struct{}

// Default returns the built-in patterns. They favour certainty: shapes that vendors reserve for
// credentials, and values that are named as a secret and look random.
func Default() Finder { return known{} }

func (known) Find(text string) []Match {
	lower := asciiLower(text)
	var out []Match
	for i := range patterns {
		p := &patterns[i]
		for _, w := range p.windows(text, lower) {
			for _, m := range p.expr.FindAllStringSubmatchIndex(text[w[0]:w[1]], -1) {
				start, end := w[0]+m[2*p.group], w[0]+m[2*p.group+1]
				value := text[start:end]
				if trimmed := strings.TrimRight(value, ".!"); p.guess && len(trimmed) < len(value) {
					value, end = trimmed, start+len(trimmed)
				}
				if value == "" || isDocumented(value) || (p.guess && !looksRandom(value, p.kind)) {
					continue
				}
				out = append(out, Match{Start: start, End: end, Kind: p.kind})
			}
		}
	}
	return out
}

// How far around a hint an expression looks, in bytes; a window ends at white space.
const (
	before = 64
	behind = 256
)

// windows are the stretches of a text around the hints of a pattern: expressions are slow, and most
// text has no credentials.
func (p *pattern) windows(text, lower string) [][2]int {
	var out [][2]int
	for _, hint := range p.hints {
		for from := 0; ; {
			i := strings.Index(lower[from:], hint)
			if i < 0 {
				break
			}
			i += from
			if p.kind == "private-key" { // has many lines
				return [][2]int{{0, len(text)}}
			}
			start := max(0, i-before)
			for start > 0 && !space(text[start-1]) && i-start < 8*before {
				start--
			}
			end := min(len(text), i+len(hint)+behind)
			for end < len(text) && !space(text[end]) {
				end++
			}
			out = append(out, [2]int{start, end})
			from = end
		}
	}
	return out
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func isDocumented(value string) bool {
	for _, d := range documented {
		if value == d {
			return true
		}
	}
	return false
}

var (
	// reference is a value that only names where the secret is.
	reference = regexp.MustCompile(`^(?:\$|%\w+%|process\.env|os\.|env[.:_]|ENV\b|secrets?[./]|vault[:/]|file:|op://|~?/|\./|https?:|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$)`)
	filler    = regexp.MustCompile(`(?i)example|placeholder|change[-_]?me|your[-_]|dummy|redacted|masked|not[-_]a[-_]real|\.\.\.|^x+$|xxxx|\*\*\*|^(?:none|null|undefined|string|true|false|required|optional)$`)
	lookalike = regexp.MustCompile(`(?i)^(?:[0-9a-f]{7,8}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|sha\d+[:-].*|v?\d+(?:\.\d+)+|[\d.,_:-]+)$`)
)

// looksRandom tells a value from a word, a reference and a placeholder. Passwords may be short and
// readable, so what is named a password needs less; and what is named a secret may be hex.
func looksRandom(value, kind string) bool {
	if reference.MatchString(value) || filler.MatchString(value) {
		return false
	}
	digit, letter, other := false, false, false
	for _, r := range value {
		switch {
		case '0' <= r && r <= '9':
			digit = true
		case 'a' <= r|0x20 && r|0x20 <= 'z':
			letter = true
		case r != '-' && r != '_' && r != '.' && r != '/':
			other = true
		}
	}
	switch kind {
	case "url-password":
		return true
	case "password":
		return (letter && (digit || other)) && !lookalike.MatchString(value) && !strings.Contains(value, "(")
	case "secret":
		return letter && digit && len(value) >= 12 && !lookalike.MatchString(value) && !isCode(value)
	}
	return letter && digit
}

// isCode tells an expression or a dashed word from a value: few digits among words.
func isCode(value string) bool {
	digits, breaks := 0, 0
	for _, r := range value {
		switch {
		case '0' <= r && r <= '9':
			digits++
		case r == '.' || r == '-' || r == '_' || r == '/':
			breaks++
		}
	}
	return breaks > 0 && digits*5 < len(value)
}
