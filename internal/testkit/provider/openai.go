package provider

// fields is a JSON object under construction.
type fields = map[string]any

// openAI writes chat completions.
type openAI struct {
	model string
	usage Usage
}

func newOpenAI(q Request, s Step) openAI { return openAI{model: q.Model, usage: used(q, s)} }

// used is the usage to report: the script's, or the server's own estimate.
func used(q Request, s Step) Usage {
	if s.Usage != nil {
		return *s.Usage
	}
	return Usage{Prompt: q.Tokens, Output: (len(s.Text) + len(s.Reasoning) + 3) / 4, Reasoning: len(s.Reasoning) / 4}
}

func (f openAI) chunk(choices []any, extra fields) string {
	c := fields{"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": f.model, "choices": choices}
	for k, v := range extra {
		c[k] = v
	}
	return "data: " + encode(c) + "\n\n"
}

func (f openAI) delta(delta fields, finish any) string {
	return f.chunk([]any{fields{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
}

func (f openAI) open() []string {
	return []string{f.delta(fields{"role": "assistant", "content": nil}, nil)}
}

func (f openAI) piece(text string) string { return f.delta(fields{"content": text}, nil) }
func (f openAI) ping() string             { return ": processing\n\n" }
func (f openAI) failure(p string) string  { return "data: " + p + "\n\n" }
func (f openAI) terminator() string       { return "data: [DONE]\n\n" }

func (f openAI) close(s Step) []string {
	var out []string
	if s.Reasoning != "" {
		out = append(out, f.delta(fields{"reasoning_content": s.Reasoning}, nil))
	}
	if s.Refusal != "" {
		out = append(out, f.delta(fields{"refusal": s.Refusal}, nil))
	}
	if s.ToolCall {
		call := bashCall()
		call["index"] = 0
		out = append(out, f.delta(fields{"tool_calls": []any{call}}, nil))
	}
	if !s.NoFinish {
		out = append(out, f.delta(fields{}, openAIFinish(s)))
	}
	if !s.NoUsage {
		out = append(out, f.chunk([]any{}, fields{"usage": f.usageObject()}))
	}
	return out
}

func (f openAI) whole(s Step) string {
	message := fields{"role": "assistant", "content": s.Text}
	if s.Reasoning != "" {
		message["reasoning_content"] = s.Reasoning
	}
	if s.Refusal != "" {
		message["refusal"] = s.Refusal
	}
	if s.ToolCall {
		message["tool_calls"] = []any{bashCall()}
	}
	choice := fields{"index": 0, "message": message}
	if !s.NoFinish {
		choice["finish_reason"] = openAIFinish(s)
	}
	body := fields{"id": "chatcmpl-test", "object": "chat.completion", "created": 1, "model": f.model, "choices": []any{choice}}
	if !s.NoUsage {
		body["usage"] = f.usageObject()
	}
	return encode(body)
}

func bashCall() fields {
	return fields{"id": "call_1", "type": "function", "function": fields{"name": "bash", "arguments": `{"command":"ls"}`}}
}

// openAIFinish is the step's finish reason; "refusal" is the other API's word.
func openAIFinish(s Step) string {
	switch {
	case s.Finish == "refusal" || (s.Finish == "" && s.Refusal != ""):
		return "stop"
	case s.Finish != "":
		return s.Finish
	case s.ToolCall:
		return "tool_calls"
	}
	return "stop"
}

func (f openAI) usageObject() fields {
	u := f.usage
	return fields{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Output, "total_tokens": u.Prompt + u.Output,
		"prompt_tokens_details":     fields{"cached_tokens": u.Cached, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": fields{"reasoning_tokens": u.Reasoning},
	}
}
