package eval

import (
	"fmt"
	"io/fs"
	"time"

	"recap/internal/compaction"
	"recap/internal/compaction/gate"
	"recap/internal/eval/fixture"
)

// Options say what to measure. The zero value is the whole measure on the standard corpus.
type Options struct {
	Seed     uint64 // 0 = 1
	Sessions int    // generated sessions, 0 = MinSessions
	// Real holds session files of agents (*.jsonl, at any depth) for the coverage metrics; nil = none.
	// Files of other formats are counted and passed over.
	Real fs.FS
	// Clock measures the speed of gate and planner; nil leaves it out. Nothing else depends on it.
	Clock func() time.Time
	// Progress is told what is measured now; nil = nobody is told.
	Progress func(what string)

	// Prepare and Judge replace the planner and the gate under measurement; nil = the product's own.
	Prepare func(compaction.Input) (*compaction.Prepared, error)
	Judge   func(gate.Input) gate.Result
}

// Run measures. The error says that the measure itself could not be taken; that floors do not hold is
// in the report (Failed).
func Run(o Options) (Report, error) {
	e := newEngine(o)
	r := Report{Version: reportVersion, Seed: e.seed, Sessions: len(e.sessions), Corpus: e.corpus()}
	for _, s := range e.sessions {
		r.Facts += len(s.Facts)
	}
	for _, part := range []struct {
		what string
		run  func(*Report) error
	}{
		{"coverage, ledgers and decay", e.measureGenerations},
		{"control summarisers", e.measureControls},
		{"labelled candidates", e.measureGate},
		{"real sessions", e.measureReal},
		{"determinism", e.measureSameness},
		{"speed", e.measureSpeed},
	} {
		e.progress(part.what)
		if err := part.run(&r); err != nil {
			return Report{}, fmt.Errorf("eval: %s: %w", part.what, err)
		}
	}
	return r, nil
}

// engine holds what all measurements share.
type engine struct {
	o        Options
	seed     uint64
	sessions []*fixture.Session
	first    map[*fixture.Session]*planned // the first compaction of each session
}

func newEngine(o Options) *engine {
	e := &engine{o: o, seed: o.Seed, first: map[*fixture.Session]*planned{}}
	if e.seed == 0 {
		e.seed = 1
	}
	n := o.Sessions
	if n == 0 {
		n = MinSessions
	}
	if n > 0 {
		e.sessions = fixture.New(fixture.Options{Seed: e.seed, Sessions: n})
	}
	return e
}

func (e *engine) progress(what string) {
	if e.o.Progress != nil {
		e.o.Progress(what)
	}
}

func (e *engine) prepare(in compaction.Input) (*compaction.Prepared, error) {
	if e.o.Prepare != nil {
		return e.o.Prepare(in)
	}
	return compaction.Prepare(in)
}

func (e *engine) judge(in gate.Input) gate.Result {
	if e.o.Judge != nil {
		return e.o.Judge(in)
	}
	return gate.Judge(in)
}
