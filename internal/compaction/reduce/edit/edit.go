// Package edit changes single messages of a session in place: the decoded message that is live, and
// the stored object it came from. Both changes are made from one description, and are equal: decoding
// the changed object gives the changed message. Of the stored object only the values that an edit
// names are touched; all other bytes stay.
//
// It is pure: no I/O, no clock. It may import session, gjson and the standard library.
package edit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"recap/internal/session"
)

// Op is what an edit does.
type Op string

// Operations.
const (
	// Blank makes the content one text block.
	Blank Op = "blank"
	// BlankText makes the text blocks of the content one; the others stay.
	BlankText Op = "blankText"
	// Splice replaces a range of bytes of one text.
	Splice Op = "splice"
	// DropImages takes images out of content and files. Content of which nothing is left becomes
	// ImageRemoved, so that no message is empty.
	DropImages Op = "dropImages"
)

// ImageRemoved is what stands where nothing but an image stood.
const ImageRemoved = "[image removed]"

// Field names a text of a message.
type Field string

// Fields that can be spliced.
const (
	Content Field = "content" // block Index; a bare string is block 0
	Output  Field = "output"  // of a command or code that the user ran
	Summary Field = "summary" // of a branch
	File    Field = "files"   // content of file Index
)

// Edit is one change of a message. A message has either one edit, or splices that do not overlap.
// Offsets are bytes of the decoded text before any edit.
type Edit struct {
	Op       Op     `json:"op"`
	Field    Field  `json:"field,omitempty"`
	Index    int    `json:"index,omitempty"`
	Start    int    `json:"start,omitempty"`
	End      int    `json:"end,omitempty"`
	Text     string `json:"text,omitempty"`     // the replacement
	PrunedAt int64  `json:"prunedAt,omitempty"` // Unix ms, set on what Blank and BlankText change; 0 = not set
	Region   int    `json:"region,omitempty"`   // number of the original text in an artifact, 0 = none
	Tokens   int    `json:"tokens,omitempty"`   // estimate of what is replaced
}

// Error says that an edit does not fit the message it was meant for.
type Error struct {
	EntryID string
	Msg     string
}

func (e *Error) Error() string {
	return fmt.Sprintf("entry %s: %s; decide anew on the session as it is", e.EntryID, e.Msg)
}

// ordered checks that edits can go together and puts splices in the order in which they are made: from
// the end of each text, so that no splice moves what a later one names.
func ordered(id string, edits []Edit) ([]Edit, error) {
	if len(edits) < 2 {
		return edits, nil
	}
	list := slices.Clone(edits)
	slices.SortStableFunc(list, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Index, b.Index), cmp.Compare(b.Start, a.Start))
	})
	for i := range list {
		if list[i].Op != Splice {
			return nil, &Error{id, "an edit of the whole message cannot stand beside others"}
		}
		if i > 0 && list[i].Field == list[i-1].Field && list[i].Index == list[i-1].Index && list[i].End > list[i-1].Start {
			return nil, &Error{id, "two edits of one text overlap"}
		}
	}
	return list, nil
}

// Message returns m with the edits made; m itself does not change.
func Message(m session.Message, edits []Edit) (session.Message, error) {
	edits, err := ordered(m.EntryID, edits)
	if err != nil {
		return session.Message{}, err
	}
	m.Content, m.Files = slices.Clone(m.Content), slices.Clone(m.Files)
	for i := range edits {
		if err := one(&m, &edits[i]); err != nil {
			return session.Message{}, err
		}
	}
	return m, nil
}

func one(m *session.Message, e *Edit) error {
	switch e.Op {
	case Blank:
		m.Content = []session.Block{textBlock(e.Text)}
		prune(m, e)
	case BlankText:
		m.Content = blankText(m.Content, e.Text)
		prune(m, e)
	case Splice:
		at := target(m, e)
		if at == nil {
			return &Error{m.EntryID, "it has no such text to edit"}
		}
		if !fits(*at, e.Start, e.End) {
			return &Error{m.EntryID, "the text to edit is shorter, or is cut within a character"}
		}
		*at = (*at)[:e.Start] + valid(e.Text) + (*at)[e.End:]
	case DropImages:
		dropImages(m)
	default:
		return &Error{m.EntryID, "unknown edit " + string(e.Op)}
	}
	return nil
}

func prune(m *session.Message, e *Edit) {
	if e.PrunedAt > 0 {
		m.PrunedAt = e.PrunedAt
	}
}

// target is the text that a splice changes, nil when there is none.
func target(m *session.Message, e *Edit) *string {
	switch e.Field {
	case Content:
		if e.Index >= 0 && e.Index < len(m.Content) && m.Content[e.Index].Type == session.BlockText {
			return &m.Content[e.Index].Text
		}
	case Output:
		return &m.Output
	case Summary:
		return &m.Summary
	case File:
		if e.Index >= 0 && e.Index < len(m.Files) {
			return &m.Files[e.Index].Content
		}
	}
	return nil
}

// fits reports whether [start, end) is a range of whole characters of text.
func fits(text string, start, end int) bool {
	return start >= 0 && start <= end && end <= len(text) && boundary(text, start) && boundary(text, end)
}

func boundary(text string, i int) bool { return i == len(text) || utf8.RuneStart(text[i]) }

func blankText(blocks []session.Block, text string) []session.Block {
	out := make([]session.Block, 0, len(blocks)+1)
	done := false
	for _, b := range blocks {
		switch {
		case b.Type != session.BlockText:
			out = append(out, b)
		case !done:
			out, done = append(out, textBlock(text)), true
		}
	}
	if !done {
		out = slices.Insert(out, 0, textBlock(text))
	}
	return out
}

func dropImages(m *session.Message) {
	kept := slices.DeleteFunc(m.Content, func(b session.Block) bool { return b.Type == session.BlockImage })
	if len(kept) == 0 && len(m.Content) > 0 {
		kept = append(kept, textBlock(ImageRemoved))
	}
	m.Content = kept
	for i := range m.Files {
		f := &m.Files[i]
		if !f.Image {
			continue
		}
		f.Image, f.MimeType, f.DataLen = false, "", 0
		if f.Content == "" {
			f.Content = ImageRemoved
		}
	}
}

// Images counts the images that DropImages takes out of a message.
func Images(m *session.Message) int {
	n := 0
	for i := range m.Content {
		if m.Content[i].Type == session.BlockImage {
			n++
		}
	}
	for i := range m.Files {
		if m.Files[i].Image {
			n++
		}
	}
	return n
}

func textBlock(s string) session.Block { return session.Block{Type: session.BlockText, Text: valid(s)} }

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
