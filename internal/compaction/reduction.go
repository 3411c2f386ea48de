package compaction

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"recap/internal/compaction/reduce"
	"recap/internal/compaction/reduce/edit"
	"recap/internal/contract"
	"recap/internal/session"
	"recap/internal/tokens"
)

// Artifact is a document with original texts that reducers take out of a session, and the id that
// their markers name. Whoever stores the plan stores it, before anything is rewritten.
type Artifact struct {
	ID       string
	Document string
}

// reductions are what reducers decided about a tail, pass by pass.
type reductions struct {
	operation string
	tail      *reduce.Tail
	decisions []reduce.Decision
	artifacts []Artifact
}

// point lets the markers of a pass name the artifact that keeps its originals.
func (r *reductions) point(pass reduce.Pass) reduce.Pass {
	if len(pass.Regions) > 0 {
		a := Artifact{ID: artifactID(r.operation, len(r.artifacts)), Document: pass.Document()}
		pass.Decisions = reduce.Point(pass.Decisions, a.ID)
		r.artifacts = append(r.artifacts, a)
	}
	return pass
}

// make makes a pass: the tail becomes what it then is.
func (r *reductions) make(pass reduce.Pass) error {
	tail, err := r.tail.After(pass)
	if err != nil {
		return err
	}
	r.tail = tail
	r.decisions = append(r.decisions, pass.Decisions...)
	return nil
}

// artifactID is the same whenever the operation is planned on the same session again.
func artifactID(operation string, n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "artifact %s %d", operation, n))
	return hex.EncodeToString(sum[:8])
}

// Reduction is a recorded rewrite of one entry: the decisions in order, and the fingerprint of the
// message once they are made, by which a second run knows that they were.
type Reduction struct {
	EntryID   string            `json:"entryId"`
	Decisions []reduce.Decision `json:"decisions"`
	Is        string            `json:"is"`
}

// tokensFrom is the estimate of the tail's messages at path index first and later.
func (r *reductions) tokensFrom(first int) int {
	sum := 0
	for i := range r.tail.Items {
		if r.tail.Items[i].Index >= first {
			sum += r.tail.Items[i].Tokens
		}
	}
	return sum
}

// from returns the recorded rewrites of the entries at path index first and later, and what they free.
func (r *reductions) from(first int) (list []Reduction, freed int) {
	byEntry := map[string][]reduce.Decision{}
	for _, d := range r.decisions {
		byEntry[d.EntryID] = append(byEntry[d.EntryID], d)
	}
	for i := range r.tail.Items {
		it := &r.tail.Items[i]
		decisions := byEntry[it.Entry.ID]
		if it.Index < first || len(decisions) == 0 {
			continue
		}
		for _, d := range decisions {
			freed += d.Freed
		}
		list = append(list, Reduction{EntryID: it.Entry.ID, Decisions: decisions, Is: edit.Fingerprint(&it.Message)})
	}
	return list, freed
}

// Rewrites makes recorded rewrites on the stored objects of a session, as store.Change.Replace takes
// them; those that were made already are left out. moved is the entry that is no longer as it was when
// the plan was made: then nothing may be rewritten.
func Rewrites(l *session.Log, b session.Bodies, list []Reduction) (replace map[string][]byte, moved string, err error) {
	replace = map[string][]byte{}
	for _, r := range list {
		e := l.Find(r.EntryID)
		if e == nil {
			return nil, r.EntryID, nil
		}
		body, err := b.Body(e)
		if err != nil {
			return nil, "", err
		}
		m, ok, err := session.DecodeEntry(e, body)
		if err != nil {
			return nil, "", err
		}
		if ok && edit.Fingerprint(&m) == r.Is {
			continue
		}
		changed, err := reduce.Replacements(l, b, r.Decisions)
		if err != nil {
			return nil, r.EntryID, nil
		}
		replace[r.EntryID] = changed[r.EntryID]
	}
	return replace, "", nil
}

