package openaichat

import (
	"bytes"
	"errors"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/tidwall/gjson"

	"recap/internal/contract"
	"recap/internal/model"
	"recap/internal/model/wire"
)

// decoder collects one answer from the chunks of a stream or from a whole completion. Reasoning is
// noticed and dropped; only the first choice is read.
type decoder struct {
	progress func(outputBytes int)

	text       strings.Builder
	bytes      int // of text and reasoning
	reasoning  bool
	toolCall   bool
	refusal    bool
	terminated bool
	finish     string
	model      string
	usage      *contract.Usage
}

var errNotOurs = errors.New("not a chat completion")

// Event takes one chunk.
func (d *decoder) Event(name string, data []byte) (wire.Verdict, error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		d.terminated = true
		return wire.Done, nil
	}
	if !gjson.ValidBytes(data) {
		return wire.More, errNotOurs
	}
	if name == "error" || failed(data) {
		return wire.Failed, nil
	}
	var chunk openai.ChatCompletionChunk
	if err := chunk.UnmarshalJSON(data); err != nil {
		return wire.More, err
	}
	d.about(chunk.Model, chunk.Usage, chunk.JSON.Usage)
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		d.add(choice.Delta.Content, choice.Delta.JSON.ExtraFields)
		d.toolCall = d.toolCall || len(choice.Delta.ToolCalls) > 0 || choice.Delta.JSON.FunctionCall.Valid()
		d.refusal = d.refusal || choice.Delta.Refusal != ""
		if choice.FinishReason != "" {
			d.finish = choice.FinishReason
		}
	}
	return wire.More, nil
}

// Whole takes a completion of a server that does not stream.
func (d *decoder) Whole(body []byte) (wire.Verdict, error) {
	if !gjson.ValidBytes(body) {
		return wire.More, errNotOurs
	}
	if failed(body) {
		return wire.Failed, nil
	}
	var whole openai.ChatCompletion
	if err := whole.UnmarshalJSON(body); err != nil {
		return wire.More, err
	}
	if !whole.JSON.Choices.Valid() {
		return wire.More, errNotOurs
	}
	d.terminated = true
	d.about(whole.Model, whole.Usage, whole.JSON.Usage)
	if len(whole.Choices) > 0 {
		choice := whole.Choices[0]
		d.add(choice.Message.Content, choice.Message.JSON.ExtraFields)
		d.toolCall = len(choice.Message.ToolCalls) > 0 || choice.Message.JSON.FunctionCall.Valid()
		d.refusal = choice.Message.Refusal != ""
		d.finish = choice.FinishReason
	}
	return wire.Done, nil
}

// failed reports an error that came with a 200, of OpenRouter ({"error":…}) or an old vLLM
// ({"object":"error",…}).
func failed(data []byte) bool {
	v := gjson.ParseBytes(data)
	e := v.Get("error")
	return (e.Exists() && e.Type != gjson.Null && e.Raw != `""` && e.Raw != "{}") || v.Get("object").Str == "error"
}

func (d *decoder) about(name string, usage openai.CompletionUsage, field respjson.Field) {
	if name != "" {
		d.model = name
	}
	if field.Valid() {
		d.usage = normalise(usage)
	}
}

// add takes in a piece of the answer and of the reasoning, which servers name differently.
func (d *decoder) add(text string, extra map[string]respjson.Field) {
	d.text.WriteString(text)
	d.bytes += len(text)
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if raw := extra[name].Raw(); raw != "" && raw != "null" && raw != `""` {
			d.reasoning = true
			d.bytes += len(raw)
		}
	}
	if d.progress != nil && d.bytes > 0 {
		d.progress(d.bytes)
	}
}

// normalise takes the cached tokens out of the prompt, which includes them (spec/providers §2.1).
func normalise(u openai.CompletionUsage) *contract.Usage {
	read, write := int(u.PromptTokensDetails.CachedTokens), int(u.PromptTokensDetails.CacheWriteTokens)
	if hit := gjson.Get(u.RawJSON(), "prompt_cache_hit_tokens"); read == 0 && hit.Type == gjson.Number {
		read = int(hit.Int()) // DeepSeek
	}
	return &contract.Usage{
		InputTokens:      max(0, int(u.PromptTokens)-read-write),
		OutputTokens:     int(u.CompletionTokens),
		CacheReadTokens:  read,
		CacheWriteTokens: write,
		ReasoningTokens:  int(u.CompletionTokensDetails.ReasoningTokens),
	}
}

// describe puts what was collected into the evidence.
func (d *decoder) describe(e *model.Evidence) {
	e.Text, e.Reasoning, e.ToolCall, e.Refusal = d.text.String(), d.reasoning, d.toolCall, d.refusal
	e.Finish, e.Terminated, e.Model, e.Usage = d.finish, d.terminated, d.model, d.usage
}
