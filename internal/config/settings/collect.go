package settings

import (
	"slices"
	"strings"
)

// sections are the mappings that settings lie in.
var sections = func() []string {
	var list []string
	for _, k := range Table {
		if s, _, _ := strings.Cut(k.Name, "."); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}()

// collector takes the settings out of a parsed file. Nested (compaction: {model: x}) and dotted
// (compaction.model: x) spellings end up the same; where a file has both, the nested one counts.
type collector struct {
	file     string
	values   []Value
	unknown  []string
	problems []Problem
}

func (c *collector) bad(line int, key, message string) {
	c.problems = append(c.problems, Problem{Where: place(c.file, line), Line: line, Key: key, Message: message})
}

func (c *collector) root(n *node) {
	switch n.kind {
	case mapping:
		c.section(n, "", 1)
	case null:
	default:
		c.bad(n.line, "", "must be a mapping of keys to values, is "+n.kind.String())
	}
}

// section takes the settings of a mapping; depth is how many keys lead to its values.
func (c *collector) section(n *node, path string, depth int) {
	for _, p := range n.pairs {
		name := p.key
		if path != "" {
			name = path + "." + p.key
		}
		_, known := Lookup(name)
		switch {
		case p.key == "<<":
			c.bad(p.line, path, "merge keys (<<) are not supported: repeat the keys")
		case known || Retired(name):
			c.leaf(p, name, depth)
		case name == overrides || strings.HasPrefix(name, overrides+"."):
			c.override(p, name, depth)
		case !slices.Contains(sections, name):
			c.ignore(name)
		case p.value.kind == mapping:
			c.section(p.value, name, depth+1)
		case p.value.kind != null:
			c.bad(p.value.line, name, "must be a mapping of keys to values, is "+p.value.kind.String())
		}
	}
}

// override looks for the retired compactionModel of single models; the rest is the agent's.
func (c *collector) override(p pair, name string, depth int) {
	switch {
	case Retired(name):
		c.leaf(p, name, depth)
	case p.value.kind == mapping && depth < 3:
		for _, inner := range p.value.pairs {
			c.override(inner, name+"."+inner.key, depth+1)
		}
	case p.value.kind != null:
		c.ignore(overrides)
	}
}

func (c *collector) ignore(name string) {
	if !slices.Contains(c.unknown, name) {
		c.unknown = append(c.unknown, name)
	}
}

// leaf takes the value of a setting. A key without a value is unset.
func (c *collector) leaf(p pair, name string, depth int) {
	text, ok := "", true
	switch {
	case p.value.kind == null:
		return
	case Dropped(name): // whatever it holds
	case p.value.kind == scalar:
		text = strings.TrimSpace(p.value.text)
	case p.value.kind == list && IsChain(name):
		text, ok = names(p.value)
	case p.value.kind == mapping && name == "compaction.model":
		c.modelObject(p.value, p.line, depth)
		return
	default:
		c.bad(p.value.line, name, "must be a single value, is "+p.value.kind.String())
		return
	}
	if !ok {
		c.bad(p.value.line, name, "must be a list of names")
		return
	}
	c.take(Value{Key: name, Text: text, Where: place(c.file, p.line), Line: p.line, depth: depth})
}

// take keeps a value unless a deeper spelling of the same key is there already.
func (c *collector) take(v Value) {
	i := slices.IndexFunc(c.values, func(have Value) bool { return have.Key == v.Key })
	switch {
	case i < 0:
		c.values = append(c.values, v)
	case v.depth >= c.values[i].depth:
		c.values[i] = v
	}
}

// modelObject reads the one candidate that some agents write as an object: provider, modelId and,
// if need be, thinkingLevel.
func (c *collector) modelObject(n *node, line, depth int) {
	field := map[string]string{}
	for _, p := range n.pairs {
		if p.value.kind == scalar {
			field[p.key] = strings.TrimSpace(p.value.text)
		}
	}
	if field["provider"] == "" || field["modelId"] == "" {
		c.bad(line, "compaction.model", "must be names of candidates, or an object with provider and modelId")
		return
	}
	name := field["provider"] + "/" + field["modelId"]
	if level := field["thinkingLevel"]; level != "" {
		name += ":" + level
	}
	c.take(Value{Key: "compaction.model", Text: name, Where: place(c.file, line), Line: line, depth: depth})
}

// IsChain reports whether a setting, retired or not, holds names of candidates: one, a list, or
// several with commas between.
func IsChain(name string) bool {
	return name == "compaction.model" || strings.HasSuffix(name, compactionModel)
}

// names joins the names of a list.
func names(n *node) (string, bool) {
	var list []string
	for _, item := range n.items {
		if item.kind != scalar {
			return "", false
		}
		if name := strings.TrimSpace(item.text); name != "" {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", "), true
}
