package session

import (
	"errors"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

var errNotObject = errors.New("not a JSON object")

// withKey returns a JSON object with a top-level key set to a JSON value, at its end. Occurrences of
// the key before are removed; all other bytes stay.
func withKey(obj []byte, key string, value []byte) ([]byte, error) {
	obj, err := withoutKey(obj, key)
	if err != nil {
		return nil, err
	}
	v, _ := object(obj)
	end := len(v.Raw) - 1
	out := make([]byte, 0, len(obj)+len(key)+len(value)+4)
	out = append(out, v.Raw[:end]...)
	if hasKeys(v) {
		out = append(out, ',')
	}
	out = append(out, '"')
	out = append(out, key...)
	out = append(out, '"', ':')
	out = append(out, value...)
	return append(out, '}'), nil
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

func hasKeys(v gjson.Result) bool {
	any := false
	v.ForEach(func(_, _ gjson.Result) bool { any = true; return false })
	return any
}
