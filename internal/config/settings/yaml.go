package settings

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

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
