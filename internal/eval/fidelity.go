package eval

import (
	"math/rand/v2"
	"slices"

	"recap/internal/eval/fixture"
	"recap/internal/eval/probe"
	"recap/internal/session"
)

// The views in which facts are looked for (spec/gate §9, trap 6).
const (
	ViewAnswer  = "answer"  // what the summariser said, by itself
	ViewSummary = "summary" // what was committed: with repairs and the list of files
	ViewContext = "context" // the summary and what was kept behind it
)

// Fidelity is what one view still knows of the planted facts.
type Fidelity struct {
	Score    float64               `json:"score"`
	Interval [2]float64            `json:"interval"` // two-sided 95 %, by resampling sessions
	Classes  map[string]float64    `json:"classes"`
	States   map[probe.State]int   `json:"states"`
	ByClass  map[string]stateCount `json:"byClass"`
	Wrong    int                   `json:"wrong"` // stated and untrue, or no longer true
}

type stateCount = map[probe.State]int

// Lowest is the class with the lowest score.
func (f Fidelity) Lowest() (class string, score float64) {
	score = 2
	for _, c := range probe.Classes {
		if s, ok := f.Classes[string(c)]; ok && s < score {
			class, score = string(c), s
		}
	}
	return class, score
}

// ask asks a view for all facts of a session.
func ask(s *fixture.Session, v *probe.View) *probe.Tally {
	var t probe.Tally
	for i := range s.Facts {
		t.Add(&s.Facts[i].Probe, v.Answer(&s.Facts[i].Probe))
	}
	for i := range s.Untrue {
		t.Add(&s.Untrue[i].Probe, v.Answer(&s.Untrue[i].Probe))
	}
	return &t
}

// view makes a view of a step. It is nil where the step committed nothing and the view needs that.
func view(st *step, name string) (*probe.View, error) {
	switch name {
	case ViewAnswer:
		return probe.NewView(st.bare), nil
	case ViewSummary:
		v := probe.NewView(st.summary)
		return v, store(v, st)
	}
	v := probe.NewView(st.summary)
	tail, err := st.tail()
	if err != nil {
		return nil, err
	}
	v.Follow(tail)
	return v, store(v, st)
}

// store adds the lists of the committed entry.
func store(v *probe.View, st *step) error {
	c, err := session.DecodeCompaction(st.entry)
	if err != nil {
		return err
	}
	v.Store(details(c, "readFiles")...)
	v.Store(details(c, "modifiedFiles")...)
	return nil
}

// fidelity sums up the tallies of sessions.
func fidelity(tallies []*probe.Tally) Fidelity {
	var all probe.Tally
	for _, t := range tallies {
		all.Merge(t)
	}
	f := Fidelity{
		Score: round(all.Score()), Interval: interval(tallies), Classes: map[string]float64{},
		States: map[probe.State]int{}, ByClass: map[string]stateCount{}, Wrong: all.Wrong,
	}
	for _, s := range probe.States {
		f.States[s] = all.Count("", s)
	}
	for _, c := range probe.Classes {
		if !all.Asked(c) {
			continue
		}
		f.ByClass[string(c)] = stateCount{}
		for _, s := range probe.States {
			f.ByClass[string(c)][s] = all.Count(c, s)
		}
		if c != probe.Negative {
			f.Classes[string(c)] = round(all.Score(c))
		}
	}
	return f
}

// interval is the two-sided 95 % bootstrap interval of the score over sessions.
func interval(tallies []*probe.Tally) [2]float64 {
	if len(tallies) == 0 {
		return [2]float64{}
	}
	const draws = 400
	r := rand.New(rand.NewPCG(7, uint64(len(tallies))))
	points := make([][2]float64, len(tallies))
	for i, t := range tallies {
		points[i][0], points[i][1] = t.Points()
	}
	scores := make([]float64, draws)
	for i := range scores {
		var got, owed float64
		for range tallies {
			p := points[r.IntN(len(points))]
			got, owed = got+p[0], owed+p[1]
		}
		if owed > 0 {
			scores[i] = got / owed
		}
	}
	slices.Sort(scores)
	return [2]float64{round(scores[draws*25/1000]), round(scores[draws*975/1000])}
}

// round keeps four digits, so that reports can be compared.
func round(x float64) float64 {
	if x < 0 {
		return -round(-x)
	}
	return float64(int(x*10000+0.5)) / 10000
}
