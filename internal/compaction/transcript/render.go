package transcript

import (
	"strconv"
	"strings"
)

// Headers of blocks in the text form.
const (
	headUser       = "[User]: "
	headDeveloper  = "[Developer]: "
	headAssistant  = "[Assistant]: "
	headCall       = "[Tool Call]: "
	headResult     = "[Tool Result]: "
	failedResult   = "(failed) "
	blockSeparator = "\n\n"
)

// Render renders blocks as text, a blank line between segments. Text cannot fake the frame: a line
// that looks like a header, and a tag that delimits a part of the request, get a backslash.
func Render(blocks []Block) string {
	var b strings.Builder
	b.Grow(renderedLen(blocks))
	render(&b, blocks)
	return b.String()
}

func render(b *strings.Builder, blocks []Block) {
	empty := true
	segment := func(head string) {
		if !empty {
			b.WriteString(blockSeparator)
		}
		empty = false
		b.WriteString(head)
	}
	for i := range blocks {
		switch block := &blocks[i]; block.Role {
		case User:
			segment(headUser)
			quote(b, block.Text)
		case Developer:
			segment(headDeveloper)
			quote(b, block.Text)
		case ToolResult:
			segment(headResult)
			if block.Error {
				b.WriteString(failedResult)
			}
			quote(b, block.Text)
			if block.Cut > 0 {
				b.WriteString("\n\n[... " + strconv.Itoa(block.Cut) + " more characters truncated]")
			}
		case Assistant:
			if block.Text != "" {
				segment(headAssistant)
				quote(b, block.Text)
			}
			if len(block.Calls) > 0 {
				segment(headCall)
				calls(b, block.Calls)
			}
		}
	}
}

func calls(b *strings.Builder, list []Call) {
	for i := range list {
		if i > 0 {
			b.WriteString("; ")
		}
		quote(b, list[i].Name)
		b.WriteByte('(')
		for j, arg := range list[i].Args {
			if j > 0 {
				b.WriteString(", ")
			}
			if arg.Key != "" {
				quote(b, arg.Key)
				b.WriteByte('=')
			}
			quote(b, arg.JSON)
		}
		b.WriteByte(')')
	}
}

// renderedLen is about how long the rendered text gets.
func renderedLen(blocks []Block) int {
	n := 0
	for i := range blocks {
		b := &blocks[i]
		n += len(b.Text) + len(headResult) + len(failedResult) + len(blockSeparator)
		if b.Cut > 0 {
			n += 48
		}
		for j := range b.Calls {
			n += len(b.Calls[j].Name) + len(headCall) + 4
			for k := range b.Calls[j].Args {
				n += len(b.Calls[j].Args[k].Key) + len(b.Calls[j].Args[k].JSON) + 3
			}
		}
	}
	return n + n/64
}
