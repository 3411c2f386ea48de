// Package extractive is a summariser without a model: deterministic, offline, free. It builds the
// sections of a summary (spec/summary §5.3) out of the conversation's own words: requests verbatim,
// constraints, decisions and errors quoted, files and commands from tool calls. It is the embedded
// default, and the floor that every real model must beat (spec/gate §5e).
//
// Its text is English only in headings and labels; everything quoted stays in the language of the
// session. Quoted text can neither fake a heading nor open a fence: it stands in block quotes, behind
// a list marker or in code spans (quote.go).
//
// It may import the model port, transcript, contract, tokens, the gate's outline and uniseg. It reads
// no clock, no file, no environment, and uses no randomness: equal requests give equal bytes.
package extractive

import (
	"context"
	"errors"
	"strings"

	"recap/internal/compaction/gate/outline"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/model"
	"recap/internal/tokens"
)

// API is the name under which configurations ask for this candidate.
const API = "extractive"

// finishReason is the evidence that an extract is complete.
const finishReason = "stop"

// Client is the extractive candidate. It is safe for concurrent use.
type Client struct{ id string }

var _ model.Client = (*Client)(nil)

// New builds the candidate. Of the configuration only ID matters; an empty one becomes
// "extractive/default".
func New(c model.Config) (model.Client, error) {
	id := c.ID
	if id == "" {
		id = API + "/default"
	}
	return &Client{id: id}, nil
}

// Endpoint names the rules the text is made by; a change of rules changes it, so that stored answers
// of older rules are not taken for those of newer ones.
func (c *Client) Endpoint() string { return API + ":v1" }

// Complete extracts. It fails with an *model.Error of class empty when the request holds no words at
// all, and of class canceled when ctx is done.
func (c *Client) Complete(ctx context.Context, call model.Call) (model.Answer, error) {
	if err := ctx.Err(); err != nil {
		return model.Answer{}, &model.Error{Class: model.ClassCanceled, Candidate: c.id, Phase: "connect", Err: err}
	}
	text, source := Summarize(&call.Request, call.MaxOutput)
	if text == "" {
		return model.Answer{}, &model.Error{
			Class: model.ClassEmpty, Candidate: c.id, Phase: "validate",
			Err: errors.New("the conversation holds no text to extract from"),
		}
	}
	if call.Progress != nil {
		call.Progress(len(text))
	}
	return model.Answer{
		Text: text, FinishReason: finishReason, Model: c.id,
		Usage: contract.Usage{InputTokens: source, OutputTokens: tokens.Text(text), Estimated: true},
	}, nil
}

// The size of an extract, in tokens.
const (
	largest     = 6000 // however long the conversation is
	smallest    = 400  // however short it is; a caller's smaller limit wins
	sourceShare = 3    // at most one third of what it replaces
)

// Summarize writes the extract of a request, at most maxOutput tokens long (0 = no limit of the
// caller's), and estimates the tokens it read. It returns "" when the request holds no words.
func Summarize(req *transcript.Request, maxOutput int) (text string, source int) {
	f := read(req.Conversation)
	prev := readPrevious(req.PreviousSummary)
	source = f.tokens + tokens.Text(req.PreviousSummary)
	if f.empty() && prev.empty() {
		return "", source
	}
	limit := min(largest, max(smallest, source/sourceShare))
	if maxOutput > 0 {
		limit = min(limit, maxOutput)
	}
	if req.Part == contract.PartTurnPrefix {
		text = render(turnPrefixSections(f, limit), limit)
	} else {
		text = render(historySections(f, prev, limit), limit)
	}
	if text == "" {
		text = scrap(f, req, limit)
	}
	return text, source
}

// scrap is what is said when not one item fits the limit: as much of the newest words as does.
func scrap(f *facts, req *transcript.Request, limit int) string {
	head := outline.Of(req.Part)[0].String() + "\n> "
	for _, words := range []string{f.last.request, f.last.reply, f.first, req.PreviousSummary} {
		if words = strings.Join(strings.Fields(clean(bounded(words, 4*limit))), " "); words == "" {
			continue
		}
		if part := clip(words, 4*limit-len(head)); part != "" {
			return head + part
		}
	}
	return head + "…"
}
