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

	"recap/internal/compaction/gate/secret"
	"recap/internal/contract"
)

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
