package reduce

import (
	"slices"
	"time"

	"recap/internal/session"
	"recap/internal/tokens"
)

// Figures of the stale pass.
const (
	// DefaultCacheTail is how many tokens may stand behind a stale result that is pruned while the
	// provider's prompt cache is warm: they are paid anew.
	DefaultCacheTail = 8000
	// DefaultIdleAfter is how old the newest message is when the cache is taken to be cold.
	DefaultIdleAfter = 90 * time.Minute
)

// StaleRules steer the stale pass (spec/summary §8.1).
type StaleRules struct {
	SupersedeReads bool // reads that a newer one covers
	DropUseless    bool // results that their tool called useless
	// CacheTail is how many tokens may stand behind a result that is pruned while the cache is warm; 0
	// where a rewritten prefix would cost signed thinking.
	CacheTail int
	IdleAfter time.Duration
	// Batch also prunes deeper results while the cache is warm, when together they free more over the
	// coming requests than the rewritten cache costs. Off in the reference design.
	Batch bool
}

// DefaultStaleRules are those of the reference agents.
func DefaultStaleRules() StaleRules {
	return StaleRules{SupersedeReads: true, DropUseless: true, CacheTail: DefaultCacheTail, IdleAfter: DefaultIdleAfter}
}

// Stale decides which results say nothing any more: reads that a newer read covers, and results marked
// useless. While the cache is warm only those near the end go; what stands behind a result is counted
// as it is once the newer ones of this pass are gone, because only that is sent again.
func (t *Tail) Stale(r StaleRules) (Pass, error) {
	if !r.SupersedeReads && !r.DropUseless {
		return Pass{}, nil
	}
	var found []stale // newest first
	flags := t.flagger(r.SupersedeReads, r.DropUseless)
	behind := 0 // tokens of what stays behind the item, if every candidate so far goes
	for i := len(t.Items) - 1; i >= 0; i-- {
		notice, kind, err := flags.flag(i)
		if err != nil {
			return Pass{}, err
		}
		stays := t.Items[i].Tokens
		if kind != "" {
			found = append(found, stale{i, kind, notice, behind, savings(t.Items[i].Tokens, notice)})
			stays = tokens.Text(notice)
		}
		if t.Items[i].Entry.Type == session.TypeMessage {
			behind += stays
		}
	}
	var p Pass
	for _, s := range slices.Backward(found[:t.worth(found, r)]) {
		p.Decisions = append(p.Decisions, t.blank(s.item, s.kind, s.notice))
	}
	return p, nil
}

// stale is a result that could go.
type stale struct {
	item   int
	kind   Kind
	notice string
	behind int // tokens that stay behind it
	saves  int
}

// worth returns how many of the candidates, newest first, it pays to prune now.
func (t *Tail) worth(found []stale, r StaleRules) int {
	if t.newest > 0 && t.src.Now.UnixMilli()-t.newest >= r.IdleAfter.Milliseconds() {
		return len(found)
	}
	n := 0
	for n < len(found) && found[n].behind <= r.CacheTail {
		n++
	}
	if !r.Batch {
		return n
	}
	// Thirty coming requests read the freed tokens no more; rewriting the cache behind them costs
	// twelve and a half times what a cached read does.
	best, mass := 0.0, 0
	deep := 0
	for k := range found {
		mass += found[k].saves
		if value := 30*float64(mass) - 12.5*float64(found[k].behind); value > best {
			best, deep = value, k+1
		}
	}
	return max(n, deep)
}
