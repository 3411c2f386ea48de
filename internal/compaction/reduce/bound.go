package reduce

import (
	"cmp"
	"slices"

	"recap/internal/compaction/reduce/artifact"
	"recap/internal/compaction/reduce/edit"
)

// leastElided is what a result must weigh to be elided from a kept tail.
const leastElided = 100

// Bound decides which outputs are elided so that the tail kept by a compaction fits its budget, largest
// first (spec/summary §4.6): from is the cut, a path index; keep the budget in tokens. What anybody
// said, tool calls and failed results are never elided, so the budget can stay exceeded.
func (t *Tail) Bound(from, keep int) (Pass, error) {
	p := Pass{ArtifactKind: artifact.Tail}
	sum := 0
	var outputs []int
	for i := range t.Items {
		if t.Items[i].Index < from {
			continue
		}
		sum += t.Items[i].Tokens
		ok, err := t.candidate(i)
		if err != nil {
			return Pass{}, err
		}
		if ok && !t.Items[i].Message.IsError && t.Items[i].Tokens > leastElided {
			outputs = append(outputs, i)
		}
	}
	slices.SortStableFunc(outputs, func(a, b int) int { return cmp.Compare(t.Items[b].Tokens, t.Items[a].Tokens) })
	n := 0
	for n < len(outputs) && sum > keep {
		it := &t.Items[outputs[n]]
		sum -= savings(it.Tokens, marker(TailBound, it.Message.ToolName, it.Tokens, "", 0))
		n++
	}
	slices.Sort(outputs[:n])
	for _, i := range outputs[:n] {
		it := &t.Items[i]
		p.offload(it, TailBound, []region{{
			edit:  edit.Edit{Op: edit.Blank, PrunedAt: t.prunedAt()},
			label: it.Message.ToolName, text: it.Message.Text("\n"), tokens: it.Tokens,
		}})
	}
	return p, nil
}
