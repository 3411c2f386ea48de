package session

import (
	"errors"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

var errNotObject = errors.New("not a JSON object")

// member is a key of an object with the JSON of its value.
type member struct {
	key   string
	value []byte
}

// withKeys returns a JSON object with top-level keys set, at its end. Occurrences of the keys before
// are removed; all other bytes stay.
func withKeys(obj []byte, members ...member) ([]byte, error) {
	v, ok := object(obj)
	if !ok {
		return nil, errNotObject
	}
	empty, present := true, false
	each(v, func(key string, _ gjson.Result) {
		empty = false
		for i := range members {
			present = present || members[i].key == key
		}
	})
	if present {
		for i := range members {
			shorter, err := withoutKey(obj, members[i].key)
			if err != nil {
				return nil, err
			}
			obj = shorter
		}
		return withKeys(obj, members...)
	}
	size := len(v.Raw)
	for i := range members {
		size += len(members[i].key) + len(members[i].value) + 4
	}
	out := append(make([]byte, 0, size), v.Raw[:len(v.Raw)-1]...)
	for i := range members {
		if !empty || i > 0 {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = append(out, members[i].key...)
		out = append(out, '"', ':')
		out = append(out, members[i].value...)
	}
	return append(out, '}'), nil
}

// withKey is withKeys for one key.
func withKey(obj []byte, key string, value []byte) ([]byte, error) {
	return withKeys(obj, member{key, value})
}

// withoutKey removes every occurrence of a top-level key.
func withoutKey(obj []byte, key string) ([]byte, error) {
	for {
		v, ok := object(obj)
		if !ok {
			return nil, errNotObject
		}
		if !get(v, key).Exists() {
			return obj, nil
		}
		shorter, err := sjson.DeleteBytes(obj, key)
		if err != nil {
			return nil, err
		}
		if len(shorter) >= len(obj) {
			return nil, errors.New("cannot remove key " + key)
		}
		obj = shorter
	}
}
