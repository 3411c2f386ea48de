package jsonl

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"recap/internal/session"
)

// maxTailBlock is the largest block of a read from the end, maxTail the most that is read that way: one
// core reads from the end, all of them read the whole file.
const (
	maxTailBlock = 8 << 20
	maxTail      = 16 << 20
)

// indexTail reads the file backwards, in growing blocks of whole lines, until it holds all that the
// live context and the next compaction need (see tail.enough), and fills the log with what it read.
// A tail that is returned says that this would take more than a quarter of the file or maxTail, or
// that only the whole file can tell; then a full read is cheaper, and it knows line numbers.
func (s *snapshot) indexTail(ctx context.Context, block int64) (short *tail, err error) {
	t := newTail(s.state.size)
	for low := max(s.head.end, s.state.size-min(s.state.size/4, maxTail)); !t.enough(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if t.whole || t.from <= low {
			t.buf = nil
			return t, nil
		}
		if err := t.readBlock(s, block); err != nil {
			return nil, err
		}
		block = min(2*block, maxTailBlock)
	}
	c := collector{signals: s.head.signals}
	t.forgetLines()
	t.appendTo(&c)
	s.finish(&c, true)
	return nil, nil
}

// tail is what was read of a file from its end, and how far the walk up the active path got in it.
type tail struct {
	from   int64    // everything from this offset on was read; a line starts here, or the head ends
	blocks []*batch // in the order they were read
	lines  session.Inspector
	buf    []byte // scratch memory
	byID   map[string]*session.Entry
	facts  map[*session.Entry]facts // of compactions

	leaf    string          // the last entry of the file
	at      string          // the entry the walk needs next, "" before its start
	visited map[string]bool // entries of the path the walk has passed
	need    map[string]bool // first kept entries not passed yet
	base    bool            // a compaction that the next one can build on was passed
	chain   string          // the compaction whose file lists are still needed
	root    bool            // the walk came to a root
	whole   bool            // only the whole file can tell
}

// facts is what the walk must know of a compaction.
type facts struct {
	firstKept string
	reusable  bool   // its text is a summary the next compaction can take up
	base      string // the compaction its file lists add to
}

func newTail(size int64) *tail {
	return &tail{
		from: size, byID: map[string]*session.Entry{}, facts: map[*session.Entry]facts{},
		visited: map[string]bool{}, need: map[string]bool{},
	}
}

// readBlock reads the lines that end before t.from and start in the last n bytes before it, or the
// one line before it when that is longer.
func (t *tail) readBlock(s *snapshot, n int64) error {
	for ; ; n *= 2 {
		start := max(s.head.end, t.from-n)
		t.buf = slices.Grow(t.buf[:0], int(t.from-start))
		buf := t.buf[:t.from-start]
		if err := readFull(s.file, buf, start); err != nil {
			return err
		}
		if start > s.head.end { // the first bytes may belong to a line that starts before
			nl := bytes.IndexByte(buf, '\n')
			if nl < 0 || nl+1 == len(buf) {
				continue
			}
			buf, start = buf[nl+1:], start+int64(nl)+1
		}
		b := &batch{buf: buf, offset: start, last: t.from == s.state.size}
		b.parse(&t.lines, &s.head, nil)
		t.add(b)
		return nil
	}
}

// add takes in a block that lies before all that was read so far, and walks on.
func (t *tail) add(b *batch) {
	for i := len(b.entries) - 1; i >= 0; i-- {
		e := &b.entries[i]
		if e.Type == session.TypeLeaf || e.ID == "" {
			t.whole = t.whole || e.Type == session.TypeLeaf || t.leaf == ""
			continue
		}
		if t.leaf == "" {
			t.leaf, t.at = e.ID, e.ID
		}
		if t.byID[e.ID] == nil { // of equal ids the later entry counts
			t.byID[e.ID] = e
		}
		if e.Type == session.TypeCompaction {
			at := e.Offset - b.offset
			t.facts[e] = factsOf(b.buf[at : at+int64(e.Length)])
		}
	}
	b.buf = nil
	t.from = b.offset
	t.blocks = append(t.blocks, b)
	t.walk()
}

// walk follows parents as far as what was read allows.
func (t *tail) walk() {
	for !t.root && !t.whole && !t.enough() {
		e := t.byID[t.at]
		if e == nil {
			return
		}
		if t.visited[e.ID] { // a cycle
			t.whole = true
			return
		}
		t.visited[e.ID] = true
		delete(t.need, e.ID)
		if f, ok := t.facts[e]; ok {
			t.pass(e, f)
		}
		t.root = e.ParentID == ""
		t.whole = t.whole || t.root && e.NoParent // a root, or damage: that depends on what stands before it
		t.at = e.ParentID
	}
}

// pass notes what a compaction on the path asks for.
func (t *tail) pass(e *session.Entry, f facts) {
	if t.chain == e.ID {
		t.chain = f.base
	}
	if t.base {
		return
	}
	if f.firstKept != session.KeepNothing && !t.visited[f.firstKept] {
		t.need[f.firstKept] = true
	}
	if f.reusable {
		t.base = true
		t.chain = f.base
	}
}

// enough reports whether everything was read from the first kept entry of the newest compaction on
// the active path whose text can be built on, of newer ones that cannot, and from the oldest
// compaction whose file lists it adds to; or else the path to its root.
func (t *tail) enough() bool {
	return !t.whole && (t.root || t.base && len(t.need) == 0 && t.chain == "")
}

// appendTo adds what was read in file order.
func (t *tail) appendTo(c *collector) {
	for _, b := range slices.Backward(t.blocks) {
		c.add(b)
	}
}

// forgetLines makes line numbers unknown, which they are as long as the lines before are not counted.
func (t *tail) forgetLines() {
	for _, b := range t.blocks {
		b.lines = 0
		for i := range b.entries {
			b.entries[i].Line = 0
		}
		for i := range b.damage {
			b.damage[i].Line = 0
		}
	}
}

// factsOf reads a compaction. In doubt it says what makes the walk go further back.
func factsOf(raw []byte) facts {
	c, err := session.DecodeCompaction(raw)
	if err != nil {
		return facts{}
	}
	f := facts{firstKept: c.FirstKeptEntryID, reusable: strings.TrimSpace(c.Summary) != ""}
	for _, key := range []string{"openaiRemoteCompaction", "compactionV2", "remoteCompaction"} {
		if gjson.GetBytes(c.PreserveData, key).Exists() {
			f.reusable = false
		}
	}
	details := gjson.ParseBytes(c.Details)
	full := details.Get("readFiles").IsArray() || details.Get("modifiedFiles").IsArray()
	if b := details.Get("base"); !c.FromExtension && !full && b.Type == gjson.String {
		f.base = b.String()
	}
	return f
}
