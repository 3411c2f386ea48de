package event

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"recap/internal/contract"
)

// Prefix starts every subject of an event.
const Prefix = "recap.v1.evt"

// Subjects matches the subject of every event.
const Subjects = Prefix + ".>"

// Longest token that is spelled out, and how much of a longer one stays readable (bytes).
const (
	maxToken  = 96
	keepToken = 24
)

// Token encodes an id as one token of a subject. Letters, digits, dash and underscore stay; every
// other byte becomes = and two hex digits, so no id yields a dot, a wildcard or white space. The
// empty id is a single =. A result over 96 bytes becomes its first 24 bytes, == and the SHA-256 of
// the id: two ids never share a token, except by a collision of that hash.
func Token(id string) string {
	if id == "" {
		return "="
	}
	var b strings.Builder
	for i := range len(id) {
		if c := id[i]; safe(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('=')
			b.WriteString(hex.EncodeToString([]byte{c}))
		}
	}
	if b.Len() <= maxToken {
		return b.String()
	}
	sum := sha256.Sum256([]byte(id))
	return b.String()[:keepToken] + "==" + hex.EncodeToString(sum[:])
}

func safe(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// SessionToken is the token of a session: store and id together, for two stores may hold the same
// id.
func SessionToken(r contract.SessionRef) string { return Token(r.Store + "/" + r.ID) }

// Subject is the subject of an event.
func Subject(e contract.Event) string {
	return strings.Join([]string{Prefix, Token(e.Session.Tenant), SessionToken(e.Session), Token(e.Operation), Token(e.Name)}, ".")
}

// Subject is the subject that matches what the filter selects.
func (f Filter) Subject() string {
	tenant, session, operation := "*", "*", "*"
	if f.Tenant != "" {
		tenant = Token(f.Tenant)
	}
	if f.Session != (contract.SessionRef{}) {
		tenant, session = Token(f.Session.Tenant), SessionToken(f.Session)
	}
	if f.Operation != "" {
		operation = Token(f.Operation)
	}
	return strings.Join([]string{Prefix, tenant, session, operation, "*"}, ".")
}

// Match reports whether a subject is one the filter selects, as a NATS server decides it.
func (f Filter) Match(subject string) bool {
	want, have := strings.Split(f.Subject(), "."), strings.Split(subject, ".")
	if len(want) != len(have) {
		return false
	}
	for i, w := range want {
		if w != "*" && w != have[i] {
			return false
		}
	}
	return true
}
