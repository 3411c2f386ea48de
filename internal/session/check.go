package session

import (
	"errors"
	"sort"

	"github.com/tidwall/gjson"
)

// Check fills the whole integrity report of a log, on top of what reading its lines found: the
// tree, the active path, tool calls and results on it, and what compactions point at. It is linear
// in the number of entries and reads the bodies of replies and results on the path, and of
// compactions. The error is one of reading a body.
//
// Damage that says Stops is what keeps work from the session; everything else is only told.
func Check(l *Log, b Bodies) (Report, error) {
	r := l.Report
	r.Damage = append(make([]Damage, 0, len(r.Damage)+8), r.Damage...)
	r.Entries, r.Roots, r.Branches, r.Unreachable, r.OnPath, r.Compactions, r.Orphaned = len(l.Entries), 0, 0, 0, 0, 0, nil
	r.Complete = !l.Partial
	c := checker{l: l, b: b, r: &r}
	c.ids()
	c.tree()
	if err := c.path(); err != nil {
		return r, err
	}
	c.explain()
	sort.SliceStable(r.Damage, func(i, j int) bool { return r.Damage[i].Offset < r.Damage[j].Offset })
	return r, nil
}

type checker struct {
	l *Log
	b Bodies
	r *Report
	// referred holds ids that entries name and nobody has: missing parents, missing first kept ones.
	referred map[string]bool
	broken   *PathError
}

func (c *checker) add(d Damage) { c.r.Damage = append(c.r.Damage, d) }

// ids finds entries without id, and ids used twice.
func (c *checker) ids() {
	for i := range c.l.Entries {
		e := &c.l.Entries[i]
		if e.Type == TypeLeaf {
			continue
		}
		if e.ID == "" {
			c.add(damageOf(DamageMissingID, e, "no id; nothing can refer to it"))
			continue
		}
		if last := c.l.byID[e.ID]; int(last) != i {
			c.add(damageOf(DamageDuplicateID, e, "line %d has the same id and counts", c.l.Entries[last].Line))
		}
	}
}

// States of an entry while the tree is walked.
const (
	unseen = iota
	onWalk
	rooted
	lost
)

// tree counts roots and branches and finds every entry that no root leads to.
func (c *checker) tree() {
	c.referred = map[string]bool{}
	entries := c.l.Entries
	state := make([]uint8, len(entries))
	parent := make([]bool, len(entries)) // is a parent
	var walk []int32
	for i := range entries {
		if entries[i].Type == TypeLeaf {
			continue
		}
		at := int32(i)
		for state[at] == unseen {
			state[at] = onWalk
			walk = append(walk, at)
			e := &entries[at]
			if c.l.isRoot(e) {
				state[at] = rooted
				c.r.Roots++
				if c.l.parentAbsent(e) {
					c.add(damageOf(DamageNoParent, e, "it says nothing about its parent, so its agent starts a tree here"))
				}
				break
			}
			next, ok := c.l.byID[e.ParentID]
			if !ok {
				state[at] = lost
				if c.l.Partial {
					state[at] = rooted
					break
				}
				c.referred[e.ParentID] = true
				c.add(damageOf(DamageParentGone, e, "its parent %s is not in the session", clip(e.ParentID)))
				break
			}
			parent[next] = true
			if state[next] == onWalk {
				c.add(damageOf(DamageCycle, e, "parents form a cycle at %s", clip(e.ParentID)))
				state[at] = lost
				break
			}
			at = next
		}
		for _, w := range walk {
			state[w] = state[at]
		}
		walk = walk[:0]
	}
	for i := range entries {
		if entries[i].Type == TypeLeaf {
			continue
		}
		if state[i] != rooted {
			c.r.Unreachable++
		}
		if at, ok := c.l.byID[entries[i].ID]; ok && int(at) == i && !parent[i] {
			c.r.Branches++
		}
		if entries[i].Type == TypeCompaction {
			c.r.Compactions++
		}
	}
}

