package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// OriginKind says what kind of place a value comes from.
type OriginKind string

// The places a value can come from, the stronger later.
const (
	FromDefault  OriginKind = "default"
	FromSettings OriginKind = "settings" // an agent's settings file
	FromFile     OriginKind = "file"
	FromEnv      OriginKind = "env"
	FromFlag     OriginKind = "flag"
)

// Origin says where a value comes from: Detail is file:line, the variable or the flag.
type Origin struct {
	Kind   OriginKind `json:"kind"`
	Detail string     `json:"detail,omitempty"`

	line int // of the file, 0 elsewhere
}

func (o Origin) String() string {
	if o.Detail == "" {
		return string(o.Kind)
	}
	return string(o.Kind) + " " + o.Detail
}

// key is one settable value of the configuration.
type key struct {
	path   string // compaction.keepRecentTokens
	env    string // an ecosystem's own variable, "" if it has none
	secret string // how the value is masked: url, values, ""
	doc    string
	value  reflect.Value
}

var durationType = reflect.TypeFor[time.Duration]()

// scalarKeys lists the values of a struct that one text can set: scalars and lists of strings, in
// the order of their fields. Maps and lists of structs have no flag and no variable.
func scalarKeys(v reflect.Value, prefix string) []key {
	var keys []key
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("yaml")
		if name == "" {
			continue
		}
		k := key{
			path: prefix + name, env: f.Tag.Get("env"), secret: f.Tag.Get("secret"), doc: f.Tag.Get("doc"), value: v.Field(i),
		}
		switch {
		case f.Type.Kind() == reflect.Struct:
			keys = append(keys, scalarKeys(v.Field(i), k.path+".")...)
		case f.Type.Kind() == reflect.Map, f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
		default:
			keys = append(keys, k)
		}
	}
	return keys
}

// EnvName is the environment variable of a dotted key: RECAP_ and the key in upper snake case.
func EnvName(path string) string {
	var b strings.Builder
	b.WriteString("RECAP_")
	lower := false
	for _, r := range path {
		switch {
		case r == '.':
			b.WriteByte('_')
			lower = false
		case unicode.IsUpper(r):
			if lower {
				b.WriteByte('_')
			}
			b.WriteRune(r)
			lower = false
		default:
			b.WriteRune(unicode.ToUpper(r))
			lower = true
		}
	}
	return b.String()
}

func (k key) envNames() []string {
	ours := EnvName(k.path)
	if k.env == "" {
		return []string{ours}
	}
	return []string{ours, k.env}
}

// setText sets a value from the text of a flag, a variable or a YAML scalar.
func setText(v reflect.Value, text string) error {
	text = strings.TrimSpace(text)
	if v.Kind() == reflect.Pointer {
		elem := reflect.New(v.Type().Elem())
		if err := setText(elem.Elem(), text); err != nil {
			return err
		}
		v.Set(elem)
		return nil
	}
	if v.Type() == durationType {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is no duration (examples: 500ms, 10s, 15m, 6h)", text)
		}
		v.SetInt(int64(d))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
		if err != nil {
			return fmt.Errorf("%q is no whole number", text)
		}
		v.SetInt(n)
	case reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is no number", text)
		}
		v.SetFloat(n)
	case reflect.Slice:
		var list []string
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		v.Set(reflect.ValueOf(list))
	default:
		return fmt.Errorf("a value of type %s cannot be set from text", v.Type())
	}
	return nil
}
