package provider

import (
	"fmt"
	"mime"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"
)

// Fields of a request that the vendors document. Others are refused, as they are there.
var known = map[API][]string{
	OpenAI: {
		"model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options", "temperature",
		"top_p", "reasoning_effort", "tools", "tool_choice", "parallel_tool_calls", "n", "stop", "seed",
		"response_format", "prompt_cache_key", "prompt_cache_options", "store", "metadata", "user", "verbosity",
		"service_tier", "frequency_penalty", "presence_penalty",
	},
	Anthropic: {
		"model", "messages", "max_tokens", "system", "stream", "temperature", "top_p", "top_k", "stop_sequences",
		"tools", "tool_choice", "thinking", "output_config", "metadata", "service_tier", "cache_control",
	},
}

// check says what a vendor would refuse about a request, "" when nothing.
func check(api API, r *http.Request, v gjson.Result) string {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return "Content-Type must be application/json"
	}
	unknown := ""
	v.ForEach(func(name, _ gjson.Result) bool {
		if !slices.Contains(known[api], name.Str) {
			unknown = name.Str
		}
		return unknown == ""
	})
	switch {
	case unknown != "":
		return fmt.Sprintf("Unknown parameter: '%s'.", unknown)
	case v.Get("model").Str == "":
		return "you must provide a model parameter"
	case len(v.Get("messages").Array()) == 0:
		return "messages: at least one message is required"
	}
	if api == OpenAI {
		return first(checkOpenAI(v), checkOpenAIMessages(v.Get("messages").Array()))
	}
	return first(checkAnthropic(r, v), checkAnthropicMessages(v.Get("messages").Array()))
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

func checkOpenAI(v gjson.Result) string {
	both := v.Get("max_tokens").Exists() && v.Get("max_completion_tokens").Exists()
	switch n := v.Get("n"); {
	case both:
		return "max_tokens and max_completion_tokens cannot both be set"
	case n.Exists() && n.Int() != 1:
		return "n: only one choice is asked for here"
	case v.Get("stream_options").Exists() && !v.Get("stream").Bool():
		return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if f := v.Get(name); f.Exists() && (f.Type != gjson.Number || f.Num < 1) {
			return fmt.Sprintf("%s must be at least 1, got %s", name, f.Raw)
		}
	}
	if e := v.Get("reasoning_effort"); e.Exists() && !slices.Contains(efforts, e.Str) {
		return fmt.Sprintf("Unsupported value: 'reasoning_effort' does not support '%s'", e.Str)
	}
	return ""
}

func checkOpenAIMessages(list []gjson.Result) string {
	open := map[string]bool{} // calls that wait for their results
	turns := 0
	for i, m := range list {
		role := m.Get("role").Str
		if role != "tool" && len(open) > 0 {
			return fmt.Sprintf("messages.[%d].role: an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'", i)
		}
		content := text(m.Get("content"))
		switch role {
		case "system", "developer":
			if turns > 0 {
				return fmt.Sprintf("messages.[%d]: a %s message comes after the conversation has begun", i, role)
			}
		case "user":
			turns++
		case "assistant":
			turns++
			for _, call := range m.Get("tool_calls").Array() {
				if !gjson.Valid(call.Get("function.arguments").Str) || call.Get("id").Str == "" || call.Get("function.name").Str == "" {
					return fmt.Sprintf("messages.[%d].tool_calls: id, name and JSON arguments are required", i)
				}
				open[call.Get("id").Str] = true
			}
			if content == "" && len(open) == 0 {
				return fmt.Sprintf("messages.[%d].content: an assistant message needs content or tool_calls", i)
			}
		case "tool":
			id := m.Get("tool_call_id").Str
			if !open[id] {
				return fmt.Sprintf("messages.[%d]: a 'tool' message must answer a preceding 'tool_calls' (%q)", i, id)
			}
			delete(open, id)
		default:
			return fmt.Sprintf("messages.[%d].role: invalid value %q", i, role)
		}
		if content == "" && role != "assistant" {
			return fmt.Sprintf("messages.[%d].content: must not be empty", i)
		}
	}
	switch last := list[len(list)-1].Get("role").Str; {
	case len(open) > 0:
		return "messages: tool calls at the end have no results"
	case last != "user" && last != "tool":
		return "messages: the last message must be the user's"
	}
	return ""
}

func checkAnthropic(r *http.Request, v gjson.Result) string {
	if r.Header.Get("Anthropic-Version") == "" {
		return "anthropic-version: header is required"
	}
	limit := v.Get("max_tokens")
	if limit.Type != gjson.Number || limit.Num < 1 {
		return "max_tokens: Field required"
	}
	if s := v.Get("system"); s.Exists() && text(s) == "" {
		return "system: text content blocks must be non-empty"
	}
	if e := v.Get("output_config.effort"); e.Exists() && !slices.Contains(efforts[2:], e.Str) {
		return fmt.Sprintf("output_config.effort: %q is not supported", e.Str)
	}
	switch t := v.Get("thinking"); t.Get("type").Str {
	case "adaptive", "disabled", "between_tools":
	case "enabled":
		if b := t.Get("budget_tokens").Int(); b < 1024 || b >= limit.Int() {
			return "thinking.enabled.budget_tokens: must be at least 1024 and less than max_tokens"
		}
	default:
		if t.Exists() {
			return "thinking.type: unknown"
		}
	}
	return ""
}

func checkAnthropicMessages(list []gjson.Result) string {
	open := map[string]bool{}
	for i, m := range list {
		role, blocks := m.Get("role").Str, m.Get("content").Array()
		if m.Get("content").Type == gjson.String {
			blocks = nil
		}
		switch {
		case role != "user" && role != "assistant":
			return fmt.Sprintf("messages.%d.role: Input should be 'user' or 'assistant'", i)
		case i == 0 && role != "user":
			return "messages: first message must use the \"user\" role"
		case m.Get("content").Raw == `""` || (len(blocks) == 0 && m.Get("content").Type != gjson.String):
			return fmt.Sprintf("messages.%d: all messages must have non-empty content", i)
		}
		begun := false // something else than a result has come in this message
		for j, b := range blocks {
			switch kind := b.Get("type").Str; kind {
			case "tool_result":
				id := b.Get("tool_use_id").Str
				if begun || role != "user" || !open[id] {
					return fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i, j, id)
				}
				delete(open, id)
			case "text":
				begun = true
				if b.Get("text").Str == "" {
					return fmt.Sprintf("messages.%d.content.%d: text content blocks must be non-empty", i, j)
				}
			default:
				begun = true
			}
		}
		if len(open) > 0 {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after", i)
		}
		for _, b := range blocks {
			if b.Get("type").Str == "tool_use" {
				open[b.Get("id").Str] = true
			}
		}
	}
	switch {
	case len(open) > 0:
		return "messages: `tool_use` ids at the end have no `tool_result`"
	case list[len(list)-1].Get("role").Str != "user":
		return "messages: This model does not support assistant message prefill; the last message must be the user's"
	}
	return ""
}
