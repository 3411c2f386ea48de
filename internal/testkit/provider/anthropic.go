package provider

// anthropic writes messages.
type anthropic struct {
	model string
	usage Usage
}

func newAnthropic(q Request, s Step) anthropic { return anthropic{model: q.Model, usage: used(q, s)} }

func (f anthropic) event(v fields) string {
	return "event: " + v["type"].(string) + "\ndata: " + encode(v) + "\n\n"
}

func (f anthropic) open() []string {
	message := fields{
		"id": "msg_test", "type": "message", "role": "assistant", "model": f.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": f.usageObject(1),
	}
	return []string{
		f.event(fields{"type": "message_start", "message": message}),
		f.event(fields{"type": "content_block_start", "index": 0, "content_block": fields{"type": "text", "text": ""}}),
	}
}

func (f anthropic) piece(text string) string {
	return f.event(fields{"type": "content_block_delta", "index": 0, "delta": fields{"type": "text_delta", "text": text}})
}

func (f anthropic) ping() string            { return f.event(fields{"type": "ping"}) }
func (f anthropic) failure(p string) string { return "event: error\ndata: " + p + "\n\n" }
func (f anthropic) terminator() string      { return f.event(fields{"type": "message_stop"}) }

func (f anthropic) close(s Step) []string {
	var out []string
	if s.Refusal != "" {
		out = append(out, f.piece(s.Refusal))
	}
	out = append(out, f.event(fields{"type": "content_block_stop", "index": 0}))
	for i, block := range f.after(s) {
		out = append(out,
			f.event(fields{"type": "content_block_start", "index": i + 1, "content_block": block}),
			f.event(fields{"type": "content_block_stop", "index": i + 1}))
	}
	if s.NoFinish {
		return out
	}
	end := fields{"type": "message_delta", "delta": fields{"stop_reason": anthropicFinish(s), "stop_sequence": nil}}
	if !s.NoUsage {
		end["usage"] = fields{"output_tokens": f.usage.Output}
	}
	return append(out, f.event(end))
}

// after lists the blocks beside the text.
func (f anthropic) after(s Step) []fields {
	var list []fields
	if s.Reasoning != "" {
		list = append(list, fields{"type": "thinking", "thinking": s.Reasoning, "signature": "c2ln"})
	}
	if s.ToolCall {
		list = append(list, fields{"type": "tool_use", "id": "toolu_1", "name": "bash", "input": fields{"command": "ls"}})
	}
	return list
}

func (f anthropic) whole(s Step) string {
	content := []any{}
	if text := s.Text + s.Refusal; text != "" {
		content = append(content, fields{"type": "text", "text": text})
	}
	for _, block := range f.after(s) {
		content = append(content, block)
	}
	body := fields{"id": "msg_test", "type": "message", "role": "assistant", "model": f.model, "content": content}
	if !s.NoFinish {
		body["stop_reason"] = anthropicFinish(s)
	}
	if !s.NoUsage {
		body["usage"] = f.usageObject(f.usage.Output)
	}
	return encode(body)
}

// anthropicFinish is the step's finish reason in this API's words.
func anthropicFinish(s Step) string {
	switch {
	case s.Finish == "length":
		return "max_tokens"
	case s.Finish == "content_filter":
		return "refusal"
	case s.Finish == "stop", s.Finish == "" && !s.ToolCall:
		return "end_turn"
	case s.Finish == "" || s.Finish == "tool_calls":
		return "tool_use"
	}
	return s.Finish
}

func (f anthropic) usageObject(output int) fields {
	u := f.usage
	return fields{
		"input_tokens": max(0, u.Prompt-u.Cached-u.CacheWrite), "output_tokens": output,
		"cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": u.CacheWrite,
	}
}
