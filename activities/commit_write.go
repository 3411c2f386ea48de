package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"recap/internal/compaction"
	"recap/internal/session"
	"recap/internal/store"
)

// write is what a commit does to the session in one step.
type write struct {
	change             store.Change
	entryID, firstKept string
	moved              string // an entry that is not as it was planned: nothing may be written
}

// write collects the rewrites that the plan recorded, and the entry unless the plan only reduces.
func (c *committer) write(ctx context.Context, snap store.Snapshot) (w write, err error) {
	if err := c.checkProgress(ctx, snap); err != nil {
		return w, err
	}
	w.change.Replace, w.moved, err = compaction.Rewrites(snap.Log(), snap, c.progress.Reductions)
	if err != nil || w.moved != "" || c.plan.ReducedOnly {
		return w, err
	}
	entry, kept, err := c.entry(ctx, snap)
	w.change.Append = []store.NewEntry{entry}
	w.entryID, w.firstKept = entry.ID, kept
	return w, err
}

// entry makes the entry to append: the new compaction, or an orphaned one once more.
func (c *committer) entry(ctx context.Context, snap store.Snapshot) (store.NewEntry, string, error) {
	id, err := freeID(c.in.Request.Operation, snap.Taken)
	if err != nil {
		return store.NewEntry{}, "", err
	}
	now := c.Now().UTC()
	mark := session.RecapMark{Operation: c.in.Request.Operation, Attempt: c.in.Request.Attempt}
	var content session.NewCompaction
	if c.in.Reanchor != "" {
		orphan := snap.Log().Find(c.in.Reanchor)
		if orphan == nil {
			return store.NewEntry{}, "", fmt.Errorf("the orphaned entry %s is gone", c.in.Reanchor)
		}
		body, err := snap.Body(orphan)
		if err != nil {
			return store.NewEntry{}, "", err
		}
		old, err := session.DecodeCompaction(body)
		if err != nil {
			return store.NewEntry{}, "", err
		}
		content = compaction.Again(old)
	} else {
		summary, err := c.summaryText(ctx, c.in.Summary)
		if err != nil {
			return store.NewEntry{}, "", err
		}
		content = compaction.NewEntry(c.plan, summary)
		if content.PreserveData, err = compaction.Preserved(snap.Log(), snap, c.plan); err != nil {
			return store.NewEntry{}, "", err
		}
		content.Warning = c.progress.Warning
	}
	content.ID, content.Timestamp, content.Recap = id, now.Format("2006-01-02T15:04:05.000Z"), mark
	dialect := snap.Dialect()
	return store.NewEntry{ID: id, Build: func(parent string) ([]byte, error) {
		content.ParentID = parent
		return session.BuildCompaction(dialect, content)
	}}, content.FirstKeptEntryID, nil
}

// freeID is the first free 8 hex digits of SHA-256(operation, n) (DESIGN §5.6).
func freeID(operation string, taken func(id string) (bool, error)) (string, error) {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", operation, n))
		id := hex.EncodeToString(sum[:4])
		if used, err := taken(id); err != nil || !used {
			return id, err
		}
	}
}
