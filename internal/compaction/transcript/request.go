package transcript

import (
	"strings"

	"recap/internal/contract"
	"recap/internal/tokens"
)

// Request is one summary request. It is stored as a blob and rendered to text by UserText, so that
// all candidates are sent the same words; candidates that need no text (extractive) read the blocks.
type Request struct {
	Part   contract.Part `json:"part"`
	System string        `json:"system"`
	// Conversation is the range to summarise, already shortened (spec/summary §5.1).
	Conversation []Block `json:"conversation"`
	// PreviousSummary, when not empty, goes in once, between its own tags.
	PreviousSummary string `json:"previousSummary,omitempty"`
	// Context lines go in between <additional-context> tags.
	Context []string `json:"context,omitempty"`
	// Instruction comes last. It ends with the focus, where the caller gave one.
	Instruction string `json:"instruction"`
}

// UserText renders the one user turn of the request (spec/summary §5.2): the conversation, the
// previous summary, additional context, and last the instruction.
func (r Request) UserText() string {
	var b strings.Builder
	b.Grow(renderedLen(r.Conversation) + len(r.PreviousSummary) + len(r.Instruction) + 256)
	r.Pieces(func(piece string) { b.WriteString(piece) })
	return b.String()
}

// Pieces renders what UserText returns piece by piece, for who hashes or writes a text too long to
// hold twice. Pieces share memory with the request.
func (r Request) Pieces(out func(piece string)) {
	out("<conversation>\n")
	render(out, r.Conversation)
	out("\n</conversation>\n\n")
	if r.PreviousSummary != "" {
		out("<previous-summary>\n")
		quote(out, r.PreviousSummary)
		out("\n</previous-summary>\n\n")
	}
	if len(r.Context) > 0 {
		out("<additional-context>\n")
		for _, line := range r.Context {
			out("- ")
			quote(out, line)
			out("\n")
		}
		out("</additional-context>\n\n")
	}
	out(r.Instruction)
}

// What the frame of a request costs, in tokens.
const (
	messageOverhead  = 8  // a message beside its text
	frameOverhead    = 48 // the tags around the parts
	segmentOverhead  = 12 // a segment's header, separator or truncation note
	argumentOverhead = 3  // what stands between arguments
)

// Tokens is the conservative estimate of the request as it is sent. It adds up the parts without
// rendering them, so it is at least the estimate of the rendered text.
func (r Request) Tokens() int {
	sum := 2*messageOverhead + tokens.Conservative(r.System) + tokens.Conservative(r.Instruction) +
		tokens.Conservative(r.PreviousSummary) + frameOverhead
	for _, line := range r.Context {
		sum += tokens.Conservative(line) + segmentOverhead
	}
	for i := range r.Conversation {
		b := &r.Conversation[i]
		sum += tokens.Conservative(b.Text) + segmentOverhead
		if b.Cut > 0 {
			sum += segmentOverhead
		}
		for j := range b.Calls {
			sum += tokens.Conservative(b.Calls[j].Name) + segmentOverhead
			for _, arg := range b.Calls[j].Args {
				sum += tokens.Conservative(arg.Key) + tokens.Conservative(arg.JSON) + argumentOverhead
			}
		}
	}
	return sum
}