// lightened are the reasons of automatic runs that reduce before they summarise (spec/summary §3.8).
var lightened = []contract.Reason{
	contract.ReasonThreshold, contract.ReasonOverflow, contract.ReasonIncomplete, contract.ReasonMidTurn,
}

// mostReduced is the most stored text in bytes that reducers look at: a live tail is that small, and
// the first compaction of a huge session summarises what they would look at.
const mostReduced = 64 << 20

// lighten runs the reducers that may spare the summary: results that say nothing any more, old ones
// when the threshold was reached, and repeated ones.
func (p *preparation) lighten() error {
	if !p.in.InPlace || !slices.Contains(lightened, p.in.Reason) || p.bytesFrom(p.base.start) > mostReduced {
		return nil
	}
	if err := p.readTail(reduce.Read); err != nil {
		return err
	}
	supersede, useless := contract.On(p.in.Settings.SupersedeReads), contract.On(p.in.Settings.DropUseless)
	stale := reduce.DefaultStaleRules()
	stale.SupersedeReads, stale.DropUseless = supersede, useless
	steps := []func(*reduce.Tail) (reduce.Pass, error){
		func(t *reduce.Tail) (reduce.Pass, error) { return t.Stale(stale) },
		(*reduce.Tail).Dedup,
	}
	if p.in.Reason == contract.ReasonThreshold {
		prune := reduce.DefaultPruneRules()
		prune.SupersedeReads, prune.DropUseless = supersede, useless
		steps = slices.Insert(steps, 1, func(t *reduce.Tail) (reduce.Pass, error) { return t.Prune(prune) })
	}
	for _, step := range steps {
		pass, err := step(p.reduced.tail)
		if err != nil {
			return err
		}
		if err := p.reduced.make(p.reduced.point(pass)); err != nil {
			return err
		}
	}
	return p.planReduced()
}

// planReduced lets the rest of the planning read the session as the reductions leave it.
func (p *preparation) planReduced() error {
	changed, err := reduce.Replacements(p.in.Log, p.stored, p.reduced.decisions)
	p.in.Bodies = reduce.Overlay(p.stored, changed)
	return err
}

// enough reports whether the reducers alone brought a context that had reached its threshold below it.
func (p *preparation) enough() bool {
	if p.in.Reason != contract.ReasonThreshold || len(p.reduced.decisions) == 0 {
		return false
	}
	_, freed := p.reduced.from(0)
	residual := max(p.measured.Tokens-freed, p.reduced.tokensFrom(0)+tokens.Text(p.base.summary))
	t := tokens.ParseThreshold(p.in.Settings.Threshold)
	return !tokens.ShouldCompact(residual, p.in.Window, t, p.in.Settings.ReserveTokens)
}

// bound elides outputs of the kept tail until it fits its budget (spec/summary §4.6).
func (p *preparation) bound() error {
	if !p.in.InPlace || p.found.Kept >= len(p.path) || p.found.KeptTokens <= p.keep {
		return nil
	}
	if p.reduced.tail == nil {
		from := func(src reduce.Source) (*reduce.Tail, error) { return reduce.ReadFrom(src, p.found.Kept) }
		if err := p.readTail(from); err != nil {
			return err
		}
	}
	pass, err := p.reduced.tail.Bound(p.found.Kept, p.keep)
	if err != nil {
		return err
	}
	return p.reduced.make(p.reduced.point(pass))
}

func (p *preparation) readTail(read func(reduce.Source) (*reduce.Tail, error)) error {
	tail, err := read(reduce.Source{Path: p.path, Bodies: p.in.Bodies, Partial: p.in.Log.Partial, Now: p.in.Now})
	p.reduced.tail, p.reduced.operation = tail, p.in.Operation
	return err
}

func (p *preparation) bytesFrom(start int) int {
	sum := 0
	for _, e := range p.path[start:] {
		sum += e.Length
	}
	return sum
}
