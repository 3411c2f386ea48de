package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
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
		return nil, &syntaxError{message: fmt.Sprintf("is too large for a settings file (%d bytes, at most %d)", len(data), maxBytes)}
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

func parseJSON(data []byte) (*node, error) {
	d := jsonReader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1}
	d.dec.UseNumber()
	n, err := d.value(0)
	if err == nil {
		if _, more := d.dec.Token(); !errors.Is(more, io.EOF) {
			return nil, d.fail("is no valid JSON: something follows the first value")
		}
		return n, nil
	}
	var se *syntaxError
	if errors.As(err, &se) {
		return nil, se
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, d.fail("is no valid JSON: it ends in the middle")
	}
	return nil, d.fail("is no valid JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// jsonReader reads JSON with the lines its values are on.
type jsonReader struct {
	data []byte
	dec  *json.Decoder
	at   int // offset up to which line counts
	line int
}

func (d *jsonReader) fail(format string, args ...any) *syntaxError {
	return &syntaxError{line: d.here(), message: fmt.Sprintf(format, args...)}
}

// here is the line of the token read last.
func (d *jsonReader) here() int {
	to := min(int(d.dec.InputOffset()), len(d.data))
	d.line += bytes.Count(d.data[d.at:to], []byte("\n"))
	d.at = to
	return d.line
}

func (d *jsonReader) value(depth int) (*node, error) {
	t, err := d.dec.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, d.fail("is nested more than %d deep", maxDepth)
	}
	n := &node{line: d.here()}
	switch t := t.(type) {
	case nil:
	case json.Delim:
		if t == '[' {
			return n, d.items(n, depth)
		}
		return n, d.pairs(n, depth)
	default:
		n.kind, n.text = scalar, fmt.Sprint(t)
	}
	return n, nil
}

func (d *jsonReader) items(n *node, depth int) error {
	n.kind = list
	for d.dec.More() {
		item, err := d.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := d.dec.Token()
	return err
}

func (d *jsonReader) pairs(n *node, depth int) error {
	n.kind = mapping
	for d.dec.More() {
		t, err := d.dec.Token()
		if err != nil {
			return err
		}
		p := pair{key: fmt.Sprint(t), line: d.here()}
		if p.value, err = d.value(depth + 1); err != nil {
			return err
		}
		n.pairs = append(n.pairs, p)
	}
	_, err := d.dec.Token()
	return err
}

func parseYAML(data []byte) (*node, error) {
	doc, err := parser.ParseBytes(data, 0)
	if err != nil {
		var ye yaml.Error
		if errors.As(err, &ye) && ye.GetToken() != nil {
			return nil, &syntaxError{ye.GetToken().Position.Line, "is no valid YAML: " + ye.GetMessage()}
		}
		return nil, &syntaxError{message: "is no valid YAML: " + err.Error()}
	}
	r := yamlReader{anchors: map[string]*node{}}
	var root *node
	for _, part := range doc.Docs {
		if part.Body == nil || part.Body.Type() == ast.CommentType {
			continue
		}
		if root != nil {
			return nil, &syntaxError{lineOf(part.Body), "holds a second document"}
		}
		if root, err = r.value(part.Body, 0); err != nil {
			return nil, err
		}
	}
	if root == nil {
		root = &node{}
	}
	return root, nil
}

// yamlReader turns a document into nodes. An alias shares the node of its anchor, so that a file
// cannot grow in memory by naming itself.
type yamlReader struct{ anchors map[string]*node }

func (r yamlReader) value(n ast.Node, depth int) (*node, error) {
	out := &node{}
	if depth > maxDepth {
		return nil, &syntaxError{lineOf(n), fmt.Sprintf("is nested more than %d deep", maxDepth)}
	}
	if n == nil {
		return out, nil
	}
	out.line = lineOf(n)
	switch t := n.(type) {
	case *ast.TagNode:
		return r.value(t.Value, depth+1)
	case *ast.AnchorNode:
		v, err := r.value(t.Value, depth+1)
		r.anchors[t.Name.String()] = v
		return v, err
	case *ast.AliasNode:
		if v, ok := r.anchors[t.Value.String()]; ok {
			return v, nil
		}
		out.kind = alias
	case *ast.StringNode:
		out.kind, out.text = scalar, t.Value
	case *ast.LiteralNode:
		out.kind, out.text = scalar, t.Value.Value
	case *ast.SequenceNode:
		out.kind = list
		for _, item := range t.Values {
			v, err := r.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, v)
		}
	case *ast.MappingNode:
		return out, r.pairs(out, t.Values, depth)
	case *ast.MappingValueNode:
		return out, r.pairs(out, []*ast.MappingValueNode{t}, depth)
	case *ast.NullNode:
	default:
		out.kind, out.text = scalar, n.GetToken().Value
	}
	return out, nil
}

func (r yamlReader) pairs(out *node, values []*ast.MappingValueNode, depth int) error {
	out.kind = mapping
	for _, v := range values {
		p := pair{key: v.Key.GetToken().Value, line: lineOf(v.Key)}
		var err error
		if p.value, err = r.value(v.Value, depth+1); err != nil {
			return err
		}
		out.pairs = append(out.pairs, p)
	}
	return nil
}

func lineOf(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}
