package eval

import (
	"fmt"
	"time"

	"recap/internal/compaction"
	"recap/internal/eval/control"
	"recap/internal/eval/fixture"
	"recap/internal/session"
)

// Speed says what gate and planner cost (M13), on one core, the best of several runs.
type Speed struct {
	GateSourceTokens int     `json:"gateSourceTokens"`
	GateMs           float64 `json:"gateMs"`
	GateMsPer100k    float64 `json:"gateMsPer100k"`
	PlanTailEntries  int     `json:"planTailEntries"`
	PlanBefore       int     `json:"planBefore"` // entries before the tail
	PlanMs           float64 `json:"planMs"`
}

// The sizes of what is timed.
const (
	speedTurns = 240 // turns of the session that is timed
	speedRuns  = 5
)

func (e *engine) measureSpeed(r *Report) error {
	if e.o.Clock == nil {
		return nil
	}
	s := fixture.New(fixture.Options{Seed: e.seed, Sessions: 1, Turns: speedTurns, Work: 4})[0]
	play := &replay{e: e, s: s, by: control.Oracle(), ungated: true}
	st, err := play.next(0)
	if err != nil || st == nil {
		return fmt.Errorf("the session that is timed has nothing to compact (%w)", err)
	}
	r.Speed = &Speed{GateSourceTokens: st.prepared.Plan.SourceTokens}
	req := st.prepared.History
	in := gateInput(&st.prepared.Plan, req, control.Oracle().Summarise(s, req, maxOutput), false)
	r.Speed.GateMs = e.time(func() { e.judge(in) })
	r.Speed.GateMsPer100k = round(r.Speed.GateMs / float64(r.Speed.GateSourceTokens) * 100_000)
	return e.timePlanner(r, play)
}

// timePlanner plans on what a store reads of a compacted session: from the first kept entry on.
func (e *engine) timePlanner(r *Report, play *replay) error {
	if err := play.work(1); err != nil {
		return err
	}
	f, err := session.Parse(play.data.Bytes())
	if err != nil {
		return err
	}
	path, err := f.Log.Path()
	if err != nil {
		return err
	}
	_, c, err := session.EffectiveCompaction(path, f)
	if err != nil {
		return err
	}
	from := 0
	for i := range f.Log.Entries {
		if f.Log.Entries[i].ID == c.FirstKeptEntryID {
			from = i
		}
	}
	live := session.NewLog(f.Log.Header, f.Log.Entries[from:], f.Log.Report)
	live.Partial = true
	in := e.input(f, "eval-speed", keepTokens)
	in.Log = live
	r.Speed.PlanBefore, r.Speed.PlanTailEntries = from, len(live.Entries)
	var failed error
	r.Speed.PlanMs = e.time(func() {
		var p *compaction.Prepared
		if p, failed = e.prepare(in); failed == nil && p.History == nil && p.TurnPrefix == nil {
			failed = fmt.Errorf("the plan that is timed has no request")
		}
	})
	return failed
}

// time is the shortest of several runs in milliseconds.
func (e *engine) time(f func()) float64 {
	best := time.Duration(1<<63 - 1)
	for range speedRuns {
		begin := e.o.Clock()
		f()
		best = min(best, e.o.Clock().Sub(begin))
	}
	return round(float64(best) / float64(time.Millisecond))
}
