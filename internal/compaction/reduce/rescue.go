package reduce

import (
	"fmt"
	"strings"
)

// RescueRules steer the rescue tiers.
type RescueRules struct {
	Shake    ShakeRules
	Truncate TruncateRules
	// Point, when set, lets the markers of a pass name the artifact of its originals, before the next
	// tier looks at what the pass left.
	Point func(Pass) Pass
}

// DefaultRescueRules are those of the progress guard (spec/summary §3.10).
func DefaultRescueRules() RescueRules {
	return RescueRules{Shake: AggressiveShakeRules(), Truncate: DefaultTruncateRules()}
}

// Rescue is what the rescue tiers decided.
type Rescue struct {
	// Passes in the order in which they are to be made; empty ones are left out.
	Passes []Pass
	Tail   *Tail // the tail once they are made
	Met    bool  // the bar is met
}

// Rescue shrinks a tail until a bar is met: it elides heavy blocks, then drops all images, then cuts the
// middles of the longest texts. over tells how many tokens a tail is over the bar, 0 or less when it
// meets it; it is asked before and after each tier.
func (t *Tail) Rescue(r RescueRules, over func(*Tail) int) (Rescue, error) {
	out := Rescue{Tail: t}
	tiers := []func(*Tail, int) (Pass, error){
		func(t *Tail, _ int) (Pass, error) { return t.Shake(r.Shake) },
		func(t *Tail, _ int) (Pass, error) { return t.DropImages(), nil },
		func(t *Tail, excess int) (Pass, error) { return t.Truncate(r.Truncate, excess) },
	}
	for _, tier := range tiers {
		excess := over(out.Tail)
		if excess <= 0 {
			break
		}
		p, err := tier(out.Tail, excess)
		if err != nil {
			return Rescue{}, err
		}
		if p.Empty() {
			continue
		}
		if r.Point != nil {
			p = r.Point(p)
		}
		if out.Tail, err = out.Tail.After(p); err != nil {
			return Rescue{}, err
		}
		out.Passes = append(out.Passes, p)
	}
	out.Met = over(out.Tail) <= 0
	return out, nil
}

// Freed is the estimate of what all tiers free, in tokens.
func (r Rescue) Freed() int {
	sum := 0
	for i := range r.Passes {
		sum += r.Passes[i].Freed()
	}
	return sum
}

// Notice tells people what a rescue did, in the words of the reference agents; kept says that the
// originals are in an artifact. It is "" when nothing was done.
func (r Rescue) Notice(kept bool) string {
	sink := "placeholders"
	if kept {
		sink = "an artifact"
	}
	var parts []string
	for i := range r.Passes {
		p := r.Passes[i]
		switch p.Decisions[0].Kind {
		case ImageDropped:
			parts = append(parts, fmt.Sprintf("dropped %d attached image(s)", p.Images()))
		case Truncated:
			parts = append(parts, fmt.Sprintf("truncated the middle of %d oversized message(s) (~%d tokens) to %s", len(p.Decisions), p.Freed(), sink))
		default:
			parts = append(parts, fmt.Sprintf("elided %d heavy block(s) (~%d tokens) to %s", len(p.Regions), p.Freed(), sink))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Compaction dead-end recovery: " + strings.Join(parts, " and ") + " so maintenance could make progress."
}