// path checks what lies on the active path, and finds recap's own entries that do not.
func (c *checker) path() error {
	path, err := c.l.Path()
	if err != nil && !errors.As(err, &c.broken) {
		return err
	}
	c.r.OnPath = len(path)
	onPath := make(map[string]int, len(path))
	for i, e := range path {
		onPath[e.ID] = i
	}
	if err := c.pairs(path); err != nil {
		return err
	}
	for i := range c.l.Entries {
		e := &c.l.Entries[i]
		if e.Type != TypeCompaction {
			continue
		}
		comp, err := readCompaction(e, c.b)
		if err != nil {
			return err
		}
		at, on := onPath[e.ID]
		if !on {
			if comp.Recap != nil && e.ID != "" {
				c.r.Orphaned = append(c.r.Orphaned, e.ID)
			}
			continue
		}
		keep := comp.FirstKeptEntryID
		if keep == "" || keep == KeepNothing || c.l.Partial {
			continue
		}
		if kept, ok := onPath[keep]; !ok || kept > at { // its own id keeps nothing before it
			if c.l.Find(keep) == nil {
				c.referred[keep] = true
			}
			c.add(damageOf(DamageFirstKept, e, "its first kept entry %s is not before it on the path; the context keeps everything before it", clip(keep)))
		}
	}
	return nil
}

// pairs finds results without call, and calls without result that can never get one.
func (c *checker) pairs(path []*Entry) error {
	var entries []*Entry
	for _, e := range path {
		if e.Type == TypeMessage {
			entries = append(entries, e)
		}
	}
	messages := make([]Message, len(entries))
	err := parallel(len(entries), func(i int) error {
		e := entries[i]
		messages[i] = Message{EntryID: e.ID, Role: e.Role}
		if e.Role != RoleAssistant && e.Role != RoleToolResult {
			return nil
		}
		v, err := readObject(e, c.b)
		if err != nil {
			return err
		}
		messages[i] = decodePairing(e, v)
		return nil
	})
	if err != nil {
		return err
	}
	running := map[string]bool{}
	for _, p := range UnansweredCalls(messages) {
		running[p.CallID] = true
	}
	p := pair(messages)
	for i := range messages {
		if p.orphan[i] && !c.l.Partial {
			c.add(damageOf(DamageOrphanResult, entries[i], "the tool call it answers is not before it on the path"))
		}
		if failed(&messages[i]) {
			continue // a reply that failed never ran its calls
		}
		for j := range messages[i].Content {
			if id := messages[i].Content[j].ID; p.dangling[callKey{i, j}] && !running[id] {
				c.add(damageOf(DamageDangling, entries[i], "its tool call number %d has no result", j+1))
			}
		}
	}
	return nil
}

// decodePairing reads only what pairs calls and results.
func decodePairing(e *Entry, v gjson.Result) Message {
	m := Message{EntryID: e.ID, Role: e.Role}
	each(get(v, "message"), func(key string, v gjson.Result) {
		switch key {
		case "toolCallId":
			m.ToolCallID = text(v)
		case "stopReason":
			m.StopReason = text(v)
		case "content":
			m.Content = nil
			if e.Role != RoleAssistant || !v.IsArray() {
				return
			}
			v.ForEach(func(_, block gjson.Result) bool {
				if get(block, "type").Str == BlockToolCall {
					m.Content = append(m.Content, Block{Type: BlockToolCall, ID: text(get(block, "id"))})
				}
				return true
			})
		}
	})
	return m
}

// explain marks what stops work: the break of the path, and damaged lines that seem to have held
// what entries refer to.
func (c *checker) explain() {
	missing := ""
	if c.broken != nil && !c.broken.Cycle {
		missing = c.broken.ID
	}
	for i := range c.r.Damage {
		d := &c.r.Damage[i]
		switch d.Kind {
		case DamageParentGone, DamageNoParent:
			d.Stops = c.broken != nil && d.ID == c.broken.Child
		case DamageCycle:
			d.Stops = c.broken != nil && c.broken.Cycle && c.onCycle(d.ID, c.broken.Child)
		case DamageMissingID:
			d.Stops = c.broken != nil && c.broken.NoID && d.Line == c.broken.Line
		case DamageUnparseable, DamageTornTail:
			// A line that shows no id may have held any entry named behind it.
			d.Stops = (d.ID != "" && c.referred[d.ID]) || (d.ID == "" && missing != "" && d.Line < c.broken.Line)
		}
	}
}

// onCycle reports whether two entries lie on one cycle of parents; from is on one.
func (c *checker) onCycle(from, id string) bool {
	for at := from; ; {
		if at == id {
			return true
		}
		e := c.l.Find(at)
		if e == nil || e.ParentID == from {
			return false
		}
		at = e.ParentID
	}
}
