package config

import (
	"errors"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"recap/internal/config/settings"
)

// decodeYAML sets the values of c from a document. It walks the document beside the type of Config
// instead of decoding at once, because a decoder stops at its first problem and forgets the lines. It
// returns the retired settings that the document holds.
func decodeYAML(file string, data []byte, c *Config, p *problems) []settings.Value {
	doc, err := parser.ParseBytes(data, 0)
	if err != nil {
		var ye yaml.Error
		if errors.As(err, &ye) && ye.GetToken() != nil {
			p.addAt(fileOrigin(file, ye.GetToken().Position.Line), "", "is no valid YAML: %s", ye.GetMessage())
		} else {
			p.add(file, "", "is no valid YAML: %v", err)
		}
		return nil
	}
	d := decoder{file: file, anchors: map[string]ast.Node{}, origins: c.loaded.origins, p: p}
	bodies := 0
	for _, part := range doc.Docs {
		if part.Body == nil || part.Body.Type() == ast.CommentType {
			continue
		}
		if bodies++; bodies > 1 {
			d.add(part.Body, "", "a second document: recap.yaml holds one")
			break
		}
		d.value(part.Body, reflect.ValueOf(c).Elem(), "")
	}
	return d.retired
}

type decoder struct {
	file    string
	anchors map[string]ast.Node
	origins map[string]Origin
	retired []settings.Value
	p       *problems
}

func (d *decoder) add(n ast.Node, key, format string, args ...any) {
	d.p.addAt(d.origin(n), key, format, args...)
}

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// resolve follows tags, anchors and aliases to the node that holds the value. An alias that leads to
// itself is returned as it is.
func (d *decoder) resolve(n ast.Node) ast.Node {
	start := n
	for range maxHops {
		switch t := n.(type) {
		case *ast.TagNode:
			n = t.Value
		case *ast.AnchorNode:
			d.anchors[t.Name.String()] = t.Value
			n = t.Value
		case *ast.AliasNode:
			target, ok := d.anchors[t.Value.String()]
			if !ok {
				return n
			}
			n = target
		default:
			return n
		}
	}
	return start
}

// maxHops is how many tags, anchors and aliases may lie before a value.
const maxHops = 32

// value sets v from a node; path is the dotted key of v.
func (d *decoder) value(n ast.Node, v reflect.Value, path string) {
	n = d.resolve(n)
	if n == nil || n.Type() == ast.NullType {
		return // a key without a value keeps its default
	}
	switch {
	case v.Kind() == reflect.Struct:
		d.fields(n, v, path)
	case v.Kind() == reflect.Map:
		d.entries(n, v, path)
	case v.Kind() == reflect.Slice:
		d.items(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

func (d *decoder) fields(n ast.Node, v reflect.Value, path string) {
	known := map[string]int{}
	var names []string
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("yaml"); name != "" {
			known[name] = i
			names = append(names, name)
		}
	}
	for _, kv := range d.pairs(n, path) {
		name := kv.key
		i, ok := known[name]
		if !ok && settings.Retired(join(path, name)) {
			d.old(kv, join(path, name))
			continue
		}
		if !ok {
			d.add(kv.node, join(path, name), "unknown key%s", suggest(name, names))
			continue
		}
		d.value(kv.value, v.Field(i), join(path, name))
	}
}

// old remembers a setting that was retired.
func (d *decoder) old(kv pair, path string) {
	n := d.resolve(kv.value)
	if n == nil || n.Type() == ast.NullType {
		return
	}
	o := d.origin(kv.node)
	v := settings.Value{Key: path, Where: o.Detail, Line: o.line}
	items := []ast.Node{n}
	if seq, ok := n.(*ast.SequenceNode); ok && settings.IsChain(path) {
		items = seq.Values
	}
	if settings.Dropped(path) {
		items = nil // whatever it holds
	}
	var texts []string
	for _, item := range items {
		text, ok := d.text(d.resolve(item), path)
		if !ok {
			return
		}
		texts = append(texts, strings.TrimSpace(text))
	}
	v.Text = strings.Join(texts, ", ")
	d.retired = append(d.retired, v)
}

// entries replaces a map: a file that names stores means these stores and no others.
func (d *decoder) entries(n ast.Node, v reflect.Value, path string) {
	pairs := d.pairs(n, path)
	v.Set(reflect.MakeMap(v.Type()))
	for _, kv := range pairs {
		elem := reflect.New(v.Type().Elem()).Elem()
		d.value(kv.value, elem, join(path, kv.key))
		v.SetMapIndex(reflect.ValueOf(kv.key), elem)
		d.origins[join(path, kv.key)] = d.origin(kv.node)
	}
	d.origins[path] = d.origin(n)
}

func (d *decoder) items(n ast.Node, v reflect.Value, path string) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		if v.Type().Elem().Kind() != reflect.String {
			d.add(n, path, "must be a list, is %s", kindOf(n))
			return
		}
		d.scalar(n, v, path) // a short list may be written without brackets: a, b
		return
	}
	list := reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values))
	for i, item := range seq.Values {
		at := path + "[" + itoa(i) + "]"
		d.value(item, list.Index(i), at)
		d.origins[at] = d.origin(item)
	}
	v.Set(list)
	d.origins[path] = d.origin(n)
}

func (d *decoder) scalar(n ast.Node, v reflect.Value, path string) {
	text, ok := d.text(n, path)
	if !ok {
		return
	}
	if v.Type() == durationType && (n.Type() == ast.IntegerType || n.Type() == ast.FloatType) && text != "0" {
		d.add(n, path, "%s has no unit (examples: 500ms, 10s, 15m)", text)
		return
	}
	if err := setText(v, text); err != nil {
		d.add(n, path, "%v", err)
		return
	}
	d.origins[path] = d.origin(n)
}

func (d *decoder) text(n ast.Node, path string) (string, bool) {
	switch t := n.(type) {
	case *ast.StringNode:
		return t.Value, true
	case *ast.LiteralNode:
		return t.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	d.add(n, path, "must be a single value, is %s", kindOf(n))
	return "", false
}

func (d *decoder) origin(n ast.Node) Origin {
	return fileOrigin(d.file, line(n))
}

func fileOrigin(file string, line int) Origin {
	return Origin{Kind: FromFile, Detail: file + ":" + itoa(line), line: line}
}

type pair struct {
	key   string
	node  ast.Node // the key, for its line
	value ast.Node
}

// pairs lists the entries of a mapping, with those merged in by << behind the written ones.
func (d *decoder) pairs(n ast.Node, path string) []pair {
	var values []*ast.MappingValueNode
	switch t := n.(type) {
	case *ast.MappingNode:
		values = t.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{t}
	default:
		where := path
		if where == "" {
			where = "document"
		}
		d.add(n, "", "%s must be a mapping of keys to values, is %s", where, kindOf(n))
		return nil
	}
	var list []pair
	for _, v := range values {
		if v.Key.IsMergeKey() {
			d.add(v.Key, path, "merge keys (<<) are not supported: repeat the keys")
			continue
		}
		name := v.Key.GetToken().Value
		list = append(list, pair{key: name, node: v.Key, value: v.Value})
	}
	return list
}

func kindOf(n ast.Node) string {
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "a mapping"
	case ast.SequenceType:
		return "a list"
	case ast.NullType:
		return "empty"
	case ast.AliasType, ast.AnchorType, ast.TagType:
		return "an anchor or alias that leads nowhere"
	}
	return "a single value"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// suggest names the key that a mistyped one was probably meant to be.
func suggest(name string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// editDistance is the number of single-byte edits between two short strings.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
