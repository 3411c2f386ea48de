package probe

import "fmt"

// Class is a kind of fact that an agent has to remember (spec/gate §5a).
type Class string

// The classes of facts.
const (
	Path       Class = "path"
	Identifier Class = "identifier"
	Error      Class = "error"
	Command    Class = "command"
	Number     Class = "number"
	Decision   Class = "decision"
	Constraint Class = "constraint"
	Question   Class = "question" // a request or a question that is still open
	Status     Class = "status"   // done, under way or blocked
	Negative   Class = "negative" // something that never happened
)

// Classes lists every class in the order of reports.
var Classes = []Class{Path, Identifier, Error, Command, Number, Decision, Constraint, Question, Status, Negative}

// weights are the default weights of spec/gate §5a.
var weights = map[Class]float64{
	Path: 3, Identifier: 3, Error: 3, Command: 2, Number: 2, Decision: 3, Constraint: 4, Question: 4, Status: 3, Negative: 3,
}

// Recovery says what leads to a fact that the view itself does not hold.
type Recovery string

// What can lead to a fact.
const (
	ByNothing Recovery = ""
	ByLedger  Recovery = "ledger" // the lists stored in the compaction entry
)

// Probe is one planted fact (spec/gate §5b). Forms are compared after Normalize, at token boundaries.
type Probe struct {
	ID     string
	Class  Class
	Weight float64  // 0 = the default of the class
	Span   []string // ids of the entries that state it
	Ask    string   // for people

	Accept []string // any of these forms is the fact
	Reject []string // any of these is the fact changed
	Where  []string // titles of the sections it counts in; none = anywhere
	Wrong  []string // titles of sections in which it is a different fact

	// Quantity, of a number: the value's unit and the words that name it. The same unit with another
	// value on a line with all of these words is the fact changed.
	Unit   string
	Labels []string

	RecoverableBy Recovery
	// Ended says that the fact held no more when the session was compacted: to state it without Now,
	// what holds instead, is stale.
	Ended bool
	Now   []string
}

// String names the probe for reports.
func (p *Probe) String() string { return fmt.Sprintf("%s (%s)", p.ID, p.Class) }

// WeightOf is the probe's weight: its own, or the default of its class.
func (p *Probe) WeightOf() float64 {
	if p.Weight != 0 {
		return p.Weight
	}
	return weights[p.Class]
}

// owed reports whether a view has to state the fact. What never happened or holds no more can only
// cost points.
func (p *Probe) owed() bool { return p.Class != Negative && !p.Ended }

// State is the answer to one probe (spec/gate §5c).
type State string

// The five states. Missing is also the state of a fact that is rightly absent.
const (
	Retained    State = "retained"
	Recoverable State = "recoverable"
	Mutated     State = "mutated"
	Stale       State = "stale"
	Missing     State = "missing"
)

// States lists every state in the order of reports.
var States = []State{Retained, Recoverable, Mutated, Stale, Missing}

// points is what each state counts (spec/gate §5c).
var points = map[State]float64{Retained: 1, Recoverable: 0.5, Mutated: -0.5, Stale: -0.25, Missing: 0}
