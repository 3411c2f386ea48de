package compaction

import (
	"recap/internal/compaction/fileops"
	"recap/internal/contract"
	"recap/internal/session"
)

// PlanVersion is the version of the Plan type.
const PlanVersion = 1

// Plan is the recorded decision about one compaction. It holds ids and numbers, paths of files and
// the caller's focus, but no text of the session. Sizes are in tokens by the byte estimate.
type Plan struct {
	Version   int             `json:"version"`
	Operation string          `json:"operation"`
	Dialect   session.Dialect `json:"dialect"`
	Reason    contract.Reason `json:"reason"`

	// Leaf is the entry the session ended with; the plan is stale once it is off the path.
	Leaf             string            `json:"leaf"`
	FirstKeptEntryID string            `json:"firstKeptEntryId"`
	IsSplit          bool              `json:"isSplit"` // the cut is within a turn
	Coverage         contract.Coverage `json:"coverage"`

	// TokensBefore is the measured size of the context, null when the session was compacted and no
	// answer has measured it since; TokensEstimate always has a figure.
	TokensBefore     *int `json:"tokensBefore"`
	TokensEstimate   int  `json:"tokensEstimate"`
	KeepRecentTokens int  `json:"keepRecentTokens"` // the budget after adaptation
	KeptTokens       int  `json:"keptTokens"`
	SourceTokens     int  `json:"sourceTokens"` // what is summarised, the previous summary included

	// Bar is what the context must get below to have made progress; 0 = no bar.
	Bar int `json:"bar,omitempty"`
	// Reductions rewrite entries of the kept tail when the plan is committed. A plan that is
	// ReducedOnly does nothing else: the context is under its threshold without a summary.
	Reductions  []Reduction `json:"reductions,omitempty"`
	FreedTokens int         `json:"freedTokens,omitempty"`
	ReducedOnly bool        `json:"reducedOnly,omitempty"`

	Files     fileops.Lists `json:"files"`
	FilesBase string        `json:"filesBase,omitempty"` // compaction the lists build on
	// FilesKnown are the lists of FilesBase.
	FilesKnown fileops.Lists `json:"filesKnown"`

	Settings contract.Settings `json:"settings"`
	Focus    string            `json:"focus,omitempty"`
	// Prompts maps the name of each prompt text to its SHA-256.
	Prompts map[string]string `json:"prompts"`
	// Requests and RequestTokens describe the stored requests: their digests, and the conservative
	// estimate of their sizes. Whoever stores the requests fills them in.
	Requests      map[contract.Part]string `json:"requests,omitempty"`
	RequestTokens map[contract.Part]int    `json:"requestTokens,omitempty"`

	Warnings []string `json:"warnings,omitempty"` // without text of the session
}
