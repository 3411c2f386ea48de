package session

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// ErrPartial says that the part of the session that was read does not hold the live context; load
// the whole session and repeat.
var ErrPartial = errors.New("the live context starts before the part of the session that was read; load all of it")

// ContextOptions say which view of a session BuildContext makes. The zero value is what a model
// would be sent.
type ContextOptions struct {
	// Path replaces the active path of the log, unless it is nil; an empty one is the place before the
	// first entry.
	Path []*Entry
	// Raw keeps the messages as the session has them: nothing is stripped, dropped or paired.
	Raw bool
	// KeepDangling keeps tool calls without result (redraw in the middle of a turn).
	KeepDangling bool
	// Transcript emits every entry of the path in order, each compaction in its place, for display.
	Transcript bool
	// Collapse, with Transcript, leaves out what the effective compaction replaced: kept entries, the
	// summary in its place, then what came later.
	Collapse bool
}

// Context is a session as messages.
type Context struct {
	Messages      []Message
	Provider      string // of the newest model change, else of the newest assistant message
	Model         string
	ThinkingLevel string
	CompactionID  string // entry of the effective compaction, "" when there is none
	// Warnings name what was damaged or left out, one line each, without text of the session.
	Warnings []string
}

func (c *Context) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// BuildContext rebuilds the messages of a session (spec/summary §1.7): the summary of the effective
// compaction, the entries it kept, and all later ones. Bodies are read only of entries that
// contribute, in parallel on long paths. A broken path is a *PathError; the live context of a
// Partial log may need more than was read, which is ErrPartial.
func BuildContext(l *Log, b Bodies, o ContextOptions) (Context, error) {
	path := o.Path
	if path == nil {
		var err error
		if path, err = l.Path(); err != nil {
			return Context{}, err
		}
	}
	var c Context
	var err error
	if c.Provider, c.Model, err = activeModel(path, b); err != nil {
		return Context{}, err
	}
	if c.ThinkingLevel, err = thinkingLevel(path, b); err != nil {
		return Context{}, err
	}
	k, comp, err := EffectiveCompaction(path, b)
	if err != nil {
		return Context{}, err
	}
	if k >= 0 {
		c.CompactionID = path[k].ID
	}
	switch {
	case o.Transcript && o.Collapse:
		if k < 0 {
			if k, comp, err = newestCompaction(path, b); err != nil {
				return Context{}, err
			}
		}
		err = c.collapsed(l, b, path, k, comp)
	case o.Transcript:
		c.Messages, err = decodeAll(path, b, func(e *Entry) bool { return e.IsMessageLike() || e.Type == TypeCompaction })
	default:
		err = c.live(l, b, path, k, comp, o)
	}
	if err != nil {
		return Context{}, err
	}
	if o.Transcript && !o.Raw && !o.KeepDangling {
		c.Messages = stripDangling(c.Messages, true)
	}
	return c, nil
}

// live emits what a model would be sent, or the same untouched.
func (c *Context) live(l *Log, b Bodies, path []*Entry, k int, comp Compaction, o ContextOptions) error {
	boundary, tail, err := c.kept(l, path, k, comp)
	if err != nil {
		return err
	}
	var kept []Message
	if boundary < k {
		if kept, err = decodeAll(path[boundary:k], b, (*Entry).IsMessageLike); err != nil {
			return err
		}
	}
	kept = append(kept, tail...)
	later, err := decodeAll(path[k+1:], b, (*Entry).IsMessageLike)
	if err != nil {
		return err
	}
	if k >= 0 {
		m, _ := comp.message()
		c.Messages = append(c.Messages, entryMessage(m, path[k]))
		if !o.Raw {
			kept = dropBoundThinking(kept)
		}
	}
	c.Messages = append(append(c.Messages, kept...), later...)
	if o.Raw {
		return nil
	}
	c.Messages = dropRecovered(c.Messages)
	var orphans int
	if c.Messages, orphans = dropOrphanResults(c.Messages); orphans > 0 {
		c.warn("%d tool results without their call are left out", orphans)
	}
	if !o.KeepDangling {
		c.Messages = stripDangling(c.Messages, false)
	}
	return nil
}

