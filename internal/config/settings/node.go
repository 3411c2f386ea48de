package settings

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// node is a value of a settings file, whichever language it is written in.
type node struct {
	kind  kind
	text  string // of a scalar
	items []*node
	pairs []pair
	line  int
}

type pair struct {
	key   string
	line  int
	value *node
}

type kind int

const (
	null kind = iota
	scalar
	list
	mapping
	alias // one that leads nowhere
)

func (k kind) String() string {
	return [...]string{"empty", "a single value", "a list", "a mapping", "an alias that leads nowhere"}[k]
}

const (
	maxDepth = 100     // nested values
	maxBytes = 1 << 20 // of a settings file
)

// syntaxError says where a file is no valid JSON or YAML.
type syntaxError struct {
	line    int // 0 when unknown
	message string
}

func (e *syntaxError) Error() string { return e.message }

// parse reads a settings file: JSON if it is named so or begins like JSON, else YAML. An empty file
// holds nothing.
func parse(name string, data []byte) (*node, error) {
	if len(data) > maxBytes {
		return nil, &syntaxError{message: fmt.Sprintf("is too large for a settings file (at most %d bytes)", maxBytes)}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	text := bytes.TrimSpace(data)
	if len(text) == 0 {
		return &node{}, nil
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return parseJSON(data)
	case ".yml", ".yaml":
		return parseYAML(data)
	}
	if text[0] == '{' {
		return parseJSON(data)
	}
	return parseYAML(data)
}
