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
	render(func(piece string) { b.WriteString(piece) }, blocks)
	return b.String()
}

// emit takes the next piece of rendered text.
type emit func(piece string)

func render(out emit, blocks []Block) {
	empty := true
	segment := func(head string) {
		if !empty {
			out(blockSeparator)
		}
		empty = false
		out(head)
	}
	for i := range blocks {
		switch block := &blocks[i]; block.Role {
		case User:
			segment(headUser)
			quote(out, block.Text)
		case Developer:
			segment(headDeveloper)
			quote(out, block.Text)
		case ToolResult:
			segment(headResult)
			if block.Error {
				out(failedResult)
			}
			quote(out, block.Text)
			if block.Cut > 0 {
				out("\n\n[... " + strconv.Itoa(block.Cut) + " more characters truncated]")
			}
		case Assistant:
			if block.Text != "" {
				segment(headAssistant)
				quote(out, block.Text)
			}
			if len(block.Calls) > 0 {
				segment(headCall)
				calls(out, block.Calls)
			}
		}
	}
}

func calls(out emit, list []Call) {
	for i := range list {
		if i > 0 {
			out("; ")
		}
		quote(out, list[i].Name)
		out("(")
		for j, arg := range list[i].Args {
			if j > 0 {
				out(", ")
			}
			if arg.Key != "" {
				quote(out, arg.Key)
				out("=")
			}
			quote(out, arg.JSON)
		}
		out(")")
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
