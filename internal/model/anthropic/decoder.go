package anthropic

import (
	"errors"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/tidwall/gjson"

	"recap/internal/contract"
	"recap/internal/model"
	"recap/internal/model/wire"
)

// decoder collects one answer from the events of a stream or from a whole message. Thinking is
// noticed and dropped.
type decoder struct {
	progress func(outputBytes int)

	text       strings.Builder
	bytes      int // of text and thinking
	reasoning  bool
	toolCall   bool
	terminated bool
	finish     string
	model      string
	usage      *contract.Usage
}

var errNotOurs = errors.New("not a message of this API")

// Event takes one event. Unknown event types are legal and ignored.
func (d *decoder) Event(name string, data []byte) (wire.Verdict, error) {
	if !gjson.ValidBytes(data) {
		return wire.More, errNotOurs
	}
	if name == "error" || failed(data) {
		return wire.Failed, nil
	}
	var event sdk.MessageStreamEventUnion
	if err := event.UnmarshalJSON(data); err != nil {
		return wire.More, err
	}
	switch event.Type {
	case "message_start":
		d.model = string(event.Message.Model)
		d.usage = merge(d.usage, gjson.GetBytes(data, "message.usage"))
	case "content_block_start":
		d.block(event.ContentBlock.Type, event.ContentBlock.Text, event.ContentBlock.Thinking)
	case "content_block_delta":
		d.block(event.Delta.Type, event.Delta.Text, event.Delta.Thinking)
	case "message_delta":
		if event.Delta.StopReason != "" {
			d.finish = string(event.Delta.StopReason)
		}
		d.usage = merge(d.usage, gjson.GetBytes(data, "usage"))
	case "message_stop":
		d.terminated = true
		return wire.Done, nil
	}
	return wire.More, nil
}

// Whole takes a message of a server that does not stream.
func (d *decoder) Whole(body []byte) (wire.Verdict, error) {
	if !gjson.ValidBytes(body) {
		return wire.More, errNotOurs
	}
	if failed(body) {
		return wire.Failed, nil
	}
	var whole sdk.Message
	if err := whole.UnmarshalJSON(body); err != nil {
		return wire.More, err
	}
	if !whole.JSON.Content.Valid() {
		return wire.More, errNotOurs
	}
	for _, block := range whole.Content {
		d.block(block.Type, block.Text, block.Thinking)
	}
	d.model, d.finish, d.terminated = string(whole.Model), string(whole.StopReason), true
	d.usage = merge(nil, gjson.GetBytes(body, "usage"))
	return wire.Done, nil
}

// failed reports an error that came with a 200.
func failed(data []byte) bool {
	v := gjson.ParseBytes(data)
	e := v.Get("error")
	return v.Get("type").Str == "error" || (e.Exists() && e.Type != gjson.Null)
}

// block takes in a content block, or a piece of one: both name their type.
func (d *decoder) block(kind, text, thinking string) {
	switch kind {
	case "text", "text_delta":
		d.text.WriteString(text)
		d.bytes += len(text)
	case "thinking", "thinking_delta", "redacted_thinking", "signature_delta":
		d.reasoning = true
		d.bytes += len(thinking)
	case "citations_delta":
	default: // tool_use, server_tool_use, input_json_delta, compaction: nobody asked for them
		d.toolCall = true
	}
	if d.progress != nil && d.bytes > 0 {
		d.progress(d.bytes)
	}
}

// merge takes the counts that a usage object has over those that are known. Counts are totals of
// the message and exclude cached tokens; a later event repeats only some of them.
func merge(known *contract.Usage, reported gjson.Result) *contract.Usage {
	if !reported.IsObject() {
		return known
	}
	var u contract.Usage
	if known != nil {
		u = *known
	}
	for path, field := range map[string]*int{
		"input_tokens":                          &u.InputTokens,
		"output_tokens":                         &u.OutputTokens,
		"cache_read_input_tokens":               &u.CacheReadTokens,
		"cache_creation_input_tokens":           &u.CacheWriteTokens,
		"output_tokens_details.thinking_tokens": &u.ReasoningTokens,
	} {
		if n := reported.Get(path); n.Type == gjson.Number && n.Num >= 0 {
			*field = int(n.Int())
		}
	}
	return &u
}

// describe puts what was collected into the evidence.
func (d *decoder) describe(e *model.Evidence) {
	e.Text, e.Reasoning, e.ToolCall = d.text.String(), d.reasoning, d.toolCall
	e.Finish, e.Terminated, e.Model, e.Usage = d.finish, d.terminated, d.model, d.usage
}
