package fileops

import (
	"fmt"
	"slices"
	"strings"
)

// MaxListed is how many files the tree shows.
const MaxListed = 20

// Tree renders the lists as a <files> block: directories as headings, a mode behind each file. The
// text is empty when there is nothing to list.
func Tree(l Lists) string {
	modes := make(map[string]string, len(l.Read)+len(l.Modified))
	paths := make([]string, 0, len(l.Read)+len(l.Modified))
	for _, p := range l.Read {
		modes[p] = "Read"
		paths = append(paths, p)
	}
	for _, p := range l.Modified {
		modes[p] = "Write"
		if slices.Contains(l.AlsoRead, p) {
			modes[p] = "RW"
		}
		paths = append(paths, p)
	}
	if len(paths) == 0 {
		return ""
	}
	slices.SortFunc(paths, compareUnits)
	paths = slices.Compact(paths)
	elided := max(0, len(paths)-MaxListed)
	root := &dir{}
	for _, p := range paths[:len(paths)-elided] {
		root.insert(p, modes[p])
	}
	lines := root.lines(nil, 0)
	if elided > 0 {
		lines = append(lines, fmt.Sprintf("[…%d files elided…]", elided))
	}
	return "<files>\n" + strings.Join(lines, "\n") + "\n</files>"
}

// dir is a directory of the tree; names keep the order in which they were first seen.
type dir struct {
	name  string
	files []string // as rendered
	dirs  []*dir
}

func (d *dir) insert(path, mode string) {
	path = strings.ReplaceAll(path, `\`, "/")
	parts := []string{path}
	if !strings.Contains(path, "://") {
		parts = strings.Split(path, "/")
	}
	if n := len(parts); n > 1 && parts[n-1] == "" { // a directory named as such is a leaf
		parts = parts[:n-1]
		parts[n-2] += "/"
	}
	for _, name := range parts[:len(parts)-1] {
		d = d.child(name)
	}
	line := oneLine(parts[len(parts)-1]) + " (" + mode + ")"
	if !slices.Contains(d.files, line) {
		d.files = append(d.files, line)
	}
}

func (d *dir) child(name string) *dir {
	for _, c := range d.dirs {
		if c.name == name {
			return c
		}
	}
	c := &dir{name: name}
	d.dirs = append(d.dirs, c)
	return c
}

func (d *dir) lines(out []string, depth int) []string {
	out = append(out, d.files...)
	for _, c := range d.dirs {
		name := c.name
		for len(c.files) == 0 && len(c.dirs) == 1 {
			c = c.dirs[0]
			name += "/" + c.name
		}
		out = append(out, strings.Repeat("#", depth+1)+" "+oneLine(name)+"/")
		out = c.lines(out, depth+1)
	}
	return out
}

// Flat renders the lists as <read-files> and <modified-files>, each only when it has files.
func Flat(l Lists) string {
	var blocks []string
	for _, part := range []struct {
		tag   string
		paths []string
	}{{"read-files", l.Read}, {"modified-files", l.Modified}} {
		if len(part.paths) == 0 {
			continue
		}
		lines := make([]string, len(part.paths))
		for i, p := range part.paths {
			lines[i] = oneLine(p)
		}
		blocks = append(blocks, "<"+part.tag+">\n"+strings.Join(lines, "\n")+"\n</"+part.tag+">")
	}
	return strings.Join(blocks, "\n\n")
}

// oneLine keeps a path from breaking out of its line or its block.
func oneLine(path string) string {
	return strings.NewReplacer("\n", "␊", "\r", "␍", "</", `<\/`).Replace(path)
}

// blockTags are the file blocks a summary may end with, present and former.
var blockTags = []string{"files", "read-files", "modified-files"}

// Upsert puts the block at the end of a summary in place of every file block the text holds. Without
// a block the text only loses stale ones.
func Upsert(text, block string) string {
	for _, tag := range blockTags {
		text = removeBlocks(text, "<"+tag+">", "</"+tag+">")
	}
	text = strings.TrimRight(text, " \t\r\n")
	switch {
	case block == "":
		return text
	case text == "":
		return block
	}
	return text + "\n\n" + block
}

func removeBlocks(text, begin, end string) string {
	for from := 0; ; {
		i := strings.Index(text[from:], begin)
		if i < 0 {
			return text
		}
		i += from
		n := strings.Index(text[i:], end)
		if n < 0 {
			return text
		}
		rest := strings.TrimLeft(text[i+n+len(end):], " \t\r\n")
		text, from = text[:i]+rest, i
	}
}