// collapsed emits kept entries, the summary at its place, later entries.
func (c *Context) collapsed(l *Log, b Bodies, path []*Entry, k int, comp Compaction) error {
	boundary, tail, err := c.kept(l, path, k, comp)
	if err != nil {
		return err
	}
	if boundary < k {
		if c.Messages, err = decodeAll(path[boundary:k], b, (*Entry).IsMessageLike); err != nil {
			return err
		}
	}
	c.Messages = append(c.Messages, tail...)
	if k >= 0 && !comp.Legacy() {
		if m, ok := comp.message(); ok {
			m.Content = nil // a recovered archive is for the model only
			c.Messages = append(c.Messages, entryMessage(m, path[k]))
		}
	}
	later, err := decodeAll(path[k+1:], b, (*Entry).IsMessageLike)
	c.Messages = append(c.Messages, later...)
	return err
}

// kept returns where the entries start that compaction k keeps, and the messages it holds itself.
// For k = -1 both are empty.
func (c *Context) kept(l *Log, path []*Entry, k int, comp Compaction) (int, []Message, error) {
	if k < 0 {
		if l.Partial && len(path) > 0 && !l.isRoot(path[0]) {
			return 0, nil, ErrPartial
		}
		return 0, nil, nil
	}
	if comp.RetainedTail != nil && comp.FirstKeptEntryID == "" {
		return k, comp.tail(path[k]), nil
	}
	boundary, found := BoundaryIndex(path, comp.FirstKeptEntryID)
	found = found && (boundary <= k || comp.FirstKeptEntryID == KeepNothing)
	reExpands := !found || comp.FirstKeptEntryID == ""
	if reExpands && l.Partial && !l.isRoot(path[0]) {
		return 0, nil, ErrPartial
	}
	if !found {
		c.warn("compaction %s keeps entries from %s on, which is not before it on the path; the history before it is sent in full",
			clip(path[k].ID), clip(comp.FirstKeptEntryID))
		boundary = 0
	}
	return boundary, nil, nil
}

// newestCompaction finds where a collapsed transcript divides when no compaction is usable: the
// newest one that is not of a legacy form, else the newest.
func newestCompaction(path []*Entry, b Bodies) (int, Compaction, error) {
	at, found := -1, Compaction{}
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Type != TypeCompaction {
			continue
		}
		c, err := readCompaction(path[i], b)
		if err != nil {
			return -1, Compaction{}, err
		}
		if at < 0 || !c.Legacy() {
			at, found = i, c
		}
		if !c.Legacy() {
			break
		}
	}
	return at, found, nil
}

// entryMessage stamps a message with the entry it comes from.
func entryMessage(m Message, e *Entry) Message {
	m.EntryID = e.ID
	if m.Timestamp == 0 {
		m.Timestamp = isoMillis(e.Timestamp)
	}
	return m
}

// decodeAll decodes the wanted entries in order, on several processors when there are many.
func decodeAll(path []*Entry, b Bodies, wanted func(*Entry) bool) ([]Message, error) {
	var entries []*Entry
	for _, e := range path {
		if wanted(e) {
			entries = append(entries, e)
		}
	}
	type decoded struct {
		m  Message
		ok bool
	}
	out := make([]decoded, len(entries))
	err := parallel(len(entries), func(i int) error {
		body, err := b.Body(entries[i])
		if err != nil {
			return err
		}
		out[i].m, out[i].ok, err = DecodeEntry(entries[i], body)
		return err
	})
	if err != nil {
		return nil, err
	}
	messages := make([]Message, 0, len(out))
	for i := range out {
		if out[i].ok {
			messages = append(messages, out[i].m)
		}
	}
	return messages, nil
}

// parallel calls f for 0…n-1 and returns the error of the lowest index that failed.
func parallel(n int, f func(i int) error) error {
	const batch = 64 // below, a goroutine costs more than it brings
	workers := min(runtime.GOMAXPROCS(0), n/batch+1)
	if workers < 2 {
		for i := range n {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	var (
		next   atomic.Int64
		failed sync.Map // index → error
		wg     sync.WaitGroup
	)
	for range workers {
		wg.Go(func() {
			for {
				end := int(next.Add(batch))
				if end-batch >= n {
					return
				}
				for i := end - batch; i < min(end, n); i++ {
					if err := f(i); err != nil {
						failed.Store(i, err)
						next.Store(int64(n))
						return
					}
				}
			}
		})
	}
	wg.Wait()
	first, err := n, error(nil)
	failed.Range(func(k, v any) bool {
		if k.(int) < first {
			first, err = k.(int), v.(error)
		}
		return true
	})
	return err
}
