package session

import (
	"bytes"
	"fmt"
)

// DamagedLine describes a physical line that AppendObjects found damaged. Of a line that is no
// object it tries to tell the id of the entry it held, so that references to it can be explained.
func DamagedLine(line []byte, number int, offset int64, kind DamageKind, whole bool) Damage {
	d := Damage{Kind: kind, Line: number, Offset: offset, Length: len(line)}
	switch kind {
	case DamageGlued:
		d.Detail = "several objects share the line because a newline is missing; all of them are read"
	case DamageUnparseable:
		d.Detail = "not a JSON object; it is left where it is"
		if !whole {
			d.Kind = DamageTornTail
			d.Detail = "the file ends in the middle of an object; it is left where it is"
		}
		d.ID = salvageID(line)
	}
	return d
}

// salvageID returns the entry id that a damaged line seems to have held, "" when it shows none. Every
// known writer puts the entry's id before any other id.
func salvageID(line []byte) string {
	const limit = 64
	_, rest, ok := bytes.Cut(line, []byte(`"id":"`))
	if !ok {
		return ""
	}
	id, _, ok := bytes.Cut(rest[:min(len(rest), limit+1)], []byte(`"`))
	if !ok || len(id) == 0 || bytes.ContainsRune(id, '\\') {
		return ""
	}
	return validUTF8(string(id))
}

func damageOf(kind DamageKind, e *Entry, format string, args ...any) Damage {
	return Damage{Kind: kind, Line: e.Line, Offset: e.Offset, Length: e.Length, ID: e.ID, Detail: fmt.Sprintf(format, args...)}
}

// clip shortens an id of a file for a line of text.
func clip(id string) string {
	const limit = 64
	if len(id) <= limit {
		return id
	}
	return validUTF8(id[:limit]) + "…"
}
