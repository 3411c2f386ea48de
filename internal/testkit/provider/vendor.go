package provider

import (
	"fmt"
	"net/http"
	"strconv"
)

// Vendor chooses the words in which a prompt that is too long is refused.
type Vendor string

// Vendors.
const (
	VendorOpenAI    Vendor = "openai"
	VendorAnthropic Vendor = "anthropic"
	VendorGemini    Vendor = "gemini"
	VendorVLLM      Vendor = "vllm"
	VendorLlamaCpp  Vendor = "llama.cpp"
	VendorXAI       Vendor = "xai"
	VendorGroq      Vendor = "groq"
	VendorCopilot   Vendor = "copilot"
	VendorMistral   Vendor = "mistral"
	VendorTogether  Vendor = "together"
	VendorLiteLLM   Vendor = "litellm"
	VendorBedrock   Vendor = "bedrock"
)

// Vendors lists every vendor whose words are known.
var Vendors = []Vendor{
	VendorOpenAI, VendorAnthropic, VendorGemini, VendorVLLM, VendorLlamaCpp, VendorXAI, VendorGroq, VendorCopilot,
	VendorMistral, VendorTogether, VendorLiteLLM, VendorBedrock,
}

// Overflow refuses a prompt of used tokens for a window of limit tokens.
func Overflow(vendor Vendor, used, limit int) Step {
	switch vendor {
	case VendorAnthropic:
		return anthropicError(http.StatusBadRequest, "invalid_request_error",
			fmt.Sprintf("prompt is too long: %d tokens > %d maximum", used, limit))
	case VendorGemini:
		return object(400, fmt.Sprintf(`{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (%d) exceeds the maximum number of tokens allowed (%d)."}`, used, limit))
	case VendorVLLM:
		return object(400, fmt.Sprintf(`{"type":"BadRequestError","code":400,"param":null,"message":"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, 100 in the completion)."}`, limit, used+100, used))
	case VendorLlamaCpp:
		return object(400, fmt.Sprintf(`{"code":400,"message":"request (%d tokens) exceeds the available context size (%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}`, used, limit, used, limit))
	case VendorXAI:
		return Status(400, fmt.Sprintf(`{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is %d but the request contains %d tokens."}`, limit, used))
	case VendorGroq:
		return object(400, `{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages"}`)
	case VendorCopilot:
		return object(400, fmt.Sprintf(`{"message":"prompt token count of %d exceeds the limit of %d","code":"model_max_prompt_tokens_exceeded"}`, used, limit))
	case VendorMistral:
		return Status(400, fmt.Sprintf(`{"object":"error","message":"Prompt contains %d tokens and 0 draft tokens, too large for model with %d maximum context length","type":"invalid_request_error"}`, used, limit))
	case VendorTogether:
		return object(422, fmt.Sprintf(`{"message":"The input (%d tokens) is longer than the model's context length (%d tokens).","type":"invalid_request_error"}`, used, limit))
	case VendorLiteLLM:
		return object(400, fmt.Sprintf(`{"message":"litellm.BadRequestError: OpenAIException - {\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Input of %d tokens: maximum context length is %d tokens\"}}","type":null,"code":"400"}`, used, limit))
	case VendorBedrock:
		return Status(400, `{"message":"Input is too long for requested model."}`, "X-Amzn-ErrorType", "ValidationException:http://internal.amazon.com/coral/")
	}
	return object(http.StatusBadRequest, fmt.Sprintf(
		`{"message":"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}`, limit, used))
}

// capOverflow refuses a prompt that fits alone, but not with the output that was asked for.
func capOverflow(r Request, window int) Step {
	return anthropicError(http.StatusBadRequest, "invalid_request_error", fmt.Sprintf(
		"input length and `max_tokens` exceed context limit: %d + %d > %d, decrease input length or `max_tokens` and try again",
		r.Tokens, r.MaxTokens, window))
}

func unauthorized(api API) Step {
	if api == Anthropic {
		return anthropicError(http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
	}
	return object(http.StatusUnauthorized, `{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}`)
}

func malformed(api API, why string) Step {
	if api == Anthropic {
		return anthropicError(http.StatusBadRequest, "invalid_request_error", why)
	}
	return object(http.StatusBadRequest, fmt.Sprintf(`{"message":%s,"type":"invalid_request_error","param":null,"code":null}`, strconv.Quote(why)))
}

// object answers with an error object in OpenAI's envelope.
func object(status int, inner string) Step { return Status(status, `{"error":`+inner+`}`) }

func anthropicError(status int, kind, message string) Step {
	return Status(status, fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%s},"request_id":"req_test"}`,
		kind, strconv.Quote(message)), "Request-Id", "req_test")
}
