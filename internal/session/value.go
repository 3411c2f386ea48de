package session

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/tidwall/gjson"
)

// view parses a checked JSON value without copying it. What is taken from the result must be copied
// (text, raw): it shares memory with b.
func view(b []byte) gjson.Result {
	if len(b) == 0 {
		return gjson.Result{}
	}
	return gjson.Parse(unsafe.String(&b[0], len(b)))
}

// each calls f for every key of an object, in order, so that the last of equal keys counts. Anything
// but an object has no keys.
func each(v gjson.Result, f func(key string, value gjson.Result)) {
	if !v.IsObject() {
		return
	}
	v.ForEach(func(k, value gjson.Result) bool {
		f(k.Str, value)
		return true
	})
}

// get returns the last value of a key of an object.
func get(v gjson.Result, key string) gjson.Result {
	var found gjson.Result
	each(v, func(k string, value gjson.Result) {
		if k == key {
			found = value
		}
	})
	return found
}

// text copies a string value as valid UTF-8; anything else is "".
func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	s := v.Str
	if len(s)+2 == len(v.Raw) { // no escapes: s is a part of the parsed text
		s = strings.Clone(s)
	}
	return validUTF8(s)
}

// raw copies the bytes of a value; null and absent are nil.
func raw(v gjson.Result) json.RawMessage {
	if v.Raw == "" || v.Type == gjson.Null {
		return nil
	}
	return json.RawMessage(v.Raw)
}

// count returns a number of tokens or the like: 0 for anything but a non-negative number.
func count(v gjson.Result) int {
	if v.Type != gjson.Number || v.Num < 0 || v.Num > 1<<53 {
		return 0
	}
	return int(v.Num)
}

// number returns a number of any sign, nil for anything else.
func number(v gjson.Result) *int {
	if v.Type != gjson.Number || v.Num < -(1<<53) || v.Num > 1<<53 {
		return nil
	}
	n := int(v.Num)
	return &n
}

func isoMillis(s string) int64 {
	if s == "" {
		return 0
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n // some writers store milliseconds
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}
