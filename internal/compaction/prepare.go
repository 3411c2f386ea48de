package compaction

import (
	"errors"
	"fmt"

	"recap/internal/compaction/cut"
	"recap/internal/contract"
	"recap/internal/session"
	"recap/internal/tokens"
)

// Prepare decides what a compaction of the session does (DESIGN §5.1). A *Skip says that there is
// nothing to do or that work must stop; session.ErrPartial asks for the whole log; any other error
// comes from reading bodies. Nothing is written and no model is asked.
func Prepare(in Input) (*Prepared, error) {
	in.Settings = in.Settings.WithDefaults()
	p := &preparation{in: in, stored: in.Bodies}
	for _, step := range []func() error{
		p.integrity, p.somethingNew, p.noCallInFlight, p.findBase, p.measure, p.overThreshold, p.lighten,
		p.adaptKeep, p.cut, p.bound, p.read,
	} {
		if err := step(); err != nil {
			return nil, p.blocked(err)
		}
		if p.enough() {
			return p.reducedOnly(), nil
		}
	}
	return p.result(), nil
}

// preparation is a plan in the making; each step fills in what the later ones need.
type preparation struct {
	in     Input
	stored session.Bodies // as the session has them; in.Bodies is as the reductions leave it
	path   []*session.Entry
	base   base

	measured tokens.Measurement
	lastUsed int // prompt tokens of the usage the measurement rests on
	keep     int
	found    cut.Cut
	yields   map[int]bool // entries of the tail that yield a message

	reduced         reductions
	history, prefix stretch
	warnings        []string
}

func (p *preparation) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// maxWarnings bounds how many damaged places a plan names one by one.
const maxWarnings = 10

// integrity refuses to work on a short path: what cannot be reached would be lost for good.
func (p *preparation) integrity() error {
	if v := p.in.Log.Header.Version; v > session.CurrentVersion {
		return &Skip{
			State: contract.StateFailed, Code: contract.CodeNewerVersion,
			Message: fmt.Sprintf("the session is of version %d, and this recap writes version %d: it could not be read back; upgrade recap", v, session.CurrentVersion),
		}
	}
	path, broken, err := Path(p.in.Log, p.in.Settings.SkipDamaged)
	if err != nil {
		if cause, ok := errors.AsType[*session.PathError](err); ok {
			return damaged(cause.Error())
		}
		return err
	}
	if broken != nil {
		p.warn("%s; the compaction covers what can be reached", broken)
	}
	p.path = path
	shown := 0
	for _, d := range p.in.Log.Report.Damage {
		if d.Stops && !p.in.Settings.SkipDamaged {
			return damaged(describe(d))
		}
		if shown++; shown <= maxWarnings {
			p.warn("%s", describe(d))
		}
	}
	if shown > maxWarnings {
		p.warn("%d more damaged places; session check lists all", shown-maxWarnings)
	}
	return nil
}

func damaged(what string) *Skip {
	return &Skip{
		State: contract.StateFailed, Code: contract.CodeDamagedSession,
		Message: what + "; repair the file (session check lists the damage), or pass --skip-damaged to go on without what is lost",
	}
}

func describe(d session.Damage) string {
	text := fmt.Sprintf("line %d: %s", d.Line, d.Kind)
	if d.ID != "" {
		text += " " + d.ID
	}
	if d.Detail != "" {
		text += ": " + d.Detail
	}
	return text
}

// Path is the active path to work on. With skipDamaged a path whose parents end early is followed as
// far as it goes, and broken says where it ends; a cycle stays an error, as it has no end.
func Path(l *session.Log, skipDamaged bool) (path []*session.Entry, broken *session.PathError, err error) {
	path, err = l.Path()
	if !errors.As(err, &broken) {
		return path, nil, err
	}
	if !skipDamaged || broken.Cycle || broken.NoID {
		return nil, nil, err
	}
	return reachable(l), broken, nil
}

// reachable walks from the leaf as far as parents exist.
func reachable(l *session.Log) []*session.Entry {
	var path []*session.Entry
	seen := map[string]bool{}
	for e := l.Leaf(); e != nil && !seen[e.ID]; e = l.Find(e.ParentID) {
		seen[e.ID] = true
		path = append(path, e)
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}

// somethingNew ends an operation on a session without messages, or without any since it was compacted.
func (p *preparation) somethingNew() error {
	if n := len(p.path); n > 0 && p.path[n-1].Type == session.TypeCompaction {
		return skipped(contract.CodeNothingToCompact, "the session is already compacted: nothing came after its newest compaction")
	}
	for _, e := range p.path {
		if e.IsMessageLike() {
			return nil
		}
	}
	return skipped(contract.CodeEmptySession, "the session has no message yet")
}

func (p *preparation) noCallInFlight() error {
	open, err := callInFlight(p.path, p.in.Bodies, p.in.Now, p.in.LastWrite)
	if err != nil || !open {
		return err
	}
	return skipped(contract.CodeCallInFlight, fmt.Sprintf(
		"a tool call at the end of the session has no result yet; ask again when it has, or %s after the call", abandonedAfter))
}

// overThreshold holds automatic requests to the threshold. Requests that come of an overflow or a cut
// off answer do not need it: they prove that the context is too large. Idle requests were selected by
// whoever sent them.
func (p *preparation) overThreshold() error {
	if p.in.Reason != contract.ReasonThreshold && p.in.Reason != contract.ReasonMidTurn {
		return nil
	}
	t := tokens.ThresholdOf(p.in.Settings)
	notices, _ := tokens.Notices(t, p.in.Window, p.in.Settings.ReserveTokens, nil)
	for _, n := range notices {
		p.warn("%s", n.Message)
	}
	if p.in.Window <= 0 {
		return skipped(contract.CodeBelowThreshold, "the context window of the session's model is unknown, so no threshold can be reached; declare contextWindow for it, or ask for a manual compaction")
	}
	size := p.measured.Tokens
	if !tokens.ShouldCompact(size, p.in.Window, t, p.in.Settings.ReserveTokens) {
		stored, err := p.storedEstimate()
		if err != nil {
			return err
		}
		size = tokens.Decision(size, stored)
	}
	r := tokens.Resolve(t, p.in.Window, p.in.Settings.ReserveTokens)
	if size <= r.Tokens {
		return skipped(contract.CodeBelowThreshold, fmt.Sprintf("the context has about %d tokens, not over the threshold of %d", size, r.Tokens))
	}
	return nil
}

// cut decides the cut, and ends an operation that would summarise nothing.
func (p *preparation) cut() error {
	p.yields = map[int]bool{}
	found, err := cut.Find(cut.Range{Path: p.path, Start: p.base.start, Keep: p.keep, Facts: p.facts})
	switch {
	case errors.Is(err, cut.ErrUnnamed):
		return damaged(err.Error())
	case err != nil:
		return err
	case !found.Crossed:
		return skipped(contract.CodeNothingToCompact, fmt.Sprintf(
			"nothing to compact: everything since the last summary fits the %d tokens that are kept", p.keep))
	}
	p.found = found
	return nil
}
