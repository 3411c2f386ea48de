package reduce

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"recap/internal/compaction/reduce/selector"
)

// flagger tells, walking from the newest item back, which results are superseded or useless.
type flagger struct {
	t              *Tail
	reads, useless bool
	seen           map[string]bool // keys of newer reads
}

func (t *Tail) flagger(reads, useless bool) *flagger {
	return &flagger{t: t, reads: reads, useless: useless, seen: map[string]bool{}}
}

// flag looks at the next older item; kind is "" for one that stays.
func (f *flagger) flag(i int) (notice string, kind Kind, err error) {
	ok, err := f.t.candidate(i)
	if err != nil || !ok {
		return "", "", err
	}
	it := &f.t.Items[i]
	useless := f.useless && it.Message.Useless && !it.Message.IsError && savings(it.Tokens, uselessNotice) > 0
	if f.reads {
		covered, err := f.covered(i, useless)
		if err != nil {
			return "", "", err
		}
		if covered {
			return supersededNotice, Superseded, nil
		}
	}
	if useless {
		return uselessNotice, Useless, nil
	}
	return "", "", nil
}

// covered reports whether newer reads cover every target of a read, and notes its targets. Failed
// reads, and those of calls that never ran, neither cover nor are covered. A useless read covers
// nothing either: it goes itself.
func (f *flagger) covered(i int, useless bool) (bool, error) {
	m := &f.t.Items[i].Message
	if m.IsError || m.ToolName != "read" {
		return false, nil
	}
	c, err := f.t.calls.answered(i, m)
	if err != nil || c == nil || !c.ran || c.tool != "read" {
		return false, err
	}
	keys := readKeys(c.args)
	covered := len(keys) > 0
	for _, k := range keys {
		base, _, _ := strings.Cut(k, "\x00")
		covered = covered && (f.seen[k] || f.seen[base])
	}
	if !useless {
		for _, k := range keys {
			f.seen[k] = true
		}
	}
	return covered, nil
}

// readKeys are what a read call reads: for each target its base path, and behind a NUL what narrows
// it to a part. A call with a target that is no file has none.
func readKeys(args json.RawMessage) []string {
	var keys []string
	for _, path := range targets(args) {
		if path == "" || strings.Contains(path, "://") || strings.Contains(path, "\x00") {
			return nil
		}
		base, part := selector.Split(path)
		if part = strings.ToLower(part) + narrowing(args); part != "" {
			base += "\x00" + part
		}
		keys = append(keys, base)
	}
	return keys
}

// narrowing is what the other arguments of a read say. Some agents name the lines there (offset and
// limit), so whatever they are, the read may be of a part only. Arguments that only tell why the call
// was made do not count.
func narrowing(args json.RawMessage) string {
	rest := map[string]json.RawMessage{}
	gjson.ParseBytes(args).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "path", "paths", "i", "_i", "intent":
		default:
			if v.Type != gjson.Null {
				rest[k.Str] = json.RawMessage(v.Raw)
			}
		}
		return true
	})
	if len(rest) == 0 {
		return ""
	}
	raw, err := json.Marshal(rest)
	if err != nil {
		return "?" + string(args) // not JSON: like nothing but itself
	}
	return string(raw)
}
