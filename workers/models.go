package workers

import (
	"fmt"
	"sync"

	"recap/activities"
	"recap/internal/config"
	"recap/internal/model"
	"recap/internal/model/anthropic"
	"recap/internal/model/extractive"
	"recap/internal/model/openaichat"
)

// adapters are the constructors of the APIs a candidate can have.
var adapters = map[string]func(model.Config) (model.Client, error){
	"openai-chat":        openaichat.New,
	"anthropic-messages": anthropic.New,
	config.APIExtractive: extractive.New,
}

// clients builds the client of each candidate once.
type clients struct {
	config *config.Config

	mu    sync.Mutex
	built map[string]model.Client
}

// Client implements activities.Clients.
func (c *clients) Client(id string) (model.Client, model.Price, error) {
	m, ok := c.config.Model(id)
	if !ok {
		return nil, model.Price{}, fmt.Errorf("model %s is not configured on this worker", id)
	}
	settings := c.config.Client(m)
	c.mu.Lock()
	defer c.mu.Unlock()
	if client, ok := c.built[id]; ok {
		return client, settings.Price, nil
	}
	build, ok := adapters[m.API]
	if !ok {
		return nil, model.Price{}, fmt.Errorf("model %s: api %s is not known to this worker", id, m.API)
	}
	client, err := build(settings)
	if err != nil {
		return nil, model.Price{}, fmt.Errorf("model %s: %w", id, err)
	}
	c.built[id] = client
	return client, settings.Price, nil
}

// catalog is what planning knows of the configured candidates.
func catalog(c *config.Config) activities.Catalog {
	return activities.Catalog{Candidates: c.Candidates(), Chain: c.Compaction.Model, Retry: c.Retry.Contract()}
}
