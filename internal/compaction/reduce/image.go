package reduce

import (
	"recap/internal/compaction/reduce/edit"
	"recap/internal/session"
	"recap/internal/tokens"
)

// DropImages decides that every image of the tail goes. Replies of an assistant stay as its provider
// gave them.
func (t *Tail) DropImages() Pass {
	var p Pass
	for i := range t.Items {
		it := &t.Items[i]
		n := edit.Images(&it.Message)
		if n == 0 || it.Message.Role == session.RoleAssistant {
			continue
		}
		d := decide(it, ImageDropped)
		d.Images = n
		d.Edits = []edit.Edit{{Op: edit.DropImages, Tokens: n * tokens.Image}}
		d.Freed = freed(it, d.Edits)
		p.Decisions = append(p.Decisions, d)
	}
	return p
}
