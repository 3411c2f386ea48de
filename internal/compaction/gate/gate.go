// Package gate decides whether a model's answer may replace history (spec/gate §4, promise G4). It
// is one pure function, so the service, the command line and the tests judge alike: no clock, no
// randomness, no I/O. Its cost is linear in answer and source; Read takes the source's share off it
// when several answers to one request are judged.
//
// The checks are those of spec/gate §4b, G0 to G15, one a file or two. Whatever can be made good with
// certainty is repaired before anybody is asked again (§4c): facts are appended, wrappers and invented
// list items removed, credentials masked; then the union is judged. The parts of a summary and the
// assembled whole are judged by the same function: Input.Part says which it is.
//
// It may import contract, transcript, fileops, its own sub-packages and gjson.
package gate

import (
	"strings"
	"unicode/utf8"

	"recap/internal/compaction/gate/outline"
	"recap/internal/compaction/gate/secret"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// Version names the rules; it is part of receipts and rises when verdicts may change.
const Version = 2

// DefaultMinSourceTokens is the size below which the checks that compare sizes, demand sections or
// look for copies are off (DESIGN §11).
const DefaultMinSourceTokens = 2000

// Input is one answer with what it must be measured against. Only Text and Finished are needed; what
// is not given is not checked.
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

	// Source is the conversation the answer summarises, as the model was shown it. Without it only the
	// form is judged.
	Source []transcript.Block
	// PreviousSummary is the summary that was to be updated; it counts as source (DESIGN §11).
	PreviousSummary string
	// Digest is Read(Source, PreviousSummary). Judge makes it when it is nil; who judges several
	// answers to one request makes it once and may leave Source and PreviousSummary empty.
	Digest *Source
	// SourceTokens estimates Source and PreviousSummary together.
	SourceTokens int
	// Instruction is the wording of the request around the conversation, without the focus: what an
	// answer must not copy.
	Instruction string
	// Given is what else the model was shown or told: additional context, the focus. It supports names
	// that the conversation does not have.
	Given []string

	// MaxOutput is the output budget the model was given, in tokens; 0 = unknown.
	MaxOutput int
	// Budget is the policy's cap on the summary, in tokens; 0 = none.
	Budget int
	// Extractive says that the answer is made of quotations by a program: the checks for copies, for a
	// model that got stuck or invents, for size and language are off, because asking again cures nothing.
	Extractive bool
	// MinSourceTokens replaces DefaultMinSourceTokens when it is not 0.
	MinSourceTokens int

	// Ask is the newest request of a user; nil = the gate looks for it in the source, except on small
	// sessions.
	Ask *Ask
	// Protected are values that must be in the text, whatever it costs.
	Protected []string
	// Ledger holds the service's own facts; nil = none.
	Ledger *Ledger
	// Structure and Progress are for the whole; nil = not checked.
	Structure *Structure
	Progress  *Progress
	// Secrets finds credentials; nil = secret.Default().
	Secrets secret.Finder
}

// Small reports whether the source is too small for the checks that compare sizes (DESIGN §11).
func (in *Input) Small() bool {
	limit := in.MinSourceTokens
	if limit == 0 {
		limit = DefaultMinSourceTokens
	}
	return in.SourceTokens < limit
}

func (in *Input) hasSource() bool { return len(in.Digest.stretch) > 0 }

// Measurements are the numbers behind a verdict, for the receipt.
type Measurements struct {
	Letters      int     `json:"letters"`      // letters outside markup; one wide character counts as two
	Sections     int     `json:"sections"`     // known headings found
	Tokens       int     `json:"tokens"`       // estimate of the text, repairs included
	SourceTokens int     `json:"sourceTokens"` // as given
	Echo         float64 `json:"echo"`         // share of 8-word sequences copied from the source, 0 when not measured
	EchoPrompt   float64 `json:"echoPrompt,omitempty"`
	EchoPrevious float64 `json:"echoPrevious,omitempty"`
	MustKeep     int     `json:"mustKeep"`    // anchors mined from the source
	Recall       float64 `json:"recall"`      // weighted share of them in the answer as the model gave it
	RecallAfter  float64 `json:"recallAfter"` // and after the repairs
	Anchors      int     `json:"anchors"`     // distinct paths, ids, URLs and the like in the answer
	Invented     int     `json:"invented"`    // of these, in neither source nor previous summary
	Changed      int     `json:"changed"`     // values at a small distance from one of the source
	Masked       int     `json:"masked"`      // credentials masked
	Language     string  `json:"language,omitempty"`

	details []Detail
}

func (m *Measurements) note(code contract.Code, values ...string) {
	m.details = append(m.details, Detail{Code: code, Values: values})
}

// Result is the verdict. Text is the answer with the repairs applied; it is what may be stored, and
// only when the verdict is VerdictAccept or VerdictRepaired.
type Result struct {
	Verdict      contract.Verdict `json:"verdict"`
	Reasons      []contract.Code  `json:"reasons,omitempty"`
	Repairs      []contract.Code  `json:"repairs,omitempty"`
	Text         string           `json:"-"`
	Details      []Detail         `json:"-"` // what the reasons are about, for Feedback
	Measurements Measurements     `json:"measurements"`
}

