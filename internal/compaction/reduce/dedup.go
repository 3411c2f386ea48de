package reduce

import (
	"bytes"
	"encoding/json"

	"recap/internal/compaction/reduce/artifact"
	"recap/internal/compaction/reduce/edit"
	"recap/internal/session"
	"recap/internal/tokens"
)

// Dedup decides which tool results go because a newer one of the same tool, for the same arguments,
// says exactly the same (spec/summary §8.4). It looks neither at how new nor at how large they are.
func (t *Tail) Dedup() (Pass, error) {
	type output struct{ tool, text string }
	groups := map[output][]int{}
	for i := range t.Items {
		m := &t.Items[i].Message
		if m.Role != session.RoleToolResult || m.PrunedAt != 0 || m.IsError {
			continue
		}
		if text := m.Text("\n"); text != "" {
			key := output{m.ToolName, text}
			groups[key] = append(groups[key], i)
		}
	}
	repeated := map[int]bool{}
	for _, items := range groups {
		if err := t.repeated(items, repeated); err != nil {
			return Pass{}, err
		}
	}
	p := Pass{ArtifactKind: artifact.Shake}
	for i := range t.Items {
		if repeated[i] {
			p.offload(&t.Items[i], Duplicate, []region{t.wholeResult(i)})
		}
	}
	return p, nil
}

// repeated marks all of some results with equal text, in path order, that have a newer one for the
// same arguments.
func (t *Tail) repeated(items []int, mark map[int]bool) error {
	if len(items) < 2 {
		return nil
	}
	newest := map[string]bool{}
	for k := len(items) - 1; k >= 0; k-- {
		i := items[k]
		kept, err := t.protected(i)
		if err != nil {
			return err
		}
		if kept {
			continue
		}
		c, err := t.calls.answered(i, &t.Items[i].Message)
		if err != nil {
			return err
		}
		args := ""
		if c != nil {
			args = sortedKeys(c.args)
		}
		if newest[args] {
			mark[i] = true
		}
		newest[args] = true
	}
	return nil
}

// sortedKeys is the JSON of arguments with keys in order and numbers as they were written.
func sortedKeys(args json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return string(args)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return string(args)
	}
	return string(raw)
}

// wholeResult is the region of all text of a tool result; images stay.
func (t *Tail) wholeResult(i int) region {
	m := &t.Items[i].Message
	return region{
		edit:  edit.Edit{Op: edit.BlankText, PrunedAt: t.prunedAt()},
		label: m.ToolName, text: m.Text("\n"), tokens: textTokens(m),
	}
}

// textTokens is the estimate of a message's text blocks.
func textTokens(m *session.Message) int {
	sum := 0
	for j := range m.Content {
		if m.Content[j].Type == session.BlockText {
			sum += tokens.Text(m.Content[j].Text)
		}
	}
	return sum
}
