package jsonl

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync"

	"recap/internal/session"
)

// batch is a run of whole lines and what they hold. Line numbers and nothing else in it are relative
// to its first line.
type batch struct {
	buf     []byte
	offset  int64
	last    bool // its end is the end of the file
	lines   int
	entries []session.Entry
	damage  []session.Damage
	signals session.Signals
	err     error
	parsed  chan struct{}
}

// indexAll reads the whole file once, front to back, and fills the log with the index of every
// entry. Lines are parsed on all cores; what is kept is proportional to the number of entries. What a
// read from the end already has, nil for nothing, is not read again.
func (s *snapshot) indexAll(ctx context.Context, have *tail) (err error) {
	end := s.state.size
	if have != nil && have.from > s.head.end { // a line starts there
		end = have.from
	} else {
		have = nil
	}
	workers := max(1, min(runtime.GOMAXPROCS(0), int(s.state.size/int64(s.batch))+1))
	jobs := make(chan *batch, workers)
	order := make(chan *batch, 2*workers)
	pool := &sync.Pool{}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(order)
		defer close(jobs)
		s.split(ctx, end, pool, jobs, order)
	})
	for range workers {
		wg.Go(func() {
			var lines session.Inspector
			var entries []session.Entry
			for b := range jobs {
				b.entries = entries[:0]
				b.parse(&lines, &s.head, nil)
				entries = b.entries
				b.entries = slices.Clone(entries) // no larger than it must be
				buf := b.buf
				b.buf = nil
				pool.Put(&buf)
				close(b.parsed)
			}
		})
	}
	c := collector{signals: s.head.signals}
	for b := range order {
		<-b.parsed
		if b.err != nil {
			err = b.err // the last one
			continue
		}
		c.add(b)
	}
	wg.Wait()
	if err == nil {
		err = ctx.Err() // the splitter may have stopped before it could say so
	}
	if err != nil {
		return err
	}
	if have != nil {
		have.appendTo(&c)
	}
	s.finish(&c, false)
	return nil
}

// indexOld reads a file of version 1 or 2 line by line: its ids follow from line numbers and content.
func (s *snapshot) indexOld(ctx context.Context) error {
	s.old = session.NewMigration(s.head.header.Version)
	c := collector{signals: s.head.signals}
	var lines session.Inspector
	for off := int64(0); off < s.state.size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := &batch{offset: off}
		if err := b.fill(s, s.state.size, nil); err != nil {
			return err
		}
		b.parse(&lines, &s.head, func(o *session.Object, line int) { s.old.Add(o, c.lines+line) })
		off += int64(len(b.buf))
		b.buf = nil
		c.add(b)
	}
	s.finish(&c, false)
	return nil
}

// finish makes the log of what was read.
func (s *snapshot) finish(c *collector, partial bool) {
	entries := slices.Concat(c.parts...)
	s.log = session.NewLog(s.head.header, entries, session.Report{
		Version:  s.head.header.Version,
		Dialect:  c.signals.Dialect(),
		Entries:  len(entries),
		Damage:   c.damage,
		Complete: !partial,
	})
	s.log.Partial = partial
}

// split cuts the file up to end into batches of whole lines and hands each to the workers and, in file order,
// to the collector.
func (s *snapshot) split(ctx context.Context, end int64, pool *sync.Pool, jobs, order chan<- *batch) {
	send := func(b *batch) bool {
		select {
		case order <- b:
		case <-ctx.Done():
			return false
		}
		if b.err != nil {
			close(b.parsed)
			return false
		}
		jobs <- b // workers never stop before the channel is closed
		return true
	}
	for off := int64(0); off < end; {
		b := &batch{offset: off, parsed: make(chan struct{})}
		if b.err = ctx.Err(); b.err == nil {
			b.err = b.fill(s, end, pool)
		}
		off += int64(len(b.buf))
		if !send(b) {
			return
		}
	}
}

// fill reads whole lines from the batch's offset: as many as fit in s.batch bytes, or one line when
// it is longer, or the rest up to end, where a line or the file ends. A nil pool is an empty one.
func (b *batch) fill(s *snapshot, end int64, pool *sync.Pool) error {
	var buf []byte
	if pool != nil {
		if p, ok := pool.Get().(*[]byte); ok {
			buf = (*p)[:cap(*p)]
		}
	}
	if buf == nil {
		buf = make([]byte, s.batch)
	}
	for have := 0; ; {
		n := int(min(int64(len(buf)), end-b.offset))
		if err := readFull(s.file, buf[have:n], b.offset+int64(have)); err != nil {
			return err
		}
		if b.offset+int64(n) == end {
			b.buf, b.last = buf[:n], end == s.state.size
			return nil
		}
		if nl := bytes.LastIndexByte(buf[have:n], '\n'); nl >= 0 {
			b.buf = buf[:have+nl+1]
			return nil
		}
		have = n
		buf = append(buf, make([]byte, len(buf))...)
	}
}

// parse fills entries and damage from the lines. migrate, if any, sees every object from the header
// on before it is kept.
func (b *batch) parse(lines *session.Inspector, h *head, migrate func(o *session.Object, line int)) {
	var objs []session.Object
	for off := 0; off < len(b.buf); {
		b.lines++
		line, next := b.buf[off:], len(b.buf)
		whole := true
		if nl := bytes.IndexByte(line, '\n'); nl >= 0 {
			line, next = line[:nl], off+nl+1
		} else {
			whole = !b.last
		}
		at := b.offset + int64(off)
		var damage session.DamageKind
		objs, damage = lines.Append(objs[:0], line)
		for i := range objs {
			o := &objs[i]
			if migrate != nil && at+int64(o.Offset) >= h.offset {
				migrate(o, b.lines)
			}
			b.signals |= o.Signals()
			b.take(o, at, h)
		}
		if damage != "" {
			b.damage = append(b.damage, session.DamagedLine(line, b.lines, at, damage, whole))
		}
		off = next
	}
}

// take keeps an object as entry, unless it is none.
func (b *batch) take(o *session.Object, lineOffset int64, h *head) {
	e := o.Entry(b.lines, lineOffset)
	if e.Offset < h.end { // title records and the header
		return
	}
	if e.Type == session.TypeHeader {
		b.damage = append(b.damage, session.Damage{
			Kind: session.DamageSecondHeader, Line: e.Line, Offset: e.Offset, Length: e.Length, ID: e.ID,
			Detail: "a second session header; it is kept and ignored",
		})
		return
	}
	b.entries = append(b.entries, e)
}

// collector joins batches in file order.
type collector struct {
	lines   int
	parts   [][]session.Entry
	damage  []session.Damage
	signals session.Signals
}

func (c *collector) add(b *batch) {
	for i := range b.entries {
		b.entries[i].Line += c.lines
	}
	for i := range b.damage {
		b.damage[i].Line += c.lines
	}
	c.parts = append(c.parts, b.entries)
	c.damage = append(c.damage, b.damage...)
	c.signals |= b.signals
	c.lines += b.lines
}
