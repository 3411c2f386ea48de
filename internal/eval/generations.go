package eval

import (
	"recap/internal/contract"
	"recap/internal/eval/control"
	"recap/internal/eval/fixture"
	"recap/internal/eval/probe"
)

// Curve is what the context still knows after each generation, with new work in between that restates
// no fact.
type Curve struct {
	Summariser string    `json:"summariser"`
	Scores     []float64 `json:"scores"`  // of the committed summary, generation by generation
	Files      []float64 `json:"files"`   // of paths alone: the list a summary shows is bounded, the stored one is not
	Refused    []int     `json:"refused"` // sessions whose answer the gate refused, which keep their history
	// Reasons are those of the refusals, and how often each was given.
	Reasons   map[contract.Code]int `json:"reasons,omitempty"`
	HalfLife  int                   `json:"halfLife"`     // first generation with at most half the first one's score; 0 = none
	LastScore Fidelity              `json:"lastFidelity"` // of the last generation
}

// measureGenerations plays every session through all generations and takes coverage, ledgers and decay
// on the way.
func (e *engine) measureGenerations(r *Report) error {
	for i, by := range []control.Summariser{control.Oracle(), control.Lossy(10), control.Fading(10), control.Extractive()} {
		curve := Curve{Summariser: by.Name, Reasons: map[contract.Code]int{}}
		ledger := Ledger{Summariser: by.Name}
		tallies := make([][]*probe.Tally, fixture.Generations)
		curve.Refused = make([]int, fixture.Generations)
		ledger.Generations = make([]LedgerPoint, fixture.Generations)
		for _, s := range e.sessions {
			var coverage *Coverage
			if i == 0 {
				coverage = &r.Coverage
				coverage.Sessions++
			}
			if err := e.chain(s, by, coverage, &ledger, &curve, tallies); err != nil {
				return err
			}
		}
		for g, list := range tallies {
			f := fidelity(list)
			curve.Scores = append(curve.Scores, f.Score)
			curve.Files = append(curve.Files, round(merged(list).Score(probe.Path)))
			if curve.HalfLife == 0 && g > 0 && f.Score <= curve.Scores[0]/2 {
				curve.HalfLife = g + 1
			}
			curve.LastScore = f
		}
		r.Decay = append(r.Decay, curve)
		r.Ledgers = append(r.Ledgers, ledger)
	}
	return nil
}

func merged(list []*probe.Tally) *probe.Tally {
	var all probe.Tally
	for _, t := range list {
		all.Merge(t)
	}
	return &all
}

// chain plays one session. A refused answer leaves the history as it is; the next generation then
// covers what this one did not.
func (e *engine) chain(s *fixture.Session, by control.Summariser, coverage *Coverage, ledger *Ledger, curve *Curve, tallies [][]*probe.Tally) error {
	play := &replay{e: e, s: s, by: by}
	var files touched
	var last *step
	start := ""
	for g := range fixture.Generations {
		st, err := play.next(g)
		if err != nil {
			return err
		}
		if st != nil && coverage != nil {
			if err := coverage.add(s.Name, st, start); err != nil {
				return err
			}
			if g == 0 {
				coverage.facts(s, st)
			}
		}
		switch {
		case st == nil:
		case !st.accepted:
			curve.Refused[g]++
			for _, result := range st.results {
				for _, code := range result.Reasons {
					curve.Reasons[code]++
				}
			}
		default:
			if err := files.add(st); err != nil {
				return err
			}
			start, last = st.prepared.Plan.FirstKeptEntryID, st
		}
		if last == nil {
			continue
		}
		v, err := view(last, ViewSummary)
		if err != nil {
			return err
		}
		tallies[g] = append(tallies[g], ask(s, v))
		p, err := files.point(last)
		if err != nil {
			return err
		}
		sum := &ledger.Generations[g]
		sum.Files += p.Files
		sum.Stored += p.Stored
		sum.Listed += p.Listed
		sum.Extra += p.Extra
	}
	return nil
}
