package cut

import "recap/internal/session"

// farthestCall bounds how many entries before a result its call is looked for. Calls and results lie
// side by side; without a bound one orphaned result would make the cut read a whole long session.
const farthestCall = 1000

// walker reads the range from its end and knows, for every entry it has passed, whether a cut there
// would take a tool result from its call.
type walker struct {
	r     Range
	facts map[int]Facts
}

func (w *walker) look(i int) (Facts, error) {
	if f, ok := w.facts[i]; ok {
		return f, nil
	}
	if !w.r.Path[i].IsMessageLike() {
		return Facts{}, nil
	}
	f, err := w.r.Facts(i)
	if err != nil {
		return Facts{}, err
	}
	if w.r.Path[i].Type != session.TypeMessage {
		f.Calls, f.Result = nil, ""
	}
	w.facts[i] = f
	return f, nil
}

// cross walks back until the budget is reached and returns that entry, -1 when the range fits.
func (w *walker) cross() (int, error) {
	sum := 0
	for i := len(w.r.Path) - 1; i >= w.r.Start; i-- {
		f, err := w.look(i)
		if err != nil {
			return 0, err
		}
		sum += f.Tokens
		if f.Tokens > 0 && sum >= w.r.Keep {
			return i, nil
		}
	}
	return -1, nil
}

// choose picks the cut for a crossing at i: the first point at or after it, else the start of the turn
// that holds it, else nothing is kept.
func (w *walker) choose(i int) (int, error) {
	point, err := w.nextSafe(i)
	if err != nil || point < len(w.r.Path) {
		return point, err
	}
	for turn := turnStart(w.r.Path, w.r.Start, i); turn >= 0; turn = turnStart(w.r.Path, w.r.Start, turn-1) {
		safe, err := w.safe(turn)
		if err != nil {
			return 0, err
		}
		if safe {
			return turn, nil
		}
	}
	return len(w.r.Path), nil
}

// nextSafe is the first point from i on that separates no pair, the path's length when there is none.
func (w *walker) nextSafe(i int) (int, error) {
	for ; i < len(w.r.Path); i++ {
		if !IsPoint(w.r.Path[i]) {
			continue
		}
		safe, err := w.safe(i)
		if err != nil {
			return 0, err
		}
		if safe {
			return i, nil
		}
	}
	return len(w.r.Path), nil
}

// safe reports whether no result at or after point answers a call before it. Call ids can repeat in a
// session: a result belongs to the nearest call before it.
func (w *walker) safe(point int) (bool, error) {
	open, err := w.openAt(point)
	if err != nil || len(open) == 0 {
		return err == nil, err
	}
	// Some result has no call in the tail: it is separated if its call comes earlier in the range, and
	// an orphan, which no cut can harm, if there is none.
	for i := point - 1; i >= max(w.r.Start, point-farthestCall); i-- {
		f, err := w.look(i)
		if err != nil {
			return false, err
		}
		for _, id := range f.Calls {
			if open[id] {
				return false, nil
			}
		}
	}
	return true, nil
}

// openAt returns the ids of results in [point, end) without a call before them in that tail.
func (w *walker) openAt(point int) (map[string]bool, error) {
	var open, called map[string]bool
	for i := point; i < len(w.r.Path); i++ {
		f, err := w.look(i)
		if err != nil {
			return nil, err
		}
		for _, id := range f.Calls {
			if called == nil {
				called = map[string]bool{}
			}
			called[id] = true
		}
		if f.Result != "" && !called[f.Result] {
			if open == nil {
				open = map[string]bool{}
			}
			open[f.Result] = true
		}
	}
	return open, nil
}
