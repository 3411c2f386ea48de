package probe

// Tally adds up answers. The zero value is ready to use; tallies of several sessions can be merged.
type Tally struct {
	counts map[Class]map[State]int
	got    map[Class]float64
	owed   map[Class]float64
	// Wrong counts what was stated and never happened, or holds no more.
	Wrong int
}

// Add counts one answer.
func (t *Tally) Add(p *Probe, s State) {
	if t.counts == nil {
		t.counts, t.got, t.owed = map[Class]map[State]int{}, map[Class]float64{}, map[Class]float64{}
	}
	if !p.owed() {
		if s == Missing {
			return
		}
		t.Wrong++
		t.got[p.Class] += p.WeightOf() * points[s]
	} else {
		t.owed[p.Class] += p.WeightOf()
		t.got[p.Class] += p.WeightOf() * points[s]
	}
	if t.counts[p.Class] == nil {
		t.counts[p.Class] = map[State]int{}
	}
	t.counts[p.Class][s]++
}

// Merge adds another tally.
func (t *Tally) Merge(o *Tally) {
	if t.counts == nil {
		t.counts, t.got, t.owed = map[Class]map[State]int{}, map[Class]float64{}, map[Class]float64{}
	}
	for _, c := range Classes {
		t.got[c] += o.got[c]
		t.owed[c] += o.owed[c]
		for _, s := range States {
			if n := o.counts[c][s]; n > 0 {
				if t.counts[c] == nil {
					t.counts[c] = map[State]int{}
				}
				t.counts[c][s] += n
			}
		}
	}
	t.Wrong += o.Wrong
}

// Score is Σ w·s / Σ w over the given classes, all of them when none is given. It is 0 when nothing was
// owed, and negative when more was changed than kept.
func (t *Tally) Score(classes ...Class) float64 {
	got, owed := t.Points(classes...)
	if owed == 0 {
		return 0
	}
	return got / owed
}

// Points are the two sums a score is made of: what was got, and what was owed.
func (t *Tally) Points(classes ...Class) (got, owed float64) {
	if len(classes) == 0 {
		classes = Classes
	}
	for _, c := range classes {
		got += t.got[c]
		owed += t.owed[c]
	}
	return got, owed
}

// Count is how many answers of a class had a state; the empty class counts all.
func (t *Tally) Count(c Class, s State) int {
	if c != "" {
		return t.counts[c][s]
	}
	n := 0
	for _, c := range Classes {
		n += t.counts[c][s]
	}
	return n
}

// Asked reports whether anything of a class was counted.
func (t *Tally) Asked(c Class) bool { return len(t.counts[c]) > 0 }
