// Package openaichat asks models over the OpenAI-compatible Chat Completions API: OpenAI, Azure's v1
// endpoint, Gemini's compatible endpoint, OpenRouter, LiteLLM, vLLM, llama.cpp, Ollama and others
// (spec/providers §2.1). It may import model, wire and the OpenAI library.
package openaichat

import (
	"context"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"recap/internal/model"
	"recap/internal/model/wire"
)

const defaultBaseURL = "https://api.openai.com/v1"

// New returns a client for one candidate. It fails when the configuration cannot work; it connects
// to nothing.
func New(cfg model.Config) (model.Client, error) {
	address, err := wire.Address(cfg.BaseURL, defaultBaseURL)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", cfg.ID, err)
	}
	switch cfg.MaxTokensField {
	case "", fieldNew, fieldOld:
	default:
		return nil, fmt.Errorf("model %s: maxTokensField %q: want %s or %s", cfg.ID, cfg.MaxTokensField, fieldNew, fieldOld)
	}
	opts := []option.RequestOption{
		option.WithBaseURL(address + "/"),
		option.WithMaxRetries(0), // the workflow is the only retrier
		option.WithHeader("Accept", "text/event-stream, application/json"),
	}
	for name, value := range cfg.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	return &client{
		cfg: cfg, address: address, transport: wire.NewTransport(),
		// The service alone, not openai.NewClient: that one reads keys, organisation, project and
		// base URL from the environment and would send them to whatever server is configured here.
		service: openai.NewChatCompletionService(opts...),
	}, nil
}

type client struct {
	cfg       model.Config
	address   string
	transport *wire.Transport
	service   openai.ChatCompletionService
}

// Endpoint is the base URL.
func (c *client) Endpoint() string { return c.address }

// Complete asks once.
func (c *client) Complete(ctx context.Context, call model.Call) (model.Answer, error) {
	key, err := c.cfg.APIKey()
	if err != nil {
		return model.Answer{}, err
	}
	x := c.transport.Begin(ctx, c.cfg.Timeouts)
	defer x.End()
	opts := []option.RequestOption{option.WithHTTPClient(x)}
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	params, size := c.params(call)
	// The library builds, signs and sends; the response is read from the exchange.
	x.Refused(c.service.NewStreaming(x.Context(), params, opts...).Err())
	d := &decoder{progress: call.Progress}
	x.Read(d)

	e := x.Evidence()
	d.describe(&e)
	e.Candidate, e.Secrets, e.Window = c.cfg.ID, c.cfg.Secrets(key), c.cfg.ContextWindow
	e.InputTokens, e.InputBytes = call.InputTokens, size
	return model.Finish(e)
}

// The two fields that cap the output. Reasoning models of OpenAI reject the old one; some servers
// only know that one.
const (
	fieldNew = "max_completion_tokens"
	fieldOld = "max_tokens"
)

// params builds the request, and says how many bytes of text it holds.
func (c *client) params(call model.Call) (openai.ChatCompletionNewParams, int) {
	text := call.Request.UserText()
	p := openai.ChatCompletionNewParams{
		Model:         c.cfg.Model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if call.Request.System != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(call.Request.System))
	}
	p.Messages = append(p.Messages, openai.UserMessage(text))
	if call.MaxOutput > 0 {
		if c.cfg.MaxTokensField == fieldOld {
			p.MaxTokens = openai.Int(int64(call.MaxOutput))
		} else {
			p.MaxCompletionTokens = openai.Int(int64(call.MaxOutput))
		}
	}
	switch call.Effort {
	case "":
	case "off":
		p.ReasoningEffort = shared.ReasoningEffort("none")
	default:
		p.ReasoningEffort = shared.ReasoningEffort(call.Effort)
	}
	return p, len(call.Request.System) + len(text)
}
