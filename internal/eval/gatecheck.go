package eval

import (
	"fmt"
	"slices"

	"recap/internal/compaction"
	"recap/internal/compaction/gate"
	"recap/internal/contract"
	"recap/internal/eval/control"
	"recap/internal/eval/fixture"
	"recap/internal/eval/labelled"
)

// Gate says how the gate judges labelled candidates, in each half of the corpus.
type Gate struct {
	Tuning    GateHalf `json:"tuning"`
	Reporting GateHalf `json:"reporting"` // the floors are about this half
}

// GateHalf are the counts of one half.
type GateHalf struct {
	Bad          int `json:"bad"`
	Caught       int `json:"caught"` // refused, or repaired so that the fault is gone
	Good         int `json:"good"`
	FalseRejects int `json:"falseRejects"`
	Unsafe       int `json:"unsafe"` // committed ones of the classes that must never be
	// Classes are the bad ones by class.
	Classes []GateClass `json:"classes"`
	// Escaped and Refused name the candidates that were judged wrongly, with the reasons given.
	Escaped []string `json:"escaped,omitempty"`
	Refused []string `json:"refused,omitempty"`
}

// GateClass is one class of bad candidates.
type GateClass struct {
	Class  string `json:"class"`
	Bad    int    `json:"bad"`
	Caught int    `json:"caught"`
	Cured  int    `json:"cured"` // of the caught: committed after a repair that removed the fault
}

// Catch is M6.
func (h GateHalf) Catch() float64 { return ratio(h.Caught, h.Bad) }

// Lowest is the class with the lowest catch rate.
func (h GateHalf) Lowest() (class string, catch float64) {
	catch = 2
	for _, c := range h.Classes {
		if r := ratio(c.Caught, c.Bad); r < catch {
			class, catch = c.Class, r
		}
	}
	return class, catch
}

// Rejects is M7.
func (h GateHalf) Rejects() float64 {
	if h.Good == 0 {
		return 0
	}
	return float64(h.FalseRejects) / float64(h.Good)
}

func (e *engine) measureGate(r *Report) error {
	list, err := e.candidates()
	if err != nil {
		return err
	}
	for _, half := range []struct {
		name labelled.Half
		sum  *GateHalf
	}{{labelled.Tuning, &r.Gate.Tuning}, {labelled.Reporting, &r.Gate.Reporting}} {
		for _, class := range labelled.Classes {
			half.sum.Classes = append(half.sum.Classes, GateClass{Class: class})
		}
		for i := range list {
			if list[i].Half == half.name {
				e.count(half.sum, &list[i])
			}
		}
	}
	return nil
}

// candidates makes the labelled candidates from the first two compactions of every session.
func (e *engine) candidates() ([]labelled.Candidate, error) {
	var sets []labelled.Set
	for _, s := range e.sessions {
		play := &replay{e: newEngine(Options{Sessions: -1}), s: s, by: control.Oracle(), ungated: true}
		first, err := play.next(0)
		if err != nil {
			return nil, err
		}
		second, err := play.next(1)
		if err != nil {
			return nil, err
		}
		if first == nil || second == nil || first.prepared.History == nil {
			return nil, fmt.Errorf("session %s has too little to make candidates of", s.Name)
		}
		set := labelled.Set{First: caseOf(s, first, contract.PartHistory), Update: caseOf(s, second, contract.PartHistory)}
		if set.Prefix = caseOf(s, first, contract.PartTurnPrefix); set.Prefix == nil {
			set.Prefix = caseOf(s, second, contract.PartTurnPrefix)
		}
		sets = append(sets, set)
	}
	return labelled.New(sets), nil
}

// caseOf is one part of a compaction as a case, nil when it has no such part.
func caseOf(s *fixture.Session, st *step, part contract.Part) *labelled.Case {
	for i, req := range st.prepared.Requests() {
		if req.Part == part {
			return &labelled.Case{
				Session: s, Plan: st.prepared.Plan, Request: req, Digest: st.digests[i], Structure: structure(&st.prepared.Plan),
			}
		}
	}
	return nil
}

// structure is what a plan decided about the conversation, for the gate's check of it.
func structure(p *compaction.Plan) *gate.Structure {
	s := &gate.Structure{Summarized: append(slices.Clone(p.Coverage.Summarized), p.Coverage.TurnPrefix...), Kept: p.Coverage.Kept}
	s.Path = append(slices.Clone(s.Summarized), s.Kept...)
	return s
}

// count judges one candidate.
func (e *engine) count(sum *GateHalf, c *labelled.Candidate) {
	in := gateInput(&c.Case.Plan, c.Case.Request, c.Text, false)
	in.Digest, in.Structure, in.Ledger = c.Case.Digest, c.Structure, c.Ledger
	in.Finished, in.ToolCalls = !c.Unfinished, c.ToolCalls
	result := e.judge(in)
	if c.Good() {
		sum.Good++
		if !result.Accepted() {
			sum.FalseRejects++
			sum.Refused = append(sum.Refused, fmt.Sprintf("%s %v", c.Name, result.Reasons))
		}
		return
	}
	class := &sum.Classes[slices.Index(labelled.Classes, c.Class)]
	sum.Bad++
	class.Bad++
	cured := result.Verdict == contract.VerdictRepaired && c.Cured != nil && c.Cured(result.Text)
	if result.Accepted() && !cured {
		if labelled.Unsafe[c.Class] {
			sum.Unsafe++
		}
		sum.Escaped = append(sum.Escaped, fmt.Sprintf("%s %s %v", c.Class, c.Name, result.Repairs))
		return
	}
	sum.Caught++
	class.Caught++
	if cured {
		class.Cured++
	}
}
