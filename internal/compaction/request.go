package compaction

import (
	"recap/internal/compaction/fileops"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/tokens"
)

// somethingToSummarise refuses a cut that leaves a summariser nothing to read.
func (p *preparation) somethingToSummarise() error {
	if len(p.history.blocks) == 0 && len(p.prefix.blocks) == 0 {
		return skipped(contract.CodeNothingToCompact, "nothing to compact: what would be summarised holds no text")
	}
	return nil
}

// result builds plan and requests. A split turn is asked for in two requests, its beginning by
// itself. When there is no history before the turn but a previous summary, one request updates that
// summary with the turn's beginning: so the previous summary is given to the summariser in every
// compaction, exactly once, and never stacks up.
func (p *preparation) result() *Prepared {
	split := p.found.Split && len(p.prefix.blocks) > 0
	if split && len(p.history.blocks) == 0 && p.base.summary != "" {
		split = false
		p.history = joined(p.history, p.prefix)
		p.prefix = stretch{}
	}
	out := &Prepared{Plan: p.plan(split), Artifacts: p.reduced.artifacts}
	if p.reduced.tail != nil { // the cut was weighed before its tail was bounded
		out.Plan.Reductions, out.Plan.FreedTokens = p.reduced.from(p.found.Kept)
		out.Plan.KeptTokens = p.reduced.tokensFrom(p.found.Kept)
	}
	if len(p.history.blocks) > 0 {
		out.History = p.request(contract.PartHistory, p.history.blocks)
		if !split && p.found.Split {
			out.History.Instruction = p.instruction(p.historyPrompt()+"\n\n"+p.in.Prompts.MidTurn, transcript.Language(p.history.blocks), true)
		}
	}
	if split {
		out.TurnPrefix = p.request(contract.PartTurnPrefix, p.prefix.blocks)
	}
	return out
}

// reducedOnly is the plan of reductions that make a summary unnecessary.
func (p *preparation) reducedOnly() *Prepared {
	p.found.Kept = p.base.start
	out := &Prepared{Plan: p.plan(false), Artifacts: p.reduced.artifacts}
	out.Plan.ReducedOnly = true
	out.Plan.Coverage = contract.Coverage{Summarized: []string{}, Kept: []string{}, Previous: p.base.id}
	for i := range p.reduced.tail.Items {
		out.Plan.Coverage.Kept = append(out.Plan.Coverage.Kept, p.reduced.tail.Items[i].Entry.ID)
	}
	out.Plan.Reductions, out.Plan.FreedTokens = p.reduced.from(0)
	out.Plan.KeptTokens = p.reduced.tokensFrom(0) + tokens.Text(p.base.summary)
	return out
}

func joined(a, b stretch) stretch {
	a.blocks = append(a.blocks, b.blocks...)
	a.ids = append(a.ids, b.ids...)
	a.tokens += b.tokens
	a.files.Merge(&b.files)
	return a
}

func (p *preparation) historyPrompt() string {
	if p.base.summary != "" {
		return p.in.Prompts.Update
	}
	return p.in.Prompts.Initial
}

func (p *preparation) request(part contract.Part, blocks []transcript.Block) *transcript.Request {
	r := &transcript.Request{Part: part, System: p.in.Prompts.System, Conversation: blocks, Context: p.in.Context}
	if part == contract.PartTurnPrefix {
		language := transcript.Language(blocks)
		if language == "" { // one turn may say too little to tell
			language = transcript.Language(p.history.blocks)
		}
		r.Instruction = p.instruction(p.in.Prompts.TurnPrefix, language, false)
		return r
	}
	r.PreviousSummary = p.base.summary
	r.Instruction = p.instruction(p.historyPrompt(), transcript.Language(blocks), true)
	return r
}

// instruction completes a prompt with the language of the users, where it is known, and, last, the focus.
func (p *preparation) instruction(prompt, language string, focused bool) string {
	if language != "" && language != "English" {
		prompt += "\n\nThe user writes in " + language + ": write everything but headings and quoted text in " + language + "."
	}
	if focused && p.in.Focus != "" {
		prompt += "\n\nAdditional focus: " + p.in.Focus
	}
	return prompt
}

func (p *preparation) plan(split bool) Plan {
	var files fileops.Ops
	files.Seed(p.base.files)
	files.Merge(&p.history.files)
	files.Merge(&p.prefix.files)
	plan := Plan{
		Version: PlanVersion, Operation: p.in.Operation, Dialect: p.in.Dialect, Reason: p.in.Reason,
		Leaf: p.path[len(p.path)-1].ID, FirstKeptEntryID: p.found.Boundary, IsSplit: split,
		Coverage: contract.Coverage{
			Summarized: append([]string{}, p.history.ids...), TurnPrefix: p.prefix.ids, Kept: []string{}, Previous: p.base.id,
		},
		TokensEstimate: p.measured.Tokens, KeepRecentTokens: p.keep, KeptTokens: p.found.KeptTokens,
		SourceTokens: p.history.tokens + p.prefix.tokens + tokens.Text(p.base.summary),
		Files:        files.Lists(), FilesBase: p.base.filesID, FilesKnown: p.base.files,
		Bar: bar(p.in), Settings: p.in.Settings, Focus: p.in.Focus, Prompts: p.in.Prompts.Digests(), Warnings: p.warnings,
	}
	if p.measured.Known {
		before := p.measured.Tokens
		plan.TokensBefore = &before
	}
	for i := p.found.Kept; i < len(p.path); i++ {
		if p.yields[i] {
			plan.Coverage.Kept = append(plan.Coverage.Kept, p.path[i].ID)
		}
	}
	return plan
}
