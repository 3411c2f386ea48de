package session

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"
)

// NotSessionError says why a file is not a session that this package reads.
type NotSessionError struct {
	Format string // what it looks like: "framed journal", "Claude Code", "Codex", or ""
	Reason string
}

func (e *NotSessionError) Error() string { return "not a session file: " + e.Reason }

// Refuse explains why a file whose first record is o (nil when its first line holds none) is no
// session. The first bytes of the file tell a framed journal from damage.
func Refuse(first []byte, o *Object) *NotSessionError {
	if o == nil {
		trimmed := bytes.TrimSpace(bytes.TrimPrefix(first, bom))
		switch {
		case len(trimmed) == 0:
			return &NotSessionError{Reason: "it is empty"}
		case trimmed[0] != '{':
			return &NotSessionError{
				Format: "framed journal",
				Reason: "its first byte starts no JSON object; it may be a framed journal that only bears the name .jsonl: export it as flat JSONL with its own agent",
			}
		}
		return &NotSessionError{Reason: "its first line is not a JSON object"}
	}
	v := view(o.Raw)
	foreign := func(agent string) *NotSessionError {
		return &NotSessionError{Format: agent, Reason: "it is a transcript of " + agent + ", whose format is not read"}
	}
	switch {
	case o.Type == TypeHeader:
		return &NotSessionError{Reason: "its header has no string id"}
	case o.Type == "session_meta" || get(v, "payload").Exists():
		return foreign("Codex")
	case get(v, "sessionId").Exists() || get(v, "parentUuid").Exists() || get(v, "leafUuid").Exists() || o.Type == "file-history-snapshot":
		return foreign("Claude Code")
	case o.Type == "":
		return &NotSessionError{Reason: "its first record has no type; a session starts with a header"}
	}
	return &NotSessionError{Reason: fmt.Sprintf("its first record is of type %.40q; a session starts with a header of type \"session\"", o.Type)}
}

// ParseHeader reads a session header. It returns a *NotSessionError for anything else.
func ParseHeader(o *Object) (Header, error) {
	v := view(o.Raw)
	id := text(get(v, "id"))
	if o.Type != TypeHeader || id == "" {
		return Header{}, Refuse(o.Raw, o)
	}
	return Header{
		ID: id, Version: version(get(v, "version")), Timestamp: o.Timestamp, Cwd: text(get(v, "cwd")), Raw: bytes.Clone(o.Raw),
	}, nil
}

// version reads a version as agents compare it: none is 1, numbers in quotes count, and anything
// else is never migrated.
func version(v gjson.Result) int {
	if !v.Exists() || v.Type == gjson.Null {
		return 1
	}
	if n := number(v); n != nil {
		return *n
	}
	if n, err := strconv.Atoi(v.Str); err == nil {
		return n
	}
	return CurrentVersion
}

// IsTitle reports whether an object is a title slot, which may stand before the header.
func (o *Object) IsTitle() bool { return o.Type == TypeTitle }
