package compaction

import (
	"encoding/json"
	"strings"

	"recap/internal/compaction/fileops"
	"recap/internal/session"
	"recap/internal/tokens"
)

// Texts that join the parts of a summary (spec/summary §5.5).
const (
	noHistory   = "No prior history."
	turnContext = "\n\n---\n\n**Turn Context (split turn):**\n\n"
)

// FileListFlat is the value of Settings.FileList for two plain lists instead of the tree.
const FileListFlat = "flat"

// Assemble makes the final summary of the accepted answers: history, the beginning of a split turn,
// and the files. An empty answer stands for a part that was not asked for.
func Assemble(p *Plan, history, prefix string) string {
	text := strings.TrimSpace(history)
	if prefix = strings.TrimSpace(prefix); prefix != "" {
		if text == "" {
			text = noHistory
		}
		text += turnContext + prefix
	}
	block := fileops.Tree(p.Files)
	if p.Settings.FileList == FileListFlat {
		block = fileops.Flat(p.Files)
	}
	return fileops.Upsert(text, block)
}

// Details are the details of the new entry in a dialect: the file lists as its agent reads them.
func Details(p *Plan, d session.Dialect) json.RawMessage {
	return fileops.Details(d, p.Files, p.FilesBase, p.FilesKnown)
}

// TokensAfter estimates the context once the summary has replaced what it covers.
func TokensAfter(p *Plan, summary string) int { return tokens.Text(summary) + p.KeptTokens }

// NewEntry is what the plan's entry is built from. Id, parent, time and mark are the committer's.
func NewEntry(p *Plan, summary string) session.NewCompaction {
	return session.NewCompaction{
		Summary: summary, FirstKeptEntryID: p.FirstKeptEntryID,
		TokensBefore: p.TokensBefore, Estimate: p.TokensEstimate,
		Details: Details(p, p.Dialect), CustomInstructions: p.Focus,
	}
}
