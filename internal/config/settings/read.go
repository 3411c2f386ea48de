package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
)

// Value is the text of one setting and where it was found.
type Value struct {
	Key   string `json:"key"`
	Text  string `json:"text"`            // as recap.yaml would hold it; the names of a chain have commas between
	Where string `json:"where,omitempty"` // file:line
	Line  int    `json:"-"`
	From  string `json:"from,omitempty"` // the retired key it was read from, "" for none

	depth int // keys that lead to it: more for a nested spelling than for a dotted one
}

// Note tells something a person should know about a setting; nothing is wrong.
type Note struct {
	Where   string `json:"where,omitempty"` // file:line
	Line    int    `json:"-"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

func (n Note) String() string { return sentence(n.Where, n.Key, n.Message) }

// Problem is something wrong with a setting.
type Problem struct {
	Where   string `json:"where,omitempty"` // file:line
	Line    int    `json:"-"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

func (p Problem) String() string { return sentence(p.Where, p.Key, p.Message) }

// Loaded is what settings files say.
type Loaded struct {
	// Values holds the settings that are set, by their names in Table. Every one passes Key.Check,
	// but for a threshold of no known form: it counts as auto and has a Note.
	Values map[string]Value `json:"values"`
	// Notes tells what was migrated, adjusted or left without effect.
	Notes []Note `json:"notes"`
	// Unknown lists what else is in the files: it belongs to the agent.
	Unknown []string `json:"unknown"`
	// Problems lists everything that is wrong; these values are not in Values.
	Problems []Problem `json:"problems"`
}

// Read reads the settings files of an agent, the later over the earlier (its global file first, then
// the project's). The error says that a file cannot be read; what is wrong inside of one is in
// Problems. No file is ever written.
func Read(paths ...string) (Loaded, error) {
	var all Loaded
	for _, path := range paths {
		data, err := readFile(path)
		if err != nil {
			return Loaded{}, err
		}
		all = all.over(path, data)
	}
	return all, nil
}

// Parse reads the text of one settings file, JSON or YAML; name tells which, by its ending, and is
// what notes and problems call the file.
func Parse(name string, data []byte) Loaded { return Loaded{}.over(name, data) }

// over lays a file over what earlier ones said. What they held under retired keys is migrated by
// then, so that a file's own new spelling beats an older file's old one.
func (l Loaded) over(name string, data []byte) Loaded {
	root, err := parse(name, data)
	if err != nil {
		var se *syntaxError
		errors.As(err, &se)
		l.Problems = append(slices.Clip(l.Problems), Problem{Where: place(name, se.line), Line: se.line, Message: se.message})
		return l
	}
	c := collector{file: name}
	c.root(root)

	next := Loaded{Unknown: slices.Clone(l.Unknown)}
	for _, key := range c.unknown {
		if !slices.Contains(next.Unknown, key) {
			next.Unknown = append(next.Unknown, key)
		}
	}
	var values []Value
	for _, k := range Table {
		if v, ok := l.Values[k.Name]; ok && !slices.ContainsFunc(c.values, func(mine Value) bool { return mine.Key == k.Name }) {
			values = append(values, v)
		}
	}
	m := Migrate(append(values, c.values...))
	next.Values, next.Notes = m.Values, slices.Clone(l.Notes)
	for _, n := range m.Notes { // what an earlier file says is looked at again, and told once
		if !slices.Contains(next.Notes, n) {
			next.Notes = append(next.Notes, n)
		}
	}
	wrong := slices.Concat(c.problems, m.Problems)
	slices.SortStableFunc(wrong, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	next.Problems = slices.Concat(l.Problems, wrong)
	return next
}

// ReadError says that a settings file cannot be read.
type ReadError struct {
	Path string
	Err  error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("settings file %s: cannot be read: %v", e.Path, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }

// readFile reads a file, or a little more than the most that parse takes: a device never ends.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err == nil {
		var data []byte
		data, err = io.ReadAll(io.LimitReader(f, maxBytes+1))
		err = errors.Join(err, f.Close())
		if err == nil {
			return data, nil
		}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return nil, &ReadError{Path: path, Err: err}
}

func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

func sentence(where, key, message string) string {
	for _, s := range []string{key, where} {
		if s != "" {
			message = s + ": " + message
		}
	}
	return message
}
