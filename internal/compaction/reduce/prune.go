package reduce

import (
	"slices"

	"recap/internal/session"
	"recap/internal/tokens"
)

// NoGuard lets a prune reach results at any depth.
const NoGuard = -1

// PruneRules steer the threshold prune (spec/summary §8.2). Figures are tokens.
type PruneRules struct {
	Protect    int // newest tool output that is kept
	MinSavings int // below, nothing is pruned
	MinResult  int // smaller results are never pruned for their age
	// CacheGuard keeps results that have more than so many tokens behind them; NoGuard keeps none. With
	// a guard below Protect no result is ever pruned for its age alone: what stands behind it would
	// have to be less than the guard and at least Protect.
	CacheGuard     int
	SupersedeReads bool // superseded reads go, however new
	DropUseless    bool // useless results go, however new
}

// DefaultPruneRules are those of the reference design, which has no guard: this prune runs when the
// context is over its threshold and the prefix is about to change anyway.
func DefaultPruneRules() PruneRules {
	return PruneRules{Protect: 40_000, MinSavings: 20_000, MinResult: 50, CacheGuard: NoGuard, SupersedeReads: true, DropUseless: true}
}

// Prune decides which old tool results go so that a context over its threshold shrinks. Useless and
// superseded ones go first and use up nothing of what is protected.
func (t *Tail) Prune(r PruneRules) (Pass, error) {
	flags := t.flagger(r.SupersedeReads, r.DropUseless)
	var p Pass
	retained, behind := 0, 0 // tokens of newer results; of newer messages as they stay
	for i := len(t.Items) - 1; i >= 0; i-- {
		it := &t.Items[i]
		stays := it.Tokens
		if it.Message.Role == session.RoleToolResult {
			notice, kind, err := flags.flag(i)
			if err != nil {
				return Pass{}, err
			}
			guarded := r.CacheGuard >= 0 && behind > r.CacheGuard
			if kind == "" || guarded {
				kind, notice = "", ""
				old := retained >= r.Protect && it.Tokens >= r.MinResult && !guarded
				retained += it.Tokens
				if old {
					ok, err := t.candidate(i)
					if err != nil {
						return Pass{}, err
					}
					if ok {
						kind, notice = Aged, agedNotice(it.Tokens)
					}
				}
			}
			if kind != "" {
				p.Decisions = append(p.Decisions, t.blank(i, kind, notice))
				stays = tokens.Text(notice)
			}
		}
		if it.Entry.Type == session.TypeMessage {
			behind += stays
		}
	}
	if p.Freed() < r.MinSavings {
		return Pass{}, nil
	}
	slices.Reverse(p.Decisions)
	return p, nil
}
