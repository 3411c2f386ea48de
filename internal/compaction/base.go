package compaction

import (
	"strings"

	"recap/internal/compaction/fileops"
	"recap/internal/session"
)

// base is the compaction that a new one builds on, and where its range starts.
type base struct {
	index   int // on the path, -1 for none
	id      string
	summary string // with the text of a legacy archive, if the base has one
	// start is the first entry that no summary covers: the first one the base kept, never behind the
	// base's own entry, so that nothing it kept is lost (DESIGN §11).
	start int
	// fresh is the first entry after the newest compaction of any kind.
	fresh int
	// tail are messages that the base's entry holds itself.
	tail []session.Message
	// files are the lists the base stands for; filesID is empty when it records none.
	files   fileops.Lists
	filesID string
}

// findBase looks for the newest compaction whose summary is text: one that a provider holds, and one
// that says nothing, cover nothing a new summary could build on.
func (p *preparation) findBase() error {
	p.base = base{index: -1}
	for i := len(p.path) - 1; i >= 0; i-- {
		if p.path[i].Type != session.TypeCompaction {
			continue
		}
		p.base.fresh = max(p.base.fresh, i+1)
		c, err := readCompaction(p.path[i], p.in.Bodies)
		if err != nil {
			return err
		}
		if _, sealed := c.ServerWindow(); sealed || c.Legacy() || strings.TrimSpace(c.Summary) == "" {
			continue
		}
		return p.startAt(i, c)
	}
	if p.in.Log.Partial && p.path[0].ParentID != "" {
		return session.ErrPartial
	}
	return nil
}

func (p *preparation) startAt(i int, c session.Compaction) error {
	b := &p.base
	b.index, b.id, b.summary = i, p.path[i].ID, previousSummary(&c)
	partial := p.in.Log.Partial && p.path[0].ParentID != ""
	if c.RetainedTail != nil && c.FirstKeptEntryID == "" {
		b.start = i + 1
		held, err := session.BuildContext(p.in.Log, p.in.Bodies, session.ContextOptions{Path: p.path[:i+1], Raw: true})
		if err != nil {
			return err
		}
		if len(held.Messages) > 1 { // the first is the summary
			b.tail = held.Messages[1:]
		}
	} else {
		kept, found := session.BoundaryIndex(p.path[:i+1], c.FirstKeptEntryID)
		if (!found || c.FirstKeptEntryID == "") && partial {
			return session.ErrPartial
		}
		if !found {
			p.warn("compaction %s keeps entries from %s on, which is not before it on the path; the history before it is summarised once more", b.id, c.FirstKeptEntryID)
		}
		b.start = min(kept, i+1)
	}
	files, known, err := fileops.Resolve(record(p.path[i].ID, c), p.earlierRecord)
	if err != nil || !known {
		return err
	}
	b.files, b.filesID = files, b.id
	return nil
}

// previousSummary is what the next summary builds on: the base's text and, behind it, what an archive
// of old holds, which is so drained into the next summary and then gone (spec/summary §5.2, §12.6).
func previousSummary(c *session.Compaction) string {
	archive := c.Archive()
	if strings.TrimSpace(archive) == "" {
		return c.Summary
	}
	return c.Summary + "\n\n" + archive
}

// earlierRecord finds a compaction by id that lies before another one on the path, or in the part of
// a log that was read beside the path.
func (p *preparation) earlierRecord(before, id string) (fileops.Record, bool, error) {
	e := p.in.Log.Find(id)
	later := p.in.Log.Find(before)
	if e == nil || later == nil || e.Type != session.TypeCompaction || e.Offset >= later.Offset {
		return fileops.Record{}, false, nil
	}
	if !p.in.Log.Partial && !p.onPath(e) {
		return fileops.Record{}, false, nil
	}
	c, err := readCompaction(e, p.in.Bodies)
	if err != nil {
		return fileops.Record{}, false, err
	}
	return record(id, c), true, nil
}

func (p *preparation) onPath(e *session.Entry) bool {
	for _, x := range p.path {
		if x.ID == e.ID {
			return true
		}
	}
	return false
}

func record(id string, c session.Compaction) fileops.Record {
	return fileops.Record{ID: id, Details: c.Details, FromExtension: c.FromExtension}
}

func readCompaction(e *session.Entry, b session.Bodies) (session.Compaction, error) {
	body, err := b.Body(e)
	if err != nil {
		return session.Compaction{}, err
	}
	return session.DecodeCompaction(body)
}
