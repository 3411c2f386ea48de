package labelled

import (
	"recap/internal/compaction"
	"recap/internal/compaction/gate"
	"recap/internal/compaction/transcript"
	"recap/internal/eval/control"
	"recap/internal/eval/fixture"
)

// Case is one summary request of a session with its plan: what a candidate answers.
type Case struct {
	Session *fixture.Session
	Plan    compaction.Plan
	Request *transcript.Request
	// Digest is the gate's reading of the request; nil = not read yet.
	Digest *gate.Source
	// Structure is what the plan decided; nil where nothing is known of it.
	Structure *gate.Structure
}

// notes are the notes of a careful summariser.
func (c *Case) notes() *control.Notes {
	return control.Take(c.Session, c.Request, control.Reached(c.Session, c.Request))
}

// with is the case with another part of the conversation; sizes follow.
func (c *Case) with(blocks []transcript.Block) *Case {
	req := *c.Request
	req.Conversation = blocks
	out := *c
	out.Request, out.Digest, out.Structure = &req, nil, nil
	out.Plan.SourceTokens = len(req.PreviousSummary) / 4
	for i := range blocks {
		out.Plan.SourceTokens += len(blocks[i].Text) / 4
		for _, call := range blocks[i].Calls {
			for _, a := range call.Args {
				out.Plan.SourceTokens += len(a.JSON) / 4
			}
		}
	}
	return &out
}

// Set holds the cases of one session: the first summary, an update of it, and the beginning of a split
// turn where there was one (else nil).
type Set struct{ First, Update, Prefix *Case }

// Half says what a candidate is for.
type Half string

// The halves of the corpus: thresholds are chosen by looking at one, and reported on the other.
const (
	Tuning    Half = "tuning"
	Reporting Half = "reporting"
)

// Candidate is one answer with its label.
type Candidate struct {
	Name  string // session and style
	Class string // of a bad one: F1 to F17; of a good one "good"
	Style string
	Half  Half
	Case  *Case
	Text  string
	// Unfinished says that the model gave no sign of having finished; ToolCalls is what came beside the
	// text.
	Unfinished bool
	ToolCalls  int
	// Structure and Ledger are what the service knows beside the text.
	Structure *gate.Structure
	Ledger    *gate.Ledger
	// Cured reports whether a repaired text no longer has the fault; nil when nothing cures it.
	Cured func(text string) bool
}

// Good reports whether the candidate may replace history.
func (c *Candidate) Good() bool { return c.Class == good }

const good = "good"

// Unsafe are the classes of which not one may ever be committed (M8).
var Unsafe = map[string]bool{"F1": true, "F2": true, "F3": true, "F10": true, "F14": true, "F15": true}

// Classes are the classes of bad candidates, in order.
var Classes = func() []string {
	var out []string
	for _, c := range faults {
		out = append(out, c.class)
	}
	return out
}()

// perSession is how many good and how many bad candidates each session gets.
const perSession = 7

// New makes the candidates: as many good as bad, classes and styles dealt out over the sessions in turn,
// each class evenly over both halves.
func New(sets []Set) []Candidate {
	var out []Candidate
	for i := range sets {
		for j := range perSession {
			k := i*perSession + j
			out = append(out, makeGood(&sets[i], k), makeBad(&sets[i], k))
		}
	}
	return out
}

func half(round int) Half {
	if round%2 == 0 {
		return Tuning
	}
	return Reporting
}

func makeGood(set *Set, k int) Candidate {
	s := styles[k%len(styles)]
	c := set.pick(s.on)
	if s.change != nil {
		c = s.change(c)
	}
	return Candidate{
		Name: c.Session.Name + "/" + s.name, Class: good, Style: s.name, Half: half(k / len(styles)), Case: c, Text: s.write(c),
		Structure: c.Structure,
	}
}

func makeBad(set *Set, k int) Candidate {
	class := faults[k%len(faults)]
	round := k / len(faults)
	// Each half gets every style: the round alternates the half, every second round moves on.
	f := class.styles[(round/2)%len(class.styles)]
	c := set.pick(f.on)
	if f.change != nil {
		c = f.change(c)
	}
	out := Candidate{Name: c.Session.Name + "/" + f.name, Class: class.class, Style: f.name, Half: half(round), Case: c, Structure: c.Structure}
	f.write(c, &out)
	return out
}

// pick returns the case a style is about; a session without a split turn gives the first summary.
func (s *Set) pick(on int) *Case {
	switch {
	case on == onUpdate && s.Update != nil:
		return s.Update
	case on == onPrefix && s.Prefix != nil:
		return s.Prefix
	}
	return s.First
}

// What a style is about.
const (
	onFirst = iota
	onUpdate
	onPrefix
)
