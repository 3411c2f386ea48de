package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"recap/internal/compaction"
	"recap/internal/session"
)

// Real is the coverage of session files of agents, read from a folder.
type Real struct {
	Coverage Coverage `json:"coverage"`
	Files    int      `json:"files"`
	Other    int      `json:"other"`   // files of formats that recap does not read
	Damaged  int      `json:"damaged"` // sessions that recap refuses to work on
	Empty    int      `json:"empty"`   // sessions with nothing to compact
}

// realBudgets are the sizes of kept tails that real sessions are compacted with, in tokens.
var realBudgets = []int{1, 500, 4000, 10000}

func (e *engine) measureReal(r *Report) error {
	if e.o.Real == nil {
		return nil
	}
	r.Real = &Real{}
	return fs.WalkDir(e.o.Real, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".jsonl" {
			return err
		}
		data, err := fs.ReadFile(e.o.Real, name)
		if err != nil {
			return err
		}
		r.Real.Files++
		return e.real(r.Real, name, data)
	})
}

// real compacts one session with every budget.
func (e *engine) real(sum *Real, name string, data []byte) error {
	f, err := session.Parse(data)
	var other *session.NotSessionError
	if errors.As(err, &other) {
		sum.Other++
		return nil
	}
	if err != nil {
		return err
	}
	compacted := false
	for _, keep := range realBudgets {
		prepared, err := e.prepare(e.input(f, "eval-real", keep))
		var skip *compaction.Skip
		if errors.As(err, &skip) {
			if skip.State == "failed" {
				sum.Damaged++
				return nil
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		compacted = true
		start, ok, err := realStart(f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !ok {
			continue
		}
		if err := sum.Coverage.add(fmt.Sprintf("%s, %d kept", name, keep), &step{planned: planned{file: f, prepared: prepared}}, start); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if compacted {
		sum.Coverage.Sessions++
	} else {
		sum.Empty++
	}
	return nil
}

// realStart is the entry from which on a session is not summarised yet. Sessions whose newest
// compaction is no plain summary are left out of the count: ok is false.
func realStart(f *session.File) (start string, ok bool, err error) {
	path, err := f.Log.Path()
	if err != nil {
		return "", false, err
	}
	i, c, err := session.EffectiveCompaction(path, f)
	if err != nil || i < 0 {
		return "", true, err
	}
	if c.RetainedTail != nil || strings.TrimSpace(c.Summary) == "" || c.FirstKeptEntryID == "" {
		return "", false, nil
	}
	if _, sealed := c.ServerWindow(); sealed {
		return "", false, nil
	}
	kept, found := session.BoundaryIndex(path[:i+1], c.FirstKeptEntryID)
	return path[kept].ID, found && c.FirstKeptEntryID != session.KeepNothing, nil
}
