package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

var errEmpty = errors.New("is empty")

// Problem is one thing wrong with the configuration.
type Problem struct {
	Where   string // recap.yaml:12, an environment variable or a flag; "" for a missing key
	Key     string // dotted key, "" when the problem is not about one
	Message string

	line int
}

func (p Problem) String() string {
	key := p.Key
	if p.Where == "--"+key {
		key = ""
	}
	parts := make([]string, 0, 3)
	for _, s := range []string{p.Where, key, p.Message} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

// Error lists all problems of a configuration. Commands exit with code 2.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return "configuration: " + e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "configuration: %d problems", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// SecretError says that a secret could not be read; it never holds the secret.
type SecretError struct {
	Env  string // variable that should hold it, "" if a file should
	File string
	Err  error
}

func (e *SecretError) Error() string {
	if e.Env != "" {
		return fmt.Sprintf("secret: environment variable %s %v: set it, or %s_FILE", e.Env, e.Err, e.Env)
	}
	return fmt.Sprintf("secret file %s: %v", e.File, e.Err)
}

func (e *SecretError) Unwrap() error { return e.Err }

type problems struct{ list []Problem }

// addAt reports a problem at the place a value came from.
func (p *problems) addAt(o Origin, key, format string, args ...any) {
	p.list = append(p.list, Problem{Where: o.Detail, Key: key, Message: fmt.Sprintf(format, args...), line: o.line})
}

func (p *problems) add(where, key, format string, args ...any) {
	p.addAt(Origin{Detail: where}, key, format, args...)
}

// err returns the problems in the order of their lines, then by place and key.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(lineOrLast(a), lineOrLast(b)), cmp.Compare(a.Where, b.Where), cmp.Compare(a.Key, b.Key))
	})
	return &Error{Problems: p.list}
}

func lineOrLast(p Problem) int {
	if p.line == 0 { // not from the file
		return math.MaxInt
	}
	return p.line
}
