package reduce

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"recap/internal/compaction/reduce/artifact"
	"recap/internal/compaction/reduce/edit"
	"recap/internal/session"
	"recap/internal/tokens"
)

// TruncateRules steer the truncation of long texts (spec/summary §3.10, §8.4). Figures are tokens.
type TruncateRules struct {
	MinText int // shorter texts stay
	Edge    int // kept at each end
}

// DefaultTruncateRules are those of the last rescue tier.
func DefaultTruncateRules() TruncateRules { return TruncateRules{MinText: 1280, Edge: 512} }

// Truncate decides whose middles go until excess tokens are freed, largest text first: of anybody's
// text, but not of signed text, thinking, or a protected result. If all of them are not enough, all go.
func (t *Tail) Truncate(r TruncateRules, excess int) (Pass, error) {
	p := Pass{ArtifactKind: artifact.Shake}
	if excess <= 0 {
		return p, nil
	}
	type long struct {
		item, tokens, frees int
		cut                 region
	}
	var texts []long
	r.Edge = max(r.Edge, 0)
	least := max(r.MinText, 2*r.Edge+2*placeholderTokens) // what was cut once is not cut again
	for i := range t.Items {
		kept, err := t.protected(i)
		if err != nil {
			return Pass{}, err
		}
		if kept {
			continue
		}
		for _, f := range fields(&t.Items[i].Message) {
			if n := tokens.Text(f.text); n >= least {
				cut := middle(f, n, r.Edge)
				left := len(f.text) - len(cut.text) + len(marker(Truncated, "", cut.tokens, "", 0))
				if frees := n - tokens.Bytes(left); frees > 0 {
					texts = append(texts, long{i, n, frees, cut})
				}
			}
		}
	}
	slices.SortStableFunc(texts, func(a, b long) int { return cmp.Compare(b.tokens, a.tokens) })
	cuts := map[int][]region{}
	for _, x := range texts {
		if excess <= 0 {
			break
		}
		cuts[x.item] = append(cuts[x.item], x.cut)
		excess -= x.frees
	}
	for i := range t.Items {
		if regions := cuts[i]; len(regions) > 0 {
			slices.SortFunc(regions, func(a, b region) int {
				return cmp.Or(cmp.Compare(a.edit.Field, b.edit.Field), cmp.Compare(a.edit.Index, b.edit.Index))
			})
			p.offload(&t.Items[i], Truncated, regions)
		}
	}
	return p, nil
}

// field is a text of a message that can be cut.
type field struct {
	name  edit.Field
	index int
	text  string
}

func fields(m *session.Message) []field {
	var all []field
	switch m.Role {
	case session.RoleBashExecution, session.RolePythonExecution:
		all = append(all, field{edit.Output, 0, m.Output})
	case session.RoleBranchSummary, session.RoleCompactionSummary:
		all = append(all, field{edit.Summary, 0, m.Summary})
	case session.RoleFileMention:
		for j := range m.Files {
			all = append(all, field{edit.File, j, m.Files[j].Content})
		}
	case session.RoleUser, session.RoleDeveloper, session.RoleAssistant, session.RoleCustom, session.RoleToolResult:
		for j := range m.Content {
			if b := &m.Content[j]; b.Type == session.BlockText && b.Signature == "" {
				all = append(all, field{edit.Content, j, b.Text})
			}
		}
	}
	return all
}

// middle is what goes of a text of n tokens: everything but edge tokens at each end, by the text's own
// bytes for a token, cut between characters. It is empty when the edges meet.
func middle(f field, n, edge int) region {
	bytes := min(edge*len(f.text)/n, len(f.text)/2)
	from, to := around(f.text, bytes, -1), around(f.text, len(f.text)-bytes, +1)
	text := f.text[from:to]
	return region{
		edit:  edit.Edit{Op: edit.Splice, Field: f.name, Index: f.index, Start: from, End: to},
		label: string(f.name), text: text, tokens: tokens.Text(text),
	}
}

// around moves an offset to the nearest one between visible characters, back or, with step +1, on.
// Where a character begins is known behind any plain one; how far back that is looked for is bounded.
func around(text string, at, step int) int {
	const farthest = 64
	start := at
	for start > 0 && (at-start < farthest || !utf8.RuneStart(text[start])) && (start == at || text[start] >= utf8.RuneSelf) {
		start--
	}
	// Which two letters make a flag is known only from the first of a row of them.
	for r, size := utf8.DecodeLastRuneInString(text[:start]); r >= 0x1F1E6 && r <= 0x1F1FF; r, size = utf8.DecodeLastRuneInString(text[:start]) {
		start -= size
	}
	for start < at {
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[start:], -1)
		if start+len(cluster) > at {
			if step > 0 {
				start += len(cluster)
			}
			break
		}
		start += len(cluster)
	}
	return start
}
