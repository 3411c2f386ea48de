// Package gate decides whether a model's answer may replace history (spec/gate §4, promise G4). It
// is one pure function, so the service, the command line and the tests judge alike: no clock, no
// randomness, no I/O. Its cost is linear in answer and source.
//
// It may import contract, transcript, tokens and its own outline package. This is the first part of
// the gate: G0 to G6 in their plain form and the repairs that need no source. Anchors, authority,
// language and secrets (G7 to G13) come later and are added as further checks.
package gate

import (
	"strings"
	"unicode/utf8"

	"recap/internal/compaction/gate/outline"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// DefaultMinSourceTokens is the size below which the checks that compare sizes, demand sections or
// look for copies are off (DESIGN §11).
const DefaultMinSourceTokens = 2000

// Input is one answer with what it must be measured against.
type Input struct {
	// Part says which headings the text has. The empty part is the assembled text of both.
	Part contract.Part
	// Text is the answer, as the model gave it.
	Text string
	// Finished is positive evidence that the answer is complete: a finish reason that means done,
	// and the stream's terminator. Adapters return nothing else, so callers that judge a stored
	// answer pass true.
	Finished bool
	// ToolCalls is how many tool calls came with the answer.
	ToolCalls int
	// Source is the conversation the answer summarises. It may be nil where only form is judged; the
	// echo check is then off.
	Source []transcript.Block
	// PreviousSummary is the summary that was to be updated; it counts as source.
	PreviousSummary string
	// SourceTokens estimates Source and PreviousSummary together.
	SourceTokens int
	// MaxOutput is the output budget the model was given, in tokens; 0 = unknown.
	MaxOutput int
	// Extractive says that the answer is made of quotations by a program: the checks for copies and for a
	// model that got stuck are off.
	Extractive bool
	// MinSourceTokens replaces DefaultMinSourceTokens when it is not 0.
	MinSourceTokens int
}

// Small reports whether the source is too small for the checks that compare sizes (DESIGN §11).
func (in Input) Small() bool {
	limit := in.MinSourceTokens
	if limit == 0 {
		limit = DefaultMinSourceTokens
	}
	return in.SourceTokens < limit
}

// Measurements are the numbers behind a verdict, for the receipt.
type Measurements struct {
	Letters      int     `json:"letters"`      // letters outside markup; one wide character counts as two
	Sections     int     `json:"sections"`     // known headings found
	Tokens       int     `json:"tokens"`       // estimate of the text
	SourceTokens int     `json:"sourceTokens"` // as given
	Echo         float64 `json:"echo"`         // share of 8-word sequences copied from the source, 0 when not measured
}

// Result is the verdict. Text is the answer with the repairs applied; it is what may be stored, and
// only when the verdict is VerdictAccept or VerdictRepaired.
type Result struct {
	Verdict      contract.Verdict `json:"verdict"`
	Reasons      []contract.Code  `json:"reasons,omitempty"`
	Repairs      []contract.Code  `json:"repairs,omitempty"`
	Text         string           `json:"-"`
	Measurements Measurements     `json:"measurements"`
}

// Accepted reports whether the text may replace history.
func (r Result) Accepted() bool {
	return r.Verdict == contract.VerdictAccept || r.Verdict == contract.VerdictRepaired
}

// Judge decides about one answer. It repairs first, then applies the checks in the order of
// spec/gate §4b; all reasons are reported, and the harshest decides: another sample of the same
// candidate, or the next candidate.
func Judge(in Input) Result {
	text, repairs := repair(in.Text)
	r := Result{Text: text, Repairs: repairs}
	d := read(in, text)
	r.Measurements = Measurements{
		Letters: d.letters, Sections: d.known, Tokens: tokenCount(text), SourceTokens: in.SourceTokens,
	}

	for _, check := range checks {
		if code := check(in, d, &r.Measurements); code != "" {
			r.Reasons = append(r.Reasons, code)
			if final[code] {
				break
			}
		}
	}
	r.Verdict = verdict(r)
	return r
}

// checks in the order of spec/gate §4b. Each returns "" when it has nothing to say.
var checks = []func(Input, *document, *Measurements) contract.Code{
	checkFinished, checkThinking, checkSubstance, checkToolCall, checkRefusal, checkFences, checkCut,
	checkOrder, checkRepeated, checkPresence, checkRepetition, checkSize, checkEcho,
}

func verdict(r Result) contract.Verdict {
	v := contract.VerdictAccept
	if len(r.Repairs) > 0 {
		v = contract.VerdictRepaired
	}
	for _, code := range r.Reasons {
		if toNext[code] {
			return contract.VerdictNext
		}
		v = contract.VerdictRetrySame
	}
	return v
}

func checkFinished(in Input, _ *document, _ *Measurements) contract.Code {
	switch {
	case !in.Finished:
		return CodeUnfinished
	case in.ToolCalls > 0:
		return CodeToolCall
	}
	return ""
}

func checkThinking(in Input, d *document, _ *Measurements) contract.Code {
	if d.text == "" && strings.TrimSpace(in.Text) != "" {
		return CodeThinkingOnly
	}
	return ""
}

// checkSize is the shrinking half of G5: a summary that is as large as what it replaces is no gain.
func checkSize(in Input, _ *document, m *Measurements) contract.Code {
	if !in.Small() && 10*m.Tokens > 9*in.SourceTokens {
		return CodeNotSmaller
	}
	return ""
}

// tokenCount is the documented estimate (DESIGN §11): UTF-8 bytes / 4, rounded up.
func tokenCount(s string) int { return (len(s) + 3) / 4 }

// document is an answer read once for all checks.
type document struct {
	text    string
	lines   []outline.Line
	open    bool // a fence was never closed
	letters int
	order   []int // positions of the known headings, in the order they appear
	known   int   // distinct known headings
	any     int   // headings of any kind, localised ones included
}

func read(in Input, text string) *document {
	d := &document{text: strings.TrimSpace(text)}
	if !utf8.ValidString(d.text) {
		d.text = strings.ToValidUTF8(d.text, "\uFFFD")
	}
	d.lines, d.open = outline.Scan(d.text)
	list := outline.Of(in.Part)
	seen := make(map[int]bool, len(list))
	for _, l := range d.lines {
		if l.Heading.Level == 0 {
			continue
		}
		if l.Heading.Level > 1 {
			d.any++
		}
		if i := outline.Find(list, l.Heading); i >= 0 {
			d.order = append(d.order, i)
		}
		if i := outline.FindTitle(list, l.Heading.Title); i >= 0 && !seen[i] {
			seen[i] = true
			d.known++
		}
	}
	d.letters = letters(d.lines)
	return d
}
