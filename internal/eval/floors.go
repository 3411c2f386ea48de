package eval

import (
	"fmt"
	"slices"
)

// The floors of the measure (spec/gate §7). A change of one is a decision, not a repair.
const (
	MinSessions   = 30
	MinFacts      = 20 // planted in each session
	MinCandidates = 300

	FloorPrompt       = 1.0  // M1
	FloorSpan         = 1.0  // M2
	FloorLedger       = 1.0  // M3, in the stored details, over all generations
	FloorArtifacts    = 0.98 // M4
	CeilingError      = 0.01 // M5
	FloorCatch        = 0.97 // M6
	FloorCatchClass   = 0.90 // M6, of every class
	CeilingRejects    = 0.02 // M7
	CeilingUnsafe     = 0    // M8
	CeilingGateMs     = 50.0 // M13, for 100,000 tokens
	CeilingPlanMs     = 20.0 // M13, on the live tail
	FloorOracle       = 1.0  // the scorer's ceiling
	FloorExtractive   = 0.40 // what the summariser without a model must keep in its own text
	FloorOracleLetsBy = 1.0  // share of the oracle's and the extract's compactions that the gate lets by
)

// Failed lists the floors that do not hold, with both numbers. None means that the measure is passed.
func (r *Report) Failed() []string {
	var out []string
	fail := func(holds bool, format string, args ...any) {
		if !holds {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	fail(r.Sessions >= MinSessions && r.Facts >= MinFacts*r.Sessions, "corpus: %d sessions with %d facts, needs %d with %d each", r.Sessions, r.Facts, MinSessions, MinFacts)
	coverage := func(name string, c Coverage) {
		fail(c.Prompt() >= FloorPrompt, "M1 %s: prompt coverage %.4f, floor %.2f: %v", name, c.Prompt(), FloorPrompt, c.Missing)
		fail(c.Span() >= FloorSpan, "M2 %s: span coverage %.4f, floor %.2f: %v", name, c.Span(), FloorSpan, c.Missing)
	}
	coverage("generated", r.Coverage)
	if r.Real != nil {
		coverage("real", r.Real.Coverage)
	}
	for _, l := range r.Ledgers {
		fail(l.Recall() >= FloorLedger, "M3 %s: ledger recall %.4f, floor %.2f", l.Summariser, l.Recall(), FloorLedger)
		fail(l.F1() >= FloorArtifacts, "M4 %s: artifact F1 %.4f, floor %.2f", l.Summariser, l.F1(), FloorArtifacts)
	}
	for _, c := range r.Controls {
		fail(c.Error() <= CeilingError, "M5 %s: the score is %.4f off the known loss, ceiling %.2f", c.Summariser, c.Error(), CeilingError)
	}
	r.failedControls(fail)
	r.failedGate(fail)
	fail(r.Sameness.Runs > 0 && r.Sameness.Identical == r.Sameness.Runs, "M11: %d of %d runs gave the same bytes", r.Sameness.Identical, r.Sameness.Runs)
	if s := r.Speed; s != nil {
		fail(s.GateMsPer100k <= CeilingGateMs, "M13: the gate takes %.1f ms for 100,000 tokens, ceiling %.0f", s.GateMsPer100k, CeilingGateMs)
		fail(s.PlanMs <= CeilingPlanMs, "M13: the planner takes %.1f ms on the live tail, ceiling %.0f", s.PlanMs, CeilingPlanMs)
	}
	return out
}

// stopped are the controls of which the gate may let nothing by.
var stopped = []string{"null", "refuser", "refuser-long", "cutter-40", "cutter-85", "echo-head", "echo-prompt", "bloater"}

func (r *Report) failedControls(fail func(holds bool, format string, args ...any)) {
	for _, c := range r.Controls {
		lets := ratio(c.Accepted, c.Accepted+c.Refused)
		switch {
		case c.Summariser == "oracle":
			fail(c.Answer.Score >= FloorOracle, "oracle: the score is %.4f, must be %.0f", c.Answer.Score, FloorOracle)
			fail(lets >= FloorOracleLetsBy, "oracle: the gate refuses %d of %d: %v", c.Refused, c.Accepted+c.Refused, c.Reasons)
		case c.Summariser == "extractive":
			fail(c.Answer.Score >= FloorExtractive, "extractive: the score is %.4f, floor %.2f", c.Answer.Score, FloorExtractive)
			fail(lets >= FloorOracleLetsBy, "extractive: the gate refuses %d of %d: %v", c.Refused, c.Accepted+c.Refused, c.Reasons)
		case slices.Contains(stopped, c.Summariser):
			fail(c.Accepted == 0, "%s: the gate lets %d of %d by", c.Summariser, c.Accepted, c.Accepted+c.Refused)
		}
	}
	for _, d := range r.Decay {
		if d.Summariser == "oracle" {
			last := d.Scores[len(d.Scores)-1]
			fail(last >= FloorOracle, "decay oracle: the score is %.4f after %d generations, must be %.0f", last, len(d.Scores), FloorOracle)
		}
	}
}

func (r *Report) failedGate(fail func(holds bool, format string, args ...any)) {
	h := r.Gate.Reporting
	both := h.Bad + h.Good + r.Gate.Tuning.Bad + r.Gate.Tuning.Good
	fail(both >= MinCandidates, "gate: %d candidates, needs %d", both, MinCandidates)
	fail(h.Catch() >= FloorCatch, "M6: the gate catches %.4f, floor %.2f", h.Catch(), FloorCatch)
	for _, c := range h.Classes {
		fail(c.Bad > 0 && ratio(c.Caught, c.Bad) >= FloorCatchClass, "M6 %s: the gate catches %d of %d, floor %.2f", c.Class, c.Caught, c.Bad, FloorCatchClass)
	}
	fail(h.Rejects() <= CeilingRejects, "M7: the gate refuses %.4f of the good ones, ceiling %.2f", h.Rejects(), CeilingRejects)
	fail(h.Unsafe <= CeilingUnsafe, "M8: %d unsafe candidates were committed, ceiling %d", h.Unsafe, CeilingUnsafe)
}
