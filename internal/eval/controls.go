package eval

import (
	"math"

	"recap/internal/contract"
	"recap/internal/eval/control"
	"recap/internal/eval/probe"
)

// Controls says what the first compaction of every session keeps with one summariser.
type Controls struct {
	Summariser string `json:"summariser"`
	// Accepted and Refused count compactions whose answers the gate let pass or not.
	Accepted int `json:"accepted"`
	Refused  int `json:"refused"`
	// Reasons are those of the refusals, and how often each was given.
	Reasons map[contract.Code]int `json:"reasons,omitempty"`
	// Answer is measured whatever the gate says; Summary and Context only where it accepted.
	Answer  Fidelity  `json:"answer"`
	Summary *Fidelity `json:"summary,omitempty"`
	Context *Fidelity `json:"context,omitempty"`
	// Loss is the share of the facts' weight that the summariser is known to drop; nil when unknown.
	Loss *float64 `json:"loss,omitempty"`
}

// Error is how far the reported loss is from the known one (M5), 0 when that is unknown.
func (c Controls) Error() float64 {
	if c.Loss == nil {
		return 0
	}
	return math.Abs(1 - c.Answer.Score - *c.Loss)
}

// controls are the summarisers of the measure.
func controls() []control.Summariser {
	list := []control.Summariser{
		control.Oracle(), control.Null(), control.Extractive(), control.Mutator(), control.Liar(),
		control.Refuser(false), control.Refuser(true), control.Cutter(40), control.Cutter(85),
		control.EchoHead(), control.EchoPrompt(), control.Bloater(),
		control.Lossy(10), control.Lossy(30), control.Lossy(50),
	}
	for _, c := range probe.Classes {
		if c != probe.Negative {
			list = append(list, control.LossyClass(c))
		}
	}
	return list
}

func (e *engine) measureControls(r *Report) error {
	for _, by := range controls() {
		c, err := e.control(by)
		if err != nil {
			return err
		}
		r.Controls = append(r.Controls, c)
	}
	return nil
}

func (e *engine) control(by control.Summariser) (Controls, error) {
	c := Controls{Summariser: by.Name, Reasons: map[contract.Code]int{}}
	var answers, summaries, contexts []*probe.Tally
	var lost, owed float64
	for _, s := range e.sessions {
		st, err := (&replay{e: e, s: s, by: by}).next(0)
		if err != nil {
			return Controls{}, err
		}
		if st == nil {
			continue
		}
		for i := range s.Facts {
			w := s.Facts[i].Probe.WeightOf()
			owed += w
			if by.Loses != nil && by.Loses(s, &s.Facts[i]) {
				lost += w
			}
		}
		answers = append(answers, ask(s, probe.NewView(st.bare)))
		if !st.accepted {
			c.Refused++
			for _, result := range st.results {
				for _, code := range result.Reasons {
					c.Reasons[code]++
				}
			}
			continue
		}
		c.Accepted++
		for name, list := range map[string]*[]*probe.Tally{ViewSummary: &summaries, ViewContext: &contexts} {
			v, err := view(st, name)
			if err != nil {
				return Controls{}, err
			}
			*list = append(*list, ask(s, v))
		}
	}
	c.Answer = fidelity(answers)
	if len(summaries) > 0 {
		summary, context := fidelity(summaries), fidelity(contexts)
		c.Summary, c.Context = &summary, &context
	}
	if by.Loses != nil && owed > 0 {
		loss := round(lost / owed)
		c.Loss = &loss
	}
	return c, nil
}
