package activities

import (
	"fmt"
	"slices"
	"strings"

	"recap/internal/compaction"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/tokens"
)

// Catalog is the configured candidates: what may be asked, in which order, and how often.
type Catalog struct {
	Candidates []contract.Candidate
	Chain      []string // compaction.model; empty = the session's own model
	Retry      contract.Retry
}

// find returns the configured candidate of an id.
func (c Catalog) find(id string) (contract.Candidate, bool) {
	i := slices.IndexFunc(c.Candidates, func(x contract.Candidate) bool { return x.ID == id })
	if i < 0 {
		return contract.Candidate{}, false
	}
	return c.Candidates[i], true
}

// window is the context window of a provider/model in tokens, 0 when it is not configured.
func (c Catalog) window(id string) int {
	found, _ := c.find(id)
	return found.ContextWindow
}

// chain resolves who is asked: the request's models, else the configured chain, else the session's
// own model (DESIGN §7). A code says why nobody is.
func (c Catalog) chain(requested []string, own string) ([]contract.Candidate, contract.Code, string) {
	names := requested
	if len(names) == 0 {
		names = c.Chain
	}
	if len(names) == 0 {
		switch found, ok := c.find(own); {
		case ok:
			return []contract.Candidate{found}, contract.CodeNone, ""
		case own == "":
			return nil, contract.CodeNoCandidate, "no candidate is configured and the session names no model; set compaction.model and models in recap.yaml"
		default:
			return nil, contract.CodeNoCandidate, fmt.Sprintf("the session's own model %s is not among the configured models; add it to models in recap.yaml, or set compaction.model", own)
		}
	}
	var chain []contract.Candidate
	for _, name := range names {
		found, ok := c.find(name)
		if !ok {
			return nil, contract.CodeUnknownModel, fmt.Sprintf("model %s is not configured; configured are: %s", name, strings.Join(c.ids(), ", "))
		}
		chain = append(chain, found)
	}
	return chain, contract.CodeNone, ""
}

func (c Catalog) ids() []string {
	ids := make([]string, len(c.Candidates))
	for i, x := range c.Candidates {
		ids[i] = x.ID
	}
	return ids
}

// Output shares of the reserve (spec/summary §5.4).
const (
	historyShare    = 0.8
	turnPrefixShare = 0.5
)

// stored is a rendered request and the blob it lies in.
type stored struct {
	request *transcript.Request
	digest  string
	tokens  int // conservative estimate
}

// planFor sizes every request for one candidate. A candidate whose window does not hold its largest
// request is refused, with the numbers. Effort is asked only of a candidate that declares one:
// whether a model has that control cannot be told from its name.
func planFor(c contract.Candidate, requests []stored, s contract.Settings) contract.PlannedCandidate {
	if s.ModelContextWindow > 0 {
		c.ContextWindow = s.ModelContextWindow
	}
	if c.Effort != "" {
		level := c.Effort
		if s.ThinkingLevel == compaction.EffortOff {
			level = s.ThinkingLevel
		}
		c.Effort, _ = compaction.Effort(level, nil) // which levels it knows is the operator's to declare
	}
	planned := contract.PlannedCandidate{Candidate: c}
	for _, r := range requests {
		share := historyShare
		if r.request.Part == contract.PartTurnPrefix {
			share = turnPrefixShare
		}
		output := tokens.OutputBudget(c.ContextWindow, s.ReserveTokens, share)
		if c.MaxOutputTokens > 0 {
			output = min(output, c.MaxOutputTokens)
		}
		planned.Calls = append(planned.Calls, contract.PlannedCall{
			Part: r.request.Part, Request: r.digest, InputTokens: r.tokens, MaxOutput: output,
		})
		if c.ContextWindow > 0 && r.tokens+output > c.ContextWindow {
			planned.Refused = fmt.Sprintf("its window of %d tokens does not hold the %s request of about %d tokens and %d tokens of answer",
				c.ContextWindow, r.request.Part, r.tokens, output)
		}
	}
	return planned
}
