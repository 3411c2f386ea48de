package reduce

import (
	"recap/internal/compaction/reduce/artifact"
	"recap/internal/compaction/reduce/edit"
	"recap/internal/compaction/reduce/span"
	"recap/internal/session"
	"recap/internal/tokens"
)

// placeholderTokens is what a region is taken to leave behind.
const placeholderTokens = 16

// ShakeRules steer a shake (spec/summary §8.4). Figures are tokens.
type ShakeRules struct {
	Protect    int // the newest messages that are left alone; useless results are not
	MinSavings int // below, nothing is shaken
	MinBlock   int // smaller blocks within texts stay
}

// DefaultShakeRules leave the newest part of a conversation alone.
func DefaultShakeRules() ShakeRules {
	return ShakeRules{Protect: 16_000, MinSavings: 4_000, MinBlock: 400}
}

// AggressiveShakeRules take whatever is heavy; the rescue of a compaction that freed too little uses
// them.
func AggressiveShakeRules() ShakeRules { return ShakeRules{MinBlock: 400} }

// Shake decides which heavy parts go: whole tool results, and large fenced or XML blocks within what
// user, developer, assistant and extensions said. A result that is no heavier than its placeholder
// stays.
func (t *Tail) Shake(r ShakeRules) (Pass, error) {
	regions := make([][]region, len(t.Items))
	newer, gain := 0, 0
	for i := len(t.Items) - 1; i >= 0; i-- {
		found, err := t.heavy(i, r, newer < r.Protect)
		if err != nil {
			return Pass{}, err
		}
		regions[i] = found
		for k := range found {
			gain += max(0, found[k].tokens-placeholderTokens)
		}
		newer += t.Items[i].Tokens
	}
	p := Pass{ArtifactKind: artifact.Shake}
	if gain < r.MinSavings {
		return p, nil
	}
	for i := range regions {
		if len(regions[i]) > 0 {
			p.offload(&t.Items[i], Shaken, regions[i])
		}
	}
	return p, nil
}

// heavy lists the regions of one item; recent says that it lies in the protected window.
func (t *Tail) heavy(i int, r ShakeRules, recent bool) ([]region, error) {
	m := &t.Items[i].Message
	switch m.Role {
	case session.RoleToolResult:
		if recent && (!m.Useless || m.IsError) {
			return nil, nil
		}
		ok, err := t.candidate(i)
		if err != nil || !ok || textTokens(m) <= placeholderTokens {
			return nil, err
		}
		return []region{t.wholeResult(i)}, nil
	case session.RoleUser, session.RoleDeveloper, session.RoleAssistant, session.RoleCustom:
		if recent {
			return nil, nil
		}
		return heavyBlocks(m, r.MinBlock), nil
	}
	return nil, nil
}

// heavyBlocks lists the large blocks in a message's texts. Signed text is left as it is: its provider
// accepts nothing else.
func heavyBlocks(m *session.Message, least int) []region {
	var found []region
	for j := range m.Content {
		b := &m.Content[j]
		if b.Type != session.BlockText || b.Signature != "" || tokens.Text(b.Text) < least {
			continue
		}
		for _, s := range span.Find(b.Text) {
			text := b.Text[s.Start:s.End]
			n := tokens.Text(text)
			if n < least || n <= placeholderTokens {
				continue
			}
			found = append(found, region{
				edit:  edit.Edit{Op: edit.Splice, Field: edit.Content, Index: j, Start: s.Start, End: s.End},
				label: m.Role + " " + s.Label, text: text, tokens: n,
			})
		}
	}
	return found
}