// Accepted reports whether the text may replace history.
func (r Result) Accepted() bool {
	return r.Verdict == contract.VerdictAccept || r.Verdict == contract.VerdictRepaired
}

// Feedback is what a model that is asked again is told about its answer.
func (r Result) Feedback() string { return Feedback(r.Reasons, r.Details) }

// Judge decides about one answer: it repairs what surrounds it, judges what the model wrote, appends
// what is certain and missing, and judges the union. All reasons are reported, and the harshest
// decides: no other answer can help, the next candidate, or another sample of the same one.
func Judge(in Input) Result {
	if in.Digest == nil {
		in.Digest = Read(in.Source, in.PreviousSummary)
	}
	if in.Secrets == nil {
		in.Secrets = secret.Default()
	}
	j := &judgement{in: &in}
	j.m.SourceTokens = in.SourceTokens
	j.answer()
	if len(j.reasons) == 0 {
		j.complete()
	}
	j.check(checkStructure, checkProgress)
	return j.result()
}

// judgement is one run of Judge.
type judgement struct {
	in      *Input
	d       *document
	m       Measurements
	reasons []contract.Code
	repairs []contract.Code
}

type check func(*Input, *document, *Measurements) contract.Code

// Checks in the order of spec/gate §4b. Each returns "" when it has nothing to say.
var (
	// formChecks look at the answer as it came.
	formChecks = []check{checkFinished, checkThinking, checkSubstance, checkToolCall, checkRefusal, checkFences, checkCut}
	// contentChecks look at what the model wrote, without the credentials and the list items that were
	// taken out.
	contentChecks = []check{
		checkOrder, checkRepeated, checkPresence, checkHollow, checkRepetition, checkSize, checkThin, checkEcho, checkQuotes, checkOrders, checkControl,
		checkConstraints, checkStale, checkLanguage,
	}
)

// check applies checks until one says that no other has anything to add.
func (j *judgement) check(list ...check) (more bool) {
	for _, c := range list {
		if code := c(j.in, j.d, &j.m); code != "" {
			j.reasons = append(j.reasons, code)
			if final[code] {
				return false
			}
		}
	}
	return true
}

// answer judges what the model wrote.
func (j *judgement) answer() {
	text, repairs := repair(j.in.Text)
	j.repairs = repairs
	j.read(text)
	j.m.Letters, j.m.Sections = j.d.letters, j.d.known
	if !j.check(formChecks...) {
		return
	}
	if text, n := secret.Mask(j.in.Secrets, j.d.text); n > 0 {
		j.m.Masked = n
		j.repaired(RepairSecrets, text)
		j.check(checkSecrets)
	}
	j.anchors()
	j.check(contentChecks...)
}

// anchors applies G8 and G9.
func (j *judgement) anchors() {
	if j.in.Extractive || !j.in.hasSource() {
		return
	}
	f := inspectAnchors(j.in, j.d)
	j.m.Anchors, j.m.Invented, j.m.Changed = f.anchors, len(f.invented), len(f.changed)
	left := len(f.invented)
	if text, ok := repairInvented(j.d, f, j.d.text); ok {
		j.repaired(RepairInvented, text)
		left = f.inProse
		j.check(checkSubstance)
	}
	if left*inventedShare > f.anchors {
		j.m.note(CodeInvented, f.invented...)
		j.reasons = append(j.reasons, CodeInvented)
	}
	if len(f.changed) > 0 {
		j.m.note(CodeChanged, f.changed...)
		j.reasons = append(j.reasons, CodeChanged)
	}
}

// complete appends what is certain and missing (spec/gate §4c) and judges the union.
func (j *judgement) complete() {
	clean := j.d.text // without credentials
	if text, ok := repairAsk(j.in, j.d, j.d.text); ok {
		j.repaired(RepairAsk, text)
	}
	j.keep()
	if text, ok := j.in.repairFiles(j.d.text); ok {
		j.repaired(RepairFiles, text)
	}
	j.m.Tokens = tokenCount(j.d.text)
	j.check(checkSize)
	if j.d.text == clean {
		return
	}
	if text, n := secret.Mask(j.in.Secrets, j.d.text); n > 0 { // what was appended, or met only now
		j.m.Masked += n
		j.repaired(RepairSecrets, text)
		j.check(checkSecrets)
	}
}

