package reduce

import (
	"recap/internal/compaction/reduce/artifact"
	"recap/internal/compaction/reduce/edit"
	"recap/internal/session"
	"recap/internal/tokens"
)

// Pass is what one reducer decided about a tail.
type Pass struct {
	// Decisions, one for each entry, in path order.
	Decisions []Decision
	// Regions are the original texts that an artifact should keep; empty for passes that keep none.
	Regions []artifact.Section
	// ArtifactKind names the document of the regions.
	ArtifactKind string
}

// Empty reports whether there is nothing to do, and so nothing to write.
func (p Pass) Empty() bool { return len(p.Decisions) == 0 }

// Freed is the estimate of what the pass frees, in tokens.
func (p Pass) Freed() int {
	sum := 0
	for i := range p.Decisions {
		sum += p.Decisions[i].Freed
	}
	return sum
}

// Images is how many images the pass drops.
func (p Pass) Images() int {
	sum := 0
	for i := range p.Decisions {
		sum += p.Decisions[i].Images
	}
	return sum
}

// Document is the artifact that keeps the original texts, "" when there are none.
func (p Pass) Document() string { return artifact.Document(p.ArtifactKind, p.Regions) }

// Point returns the decisions with markers that name the artifact in which the originals are kept. They
// are about the same messages, so one or the other list is made, not both.
func Point(decisions []Decision, artifactID string) []Decision {
	out := append([]Decision(nil), decisions...)
	for i := range out {
		d := &out[i]
		d.Edits = append([]edit.Edit(nil), d.Edits...)
		for j := range d.Edits {
			if e := &d.Edits[j]; e.Region > 0 {
				was := tokens.Text(e.Text)
				e.Text = marker(d.Kind, d.Tool, e.Tokens, artifactID, e.Region)
				d.Freed = max(0, d.Freed+was-tokens.Text(e.Text))
			}
		}
	}
	return out
}

// region is a text to take out, before it has a number.
type region struct {
	edit  edit.Edit // everything but Text, Region and Tokens
	label string
	text  string
	// tokens is the estimate of what goes, by which the marker names it.
	tokens int
}

// offload adds a decision that takes regions out of an item and keeps their text.
func (p *Pass) offload(it *Item, kind Kind, regions []region) {
	d := decide(it, kind)
	for _, r := range regions {
		e := r.edit
		e.Region, e.Tokens = len(p.Regions)+1, r.tokens
		e.Text = marker(kind, d.Tool, r.tokens, "", e.Region)
		d.Edits = append(d.Edits, e)
		p.Regions = append(p.Regions, artifact.Section{
			Number: e.Region, Label: r.label, EntryID: it.Entry.ID, Tokens: r.tokens, Text: r.text,
		})
	}
	d.Freed = freed(it, d.Edits)
	p.Decisions = append(p.Decisions, d)
}

// blank is the decision that leaves nothing but a notice of a tool result.
func (t *Tail) blank(i int, kind Kind, notice string) Decision {
	d := decide(&t.Items[i], kind)
	d.Freed = savings(t.Items[i].Tokens, notice)
	d.Edits = []edit.Edit{{Op: edit.Blank, Text: notice, PrunedAt: t.prunedAt(), Tokens: t.Items[i].Tokens}}
	return d
}

// freed is by how much edits lower the estimate of an item; they can raise that of a tiny text.
func freed(it *Item, edits []edit.Edit) int {
	after, err := edit.Message(it.Message, edits)
	if err != nil {
		return 0 // and making the decision fails with the same error
	}
	return max(0, it.Tokens-tokens.Message(&after, false))
}

func decide(it *Item, kind Kind) Decision {
	d := Decision{EntryID: it.Entry.ID, Kind: kind, Was: edit.Fingerprint(&it.Message)}
	if it.Message.Role == session.RoleToolResult {
		d.Tool = it.Message.ToolName
	}
	return d
}
