// Package fileops tracks which files a conversation read and changed, across compactions, and renders
// the lists that end a summary (spec/summary §9). It is pure and may import session and the standard
// library.
package fileops

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/tidwall/gjson"

	"recap/internal/session"
)

// Ops collects file operations. The zero value is ready to use.
type Ops struct {
	read, written, edited map[string]struct{}
}

// AddMessage collects the tool calls of an assistant message; other messages add nothing.
func (o *Ops) AddMessage(m *session.Message) {
	if m.Role != session.RoleAssistant {
		return
	}
	for i := range m.Content {
		if b := &m.Content[i]; b.Type == session.BlockToolCall {
			o.AddCall(b.Name, b.Arguments)
		}
	}
}

// AddCall collects one tool call: read, write and edit with a string path that is no URL.
func (o *Ops) AddCall(tool string, args json.RawMessage) {
	if tool != "read" && tool != "write" && tool != "edit" {
		return
	}
	path := gjson.GetBytes(args, "path")
	if path.Type != gjson.String {
		return
	}
	switch p := strings.Clone(path.String()); tool {
	case "read":
		o.addRead(p)
	case "write":
		add(&o.written, p)
	case "edit":
		add(&o.edited, p)
	}
}

func (o *Ops) addRead(path string) { add(&o.read, StripSelector(path)) }

// Seed carries the lists of earlier compactions in.
func (o *Ops) Seed(base Lists) {
	for _, p := range base.Modified {
		add(&o.edited, p)
	}
	for _, p := range base.Read {
		if _, changed := o.edited[p]; !changed {
			o.addRead(p)
		}
	}
}

// Merge adds everything another collection holds.
func (o *Ops) Merge(other *Ops) {
	for p := range other.read {
		add(&o.read, p)
	}
	for p := range other.written {
		add(&o.written, p)
	}
	for p := range other.edited {
		add(&o.edited, p)
	}
}

func add(set *map[string]struct{}, path string) {
	if path == "" || strings.Contains(path, "://") {
		return
	}
	if *set == nil {
		*set = map[string]struct{}{}
	}
	(*set)[path] = struct{}{}
}

// Lists are the file lists of a compaction, sorted by UTF-16 code unit as the reference agents sort.
type Lists struct {
	Read     []string `json:"read,omitempty"`     // only read
	Modified []string `json:"modified,omitempty"` // written or edited
	// AlsoRead are the modified files that were read too; they are marked RW.
	AlsoRead []string `json:"alsoRead,omitempty"`
}

// Empty reports whether there is nothing to list.
func (l Lists) Empty() bool { return len(l.Read) == 0 && len(l.Modified) == 0 }

// Lists returns what was collected.
func (o *Ops) Lists() Lists {
	var l Lists
	for p := range o.edited {
		l.Modified = append(l.Modified, p)
	}
	for p := range o.written {
		if _, dup := o.edited[p]; !dup {
			l.Modified = append(l.Modified, p)
		}
	}
	for p := range o.read {
		_, edited := o.edited[p]
		_, written := o.written[p]
		if edited || written {
			l.AlsoRead = append(l.AlsoRead, p)
		} else {
			l.Read = append(l.Read, p)
		}
	}
	slices.SortFunc(l.Read, compareUnits)
	slices.SortFunc(l.Modified, compareUnits)
	slices.SortFunc(l.AlsoRead, compareUnits)
	return l
}

// compareUnits orders by UTF-16 code unit, which differs from byte order only above U+FFFF.
func compareUnits(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	for i := 0; i < len(ra) && i < len(rb); i++ {
		if ra[i] == rb[i] {
			continue
		}
		return slices.Compare(utf16.Encode(ra[i:i+1]), utf16.Encode(rb[i:i+1]))
	}
	return len(ra) - len(rb)
}
