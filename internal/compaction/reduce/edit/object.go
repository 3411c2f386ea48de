package edit

import (
	"slices"

	"github.com/tidwall/gjson"
)

// value is a JSON value at its place in the text around it. The zero value is one that is absent.
type value struct {
	raw   []byte
	start int // in the surrounding text
}

func (v value) exists() bool   { return v.raw != nil }
func (v value) isObject() bool { return len(v.raw) > 0 && v.raw[0] == '{' }
func (v value) isArray() bool  { return len(v.raw) > 0 && v.raw[0] == '[' }
func (v value) isString() bool { return len(v.raw) > 0 && v.raw[0] == '"' }

// string is the decoded text of a string value, "" for any other.
func (v value) string() string {
	if !v.isString() {
		return ""
	}
	return gjson.ParseBytes(v.raw).String()
}

// replace returns the surrounding text with another value in the place of v.
func (v value) replace(around, by []byte) []byte {
	return slices.Concat(around[:v.start], by, around[v.start+len(v.raw):])
}

// member is a key of an object with its value.
type member struct {
	key   string
	start int // of the key's quote
	value value
}

// members lists the members of a checked JSON object, repeated keys included.
func members(obj []byte) []member {
	var out []member
	each(obj, '{', func(k, v gjson.Result) {
		out = append(out, member{k.Str, k.Index, at(obj, v)})
	})
	return out
}

// elements lists the elements of an array value; anything else has none.
func elements(list value) []value {
	var out []value
	each(list.raw, '[', func(_, v gjson.Result) { out = append(out, at(list.raw, v)) })
	return out
}

func each(raw []byte, opens byte, f func(k, v gjson.Result)) {
	if len(raw) == 0 {
		return
	}
	if v := gjson.ParseBytes(raw); len(v.Raw) > 0 && v.Raw[0] == opens {
		v.ForEach(func(k, v gjson.Result) bool {
			f(k, v)
			return true
		})
	}
}

func at(around []byte, v gjson.Result) value {
	return value{raw: around[v.Index : v.Index+len(v.Raw)], start: v.Index}
}

// last finds the value of a key: of equal keys the last one counts, as in the decoder.
func last(obj []byte, key string) value {
	var found value
	for _, m := range members(obj) {
		if m.key == key {
			found = m.value
		}
	}
	return found
}

// set replaces the value that counts for a key, or adds the key at the end of the object.
func set(obj []byte, key string, by []byte) []byte {
	if v := last(obj, key); v.exists() {
		return v.replace(obj, by)
	}
	end := slices.Index(obj, '{') + 1
	comma := ""
	if all := members(obj); len(all) > 0 {
		v := all[len(all)-1].value
		end, comma = v.start+len(v.raw), ","
	}
	return slices.Concat(obj[:end], []byte(comma), quote(key), []byte{':'}, by, obj[end:])
}

// without takes every occurrence of a key out of an object.
func without(obj []byte, key string) []byte {
	all := members(obj)
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].key != key {
			continue
		}
		from, to := all[i].start, all[i].value.start+len(all[i].value.raw)
		switch {
		case i+1 < len(all):
			to = all[i+1].start
		case i > 0:
			from = all[i-1].value.start + len(all[i-1].value.raw)
		}
		obj = slices.Concat(obj[:from], obj[to:])
		all = slices.Delete(all, i, i+1)
		if i < len(all) {
			all = members(obj)
		}
	}
	return obj
}
