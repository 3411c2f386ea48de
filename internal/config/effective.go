package config

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"recap/internal/config/settings"
)

// Setting is one value as the config commands print it: secrets are masked.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin Origin `json:"origin"`
}

// Mask stands for a secret.
const Mask = "****"

// Effective lists every value with its origin, in the order of the configuration's fields, maps by
// key. No secret is in it.
func (c *Config) Effective() []Setting {
	var list []Setting
	c.render(reflect.ValueOf(c).Elem(), "", "", &list)
	return list
}

func (c *Config) render(v reflect.Value, path, secret string, list *[]Setting) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if name := f.Tag.Get("yaml"); name != "" {
				c.render(v.Field(i), join(path, name), f.Tag.Get("secret"), list)
			}
		}
		return
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			c.render(v.MapIndex(k), join(path, k.String()), secret, list)
		}
		return
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				c.render(v.Index(i), path+"["+itoa(i)+"]", secret, list)
			}
			return
		}
	}
	*list = append(*list, Setting{Key: path, Value: mask(plain(v), secret), Origin: c.originOf(path)})
}

func (c *Config) originOf(path string) Origin {
	if o, ok := c.loaded.origins[path]; ok {
		return o
	}
	return Origin{Kind: FromDefault}
}

// plain renders a value as setText reads it back.
func plain(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			return ""
		}
		return plain(v.Elem())
	case v.Type() == durationType:
		return shortDuration(time.Duration(v.Int()))
	case v.Kind() == reflect.Slice:
		return strings.Join(v.Interface().([]string), ", ")
	}
	return fmt.Sprint(v.Interface())
}

// shortDuration drops the zero units that Duration.String prints: 10m, not 10m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func mask(value, secret string) string {
	if value == "" {
		return ""
	}
	switch secret {
	case "values":
		return Mask
	case "url":
		parts := strings.Split(value, ",")
		for i, p := range parts {
			parts[i] = maskURL(strings.TrimSpace(p))
		}
		return strings.Join(parts, ",")
	}
	return value
}

func maskURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return Mask
	}
	if u.User == nil {
		return raw
	}
	rest := strings.TrimPrefix(raw, u.Scheme+"://")
	return u.Scheme + "://" + Mask + rest[strings.LastIndex(rest, "@"):]
}

// String lists the effective values, one a line. Like every rendering of a Config it masks secrets.
func (c *Config) String() string {
	var b strings.Builder
	for _, s := range c.Effective() {
		fmt.Fprintf(&b, "%s = %s  (%s)\n", s.Key, s.Value, s.Origin)
	}
	return b.String()
}

// GoString keeps %#v from printing secrets.
func (c *Config) GoString() string { return c.String() }

// MarshalJSON renders the effective values.
func (c *Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.Effective()) }

// Key describes one key of the configuration for the reference.
type Key struct {
	Path    string `json:"key"`
	Env     string `json:"env,omitempty"` // "" for keys that only a file can set
	Default string `json:"default"`
	Doc     string `json:"doc"`
}

// Reference lists every key that can be set, in the order of the configuration's fields. Keys of
// maps and lists have <name> and [] in their paths.
func Reference() []Key {
	var keys []Key
	reference(reflect.ValueOf(Default()).Elem(), "", true, &keys)
	return keys
}

func reference(v reflect.Value, prefix string, settable bool, keys *[]Key) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("yaml")
		if name == "" {
			continue
		}
		path := prefix + name
		switch {
		case f.Type.Kind() == reflect.Struct:
			reference(v.Field(i), path+".", settable, keys)
			continue
		case f.Type.Kind() == reflect.Map && f.Type.Elem().Kind() == reflect.Struct:
			reference(reflect.New(f.Type.Elem()).Elem(), path+".<name>.", false, keys)
			continue
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			reference(reflect.New(f.Type.Elem()).Elem(), path+"[].", false, keys)
			continue
		}
		k := Key{Path: path, Doc: f.Tag.Get("doc")}
		if s, ok := settings.Lookup(path); ok {
			k.Doc = s.Doc
		}
		if settable {
			k.Default = plain(v.Field(i))
			k.Env = EnvName(path)
			if own := f.Tag.Get("env"); own != "" {
				k.Env += " or " + own
			}
		}
		*keys = append(*keys, k)
	}
}