// keep applies G7: protected values and the ledger must be there, of the mined anchors most.
func (j *judgement) keep() {
	given := masked(j.in.Secrets, j.in.given())
	mined := masked(j.in.Secrets, j.in.Digest.mined)
	demanded := !j.in.Small() && !j.in.Extractive
	h := holdingOf(j.d.text)
	_, missing := recall(given, h)
	share, lost := recall(mined, h)
	j.m.MustKeep, j.m.Recall, j.m.RecallAfter = len(mined), share, share
	if demanded && share < minRecall {
		missing = append(missing, heaviestFirst(lost)...)
	}
	if len(missing) == 0 {
		return
	}
	if text := appendReferences(j.d.text, missing, j.referencesBound()); text != j.d.text {
		j.repaired(RepairReferences, text)
	}
	h = holdingOf(j.d.text)
	_, still := recall(given, h)
	j.m.RecallAfter, lost = recall(mined, h)
	if demanded && j.m.RecallAfter < minRecall {
		still = append(still, lost...)
	}
	if len(still) > 0 {
		j.reasons = append(j.reasons, CodeAnchorsMissing)
		for _, a := range still {
			j.m.note(CodeAnchorsMissing, a.Text)
		}
	}
}

// referencesBound is how many bytes the block of references may have: a quarter of the summary's
// budget, and no more than keeps the summary smaller than its source.
func (j *judgement) referencesBound() int {
	budget := tokenCount(j.d.text)
	if j.in.MaxOutput > 0 {
		budget = j.in.MaxOutput
	}
	if j.in.Budget > 0 {
		budget = min(budget, j.in.Budget)
	}
	bound := 4 * max(referencesFloor, budget/referencesShare)
	if !j.in.Small() {
		bound = min(bound, 4*j.in.SourceTokens*9/10-len(j.d.text))
	}
	return max(0, bound)
}

func (j *judgement) repaired(code contract.Code, text string) {
	for _, c := range j.repairs {
		if c == code {
			j.read(text)
			return
		}
	}
	j.repairs = append(j.repairs, code)
	j.read(text)
}

func (j *judgement) result() Result {
	if j.m.Tokens == 0 {
		j.m.Tokens = tokenCount(j.d.text)
	}
	r := Result{Reasons: j.reasons, Repairs: j.repairs, Text: j.d.text, Details: j.m.details}
	j.m.details = nil
	r.Measurements = j.m
	r.Verdict = contract.VerdictAccept
	if len(r.Repairs) > 0 {
		r.Verdict = contract.VerdictRepaired
	}
	for _, code := range r.Reasons {
		switch {
		case toReject[code]:
			r.Verdict = contract.VerdictReject
			return r
		case toNext[code]:
			r.Verdict = contract.VerdictNext
		case r.Verdict != contract.VerdictNext:
			r.Verdict = contract.VerdictRetrySame
		}
	}
	return r
}

func checkFinished(in *Input, _ *document, _ *Measurements) contract.Code {
	switch {
	case !in.Finished:
		return CodeUnfinished
	case in.ToolCalls > 0:
		return CodeToolCall
	}
	return ""
}

func checkThinking(in *Input, d *document, _ *Measurements) contract.Code {
	if d.text == "" && strings.TrimSpace(in.Text) != "" {
		return CodeThinkingOnly
	}
	return ""
}

func checkSecrets(in *Input, d *document, _ *Measurements) contract.Code {
	if len(in.Secrets.Find(d.text)) > 0 {
		return CodeSecret
	}
	return ""
}

// tokenCount is the documented estimate (DESIGN §11): UTF-8 bytes / 4, rounded up.
func tokenCount(s string) int { return (len(s) + 3) / 4 }

// document is an answer read once for all checks.
type document struct {
	text    string
	all     []outline.Line // without the file lists at the end
	lines   []outline.Line // of these, without the block of references
	open    bool           // a fence was never closed
	letters int
	order   []int // positions of the known headings, in the order they appear
	known   int   // distinct known headings
	any     int   // headings of any kind, localised ones included
}

func (j *judgement) read(text string) {
	d := &document{text: strings.TrimSpace(text)}
	if !utf8.ValidString(d.text) {
		d.text = strings.TrimSpace(strings.ToValidUTF8(d.text, "\uFFFD"))
	}
	d.all, d.open = outline.Scan(d.text)
	d.all = withoutFiles(d.all)
	d.lines = withoutReferences(d.all)
	list := outline.Of(j.in.Part)
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
	d.letters = letters(d.all) // with the block of references: what is appended never takes substance away
	j.d = d
}

// withoutFiles leaves out file lists: they are the service's own and have a form of their own.
func withoutFiles(lines []outline.Line) []outline.Line {
	for i := 0; i < len(lines); i++ {
		if lines[i].Fenced || lines[i].Quoted || !isFilesTag(lines[i].Text) {
			continue
		}
		closing := "</" + lines[i].Text[1:]
		for k := i + 1; k < len(lines); k++ {
			if lines[k].Text == closing {
				lines = append(lines[:i:i], lines[k+1:]...)
				i--
				break
			}
		}
	}
	return lines
}

func withoutReferences(lines []outline.Line) []outline.Line {
	for i := range lines {
		if lines[i].Heading != referencesHeading {
			continue
		}
		for k := i + 1; k < len(lines); k++ {
			if lines[k].Heading.Level > 0 || !lines[k].Fenced && lines[k].Text == "---" {
				return append(lines[:i:i], lines[k:]...)
			}
		}
		return lines[:i:i]
	}
	return lines
}
