package gate

import "recap/internal/contract"

// Structure is what the planner decided about the conversation, for G14: a mistake in it is ours, not
// the model's. Entries are named by id.
type Structure struct {
	// Path lists every entry that yields a message, in order, from the first one that the compaction
	// must account for.
	Path []string
	// Summarized, Kept and Exempt must together hold each entry of Path exactly once. Kept is the end
	// of Path.
	Summarized, Kept, Exempt []string
	// Tail describes the kept messages, in order.
	Tail []TailMessage
}

// TailMessage is one kept message as far as pairs of calls and results go.
type TailMessage struct {
	Calls  []string // ids of its tool calls
	Result string   // id of the call it answers, when it is a tool result
}

// Progress is what the compaction gains, for G5 and G15, in tokens of the whole context.
type Progress struct {
	Before, After int
	// Target is the size the context must not exceed afterwards; 0 = none.
	Target int
}

// checkStructure is G14. It is asked of the whole, never of a part.
func checkStructure(in *Input, _ *document, _ *Measurements) contract.Code {
	if in.Structure == nil || in.Structure.valid() {
		return ""
	}
	return CodeStructure
}

func (s *Structure) valid() bool {
	times := make(map[string]int, len(s.Path))
	for _, list := range [][]string{s.Summarized, s.Kept, s.Exempt} {
		for _, id := range list {
			times[id]++
		}
	}
	for _, id := range s.Path {
		if times[id] != 1 {
			return false // a gap, or covered twice
		}
		delete(times, id)
	}
	if len(times) > 0 {
		return false // covered without being there
	}
	return s.keptIsTail() && s.pairsWhole()
}

// keptIsTail wants the kept entries to be the last ones of the path, exempt ones apart.
func (s *Structure) keptIsTail() bool {
	exempt := make(map[string]bool, len(s.Exempt))
	for _, id := range s.Exempt {
		exempt[id] = true
	}
	k := len(s.Kept)
	for i := len(s.Path) - 1; i >= 0 && k > 0; i-- {
		if exempt[s.Path[i]] {
			continue
		}
		if k--; s.Kept[k] != s.Path[i] {
			return false
		}
	}
	return k == 0
}

// pairsWhole wants every result in the tail to follow its call in the tail.
func (s *Structure) pairsWhole() bool {
	called := map[string]bool{}
	for _, m := range s.Tail {
		if m.Result != "" && !called[m.Result] {
			return false
		}
		for _, id := range m.Calls {
			called[id] = true
		}
	}
	return true
}

// checkProgress is G15 and the context's half of G5 (DESIGN §11: off on small sessions).
func checkProgress(in *Input, _ *document, _ *Measurements) contract.Code {
	p := in.Progress
	switch {
	case p == nil || in.Small():
		return ""
	case 10*p.After > 9*p.Before:
		return CodeNoProgress
	case p.Target > 0 && p.After > p.Target:
		return CodeTooLong
	}
	return ""
}
