package control

import (
	"strings"

	"recap/internal/compaction/gate/outline"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/eval/fixture"
	"recap/internal/eval/probe"
)

// Mutator keeps every fact and changes one character of paths and identifiers, two digits of numbers,
// and the polarity of decisions and rules.
func Mutator() Summariser {
	return Summariser{Name: "mutator", Summarise: func(s *fixture.Session, req *transcript.Request, _ int) string {
		facts := Reached(s, req)
		for i := range facts {
			facts[i].Noted = Mutate(&facts[i])
		}
		return Take(s, req, facts).String()
	}}
}

// Mutate returns the note of a fact, changed so that it is wrong, or as it is where the class has no
// wrong form.
func Mutate(f *fixture.Fact) string {
	switch f.Probe.Class {
	case probe.Path, probe.Identifier, probe.Error:
		return strings.ReplaceAll(f.Noted, f.Needle, swap(f.Needle))
	case probe.Number:
		return strings.ReplaceAll(f.Noted, f.Needle, swapDigits(f.Needle))
	case probe.Decision, probe.Constraint:
		if len(f.Probe.Reject) > 0 {
			return f.Probe.Reject[0]
		}
	}
	return f.Noted
}

// swap changes one character near the end of a name: the last letter or digit before an extension.
func swap(name string) string {
	end := len(name)
	if dot := strings.LastIndexByte(name, '.'); dot > strings.LastIndexByte(name, '/') {
		end = dot
	}
	c := name[end-1]
	other := byte('x')
	switch {
	case '0' <= c && c <= '9':
		other = '0' + (c-'0'+3)%10
	case c == 'x':
		other = 'q'
	}
	return name[:end-1] + string(other) + name[end:]
}

// swapDigits exchanges the first two different digits of a number, or changes the last one.
func swapDigits(s string) string {
	b := []byte(s)
	last := -1
	for i := 0; i < len(b) && '0' <= b[i] && b[i] <= '9'; i++ {
		if last = i; i > 0 && b[i] != b[i-1] {
			b[i], b[i-1] = b[i-1], b[i]
			return string(b)
		}
	}
	if last >= 0 {
		b[last] = '0' + (b[last]-'0'+1)%10
	}
	return string(b)
}

// Liar keeps every fact and adds a file, a success and a user's instruction that never were.
func Liar() Summariser {
	return Summariser{Name: "liar", Summarise: func(s *fixture.Session, req *transcript.Request, _ int) string {
		n := Take(s, req, Reached(s, req))
		done, rules := outline.Done, outline.Constraints
		if req.Part == contract.PartTurnPrefix {
			done, rules = outline.EarlyProgress, outline.ContextForSuffix
		}
		for _, f := range s.Untrue {
			if f.Probe.Class == probe.Negative {
				n.Add(done, f.Noted)
			}
		}
		n.Add(done, "`internal/oilskin/sextant_astrolabe.go`")
		n.Add(rules, s.Ordered())
		return n.String()
	}}
}
