// Package anthropic asks models over the Anthropic Messages API (spec/providers §2.4). It may import
// model, wire and the Anthropic library.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"recap/internal/model"
	"recap/internal/model/wire"
)

const defaultBaseURL = "https://api.anthropic.com"

// New returns a client for one candidate. It fails when the configuration cannot work; it connects
// to nothing.
func New(cfg model.Config) (model.Client, error) {
	address, err := wire.Address(cfg.BaseURL, defaultBaseURL)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", cfg.ID, err)
	}
	address = strings.TrimSuffix(address, "/v1") // the library adds it
	opts := []option.RequestOption{
		option.WithBaseURL(address + "/"),
		option.WithMaxRetries(0), // the workflow is the only retrier
		option.WithoutOpenTelemetry(),
		option.WithHeader("Accept", "text/event-stream, application/json"),
	}
	for name, value := range cfg.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	return &client{
		cfg: cfg, address: address, transport: wire.NewTransport(),
		// The service alone, not NewClient: that one reads credentials, headers and base URL from
		// the environment and from profile files.
		service: sdk.NewMessageService(opts...),
	}, nil
}

type client struct {
	cfg       model.Config
	address   string
	transport *wire.Transport
	service   sdk.MessageService
}

// Endpoint is the base URL.
func (c *client) Endpoint() string { return c.address }

// errNoCap reports a request that this API cannot take.
var errNoCap = errors.New("an output cap is required: set maxOutputTokens of the candidate")

// Complete asks once.
func (c *client) Complete(ctx context.Context, call model.Call) (model.Answer, error) {
	key, err := c.cfg.APIKey()
	if err != nil {
		return model.Answer{}, err
	}
	if call.MaxOutput <= 0 {
		call.MaxOutput = c.cfg.MaxOutputTokens
	}
	if call.MaxOutput <= 0 {
		return model.Answer{}, c.cfg.Invalid(model.ClassInvalid, errNoCap)
	}
	x := c.transport.Begin(ctx, c.cfg.Timeouts)
	defer x.End()
	opts := append(credential(key), option.WithHTTPClient(x))
	params, size := c.params(call)
	// The library builds and sends; the response is read from the exchange.
	x.Refused(c.service.NewStreaming(x.Context(), params, opts...).Err())
	d := &decoder{progress: call.Progress}
	x.Read(d)

	e := x.Evidence()
	d.describe(&e)
	e.Candidate, e.Secrets, e.Window = c.cfg.ID, c.cfg.Secrets(key), c.cfg.ContextWindow
	e.InputTokens, e.InputBytes = call.InputTokens, size
	return model.Finish(e)
}

// credential sends an API key as x-api-key, which this API's imitators read as well; the library's
// own option would send it as a bearer token. Bearer is for OAuth tokens.
func credential(key string) []option.RequestOption {
	switch {
	case key == "":
		return nil
	case strings.HasPrefix(key, "sk-ant-oat"):
		return []option.RequestOption{option.WithAuthToken(key)}
	}
	return []option.RequestOption{option.WithHeader("X-Api-Key", key)}
}

// params builds the request, and says how many bytes of text it holds.
func (c *client) params(call model.Call) (sdk.MessageNewParams, int) {
	text := call.Request.UserText()
	p := sdk.MessageNewParams{
		Model:     sdk.Model(c.cfg.Model),
		MaxTokens: int64(call.MaxOutput),
		Messages:  []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(text))},
	}
	if call.Request.System != "" {
		p.System = []sdk.TextBlockParam{{Text: call.Request.System}}
	}
	switch call.Effort {
	case "":
	case "off":
		p.Thinking.OfDisabled = &sdk.ThinkingConfigDisabledParam{}
	case "minimal": // this API's lowest is low
		effort(&p, sdk.OutputConfigEffortLow)
	default:
		effort(&p, sdk.OutputConfigEffort(call.Effort))
	}
	return p, len(call.Request.System) + len(text)
}

func effort(p *sdk.MessageNewParams, level sdk.OutputConfigEffort) {
	p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{}
	p.OutputConfig.Effort = level
}
