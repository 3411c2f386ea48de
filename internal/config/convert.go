package config

import (
	"errors"
	"maps"
	"slices"

	"recap/internal/contract"
	"recap/internal/model"
)

// OperationSettings are the settings of an operation that asks for nothing else.
func (c *Config) OperationSettings() contract.Settings {
	s := c.Compaction.Settings()
	s.MinSourceTokens = c.Gate.MinSourceTokens
	return s
}

// Settings are these settings as an operation carries them; OperationSettings adds what lies in other
// sections. Switches that are on are left out: that
// is what being on looks like.
func (c Compaction) Settings() contract.Settings {
	s := contract.Settings{
		KeepRecentTokens: c.KeepRecentTokens,
		ReserveTokens:    c.ReserveTokens,
		Threshold:        c.Threshold,
		ThresholdFrom:    c.thresholdFrom,
		ThinkingLevel:    c.ThinkingLevel,
		QuietForMs:       c.QuietFor.Milliseconds(),

		Enabled:        onlyOff(c.Enabled),
		MidTurnEnabled: onlyOff(c.MidTurnEnabled),
		AutoContinue:   onlyOff(c.AutoContinue),
		SupersedeReads: onlyOff(c.SupersedeReads),
		DropUseless:    onlyOff(c.DropUseless),
		Remote:         onlyOff(c.Remote),

		ModelContextWindow: c.ModelContextWindow,
		HandoffSaveToDisk:  c.HandoffSaveToDisk,
		ReduceInPlace:      c.ReduceInPlace,
	}
	if c.FileList == "flat" {
		s.FileList = "flat"
	}
	if c.ModelFallbackStrategy != contract.FallbackAuto {
		s.ModelFallbackStrategy = c.ModelFallbackStrategy
	}
	if c.IdleEnabled && c.IdleThresholdTokens > 0 {
		s.IdleEnabled = true
		s.IdleThresholdTokens, s.IdleTimeoutSeconds = c.IdleThresholdTokens, c.IdleTimeoutSeconds
	}
	return s
}

func onlyOff(on bool) *bool {
	if on {
		return nil
	}
	return &on
}

// Contract is the retry policy as plans record it.
func (r Retry) Contract() contract.Retry {
	return contract.Retry{
		Enabled: r.Enabled, MaxRetries: r.MaxRetries, BaseDelayMs: r.BaseDelayMs, MaxWaitMs: r.MaxWait.Milliseconds(),
	}
}

// Model finds a candidate by its id. The extractive candidate is always there, configured or not.
func (c *Config) Model(id string) (Model, bool) {
	i := slices.IndexFunc(c.Models, func(m Model) bool { return m.ID == id })
	switch {
	case i >= 0:
		return c.Models[i], true
	case id == ExtractiveID:
		return extractive(), true
	}
	return Model{}, false
}

// Candidate is what a workflow may know of the model: no key, no URL, no header.
func (m Model) Candidate() contract.Candidate {
	return contract.Candidate{
		ID: m.ID, API: m.API, ContextWindow: m.ContextWindow, MaxOutputTokens: m.MaxOutputTokens, Effort: m.Effort,
		TotalTimeoutMs: m.Timeouts.withDefaults().Total.Milliseconds(),
	}
}

// Candidates are all candidates that can be asked: the configured ones in the order of the file, and
// the extractive one, which is asked only where it is named.
func (c *Config) Candidates() []contract.Candidate {
	list := make([]contract.Candidate, 0, len(c.Models)+1)
	named := false
	for _, m := range c.Models {
		list = append(list, m.Candidate())
		named = named || m.ID == ExtractiveID
	}
	if !named {
		list = append(list, extractive().Candidate())
	}
	return list
}

// Client is the configuration an adapter of m.API is built from. Its Key reads the variable or the
// file anew at each call, so a rotated key is picked up; a candidate without either has the key "".
func (c *Config) Client(m Model) model.Config {
	return model.Config{
		ID: m.ID, Model: m.Model, BaseURL: m.BaseURL, Key: c.keyOf(m), Headers: maps.Clone(m.Headers),
		ContextWindow: m.ContextWindow, MaxOutputTokens: m.MaxOutputTokens, MaxTokensField: m.MaxTokensField,
		Timeouts: model.Timeouts(m.Timeouts).WithDefaults(), Price: model.Price(m.Price),
	}
}

var errUnset = errors.New("is not set")

func (c *Config) keyOf(m Model) func() (string, error) {
	switch {
	case m.APIKeyFile != "":
		return func() (string, error) { return readSecret(m.APIKeyFile) }
	case m.APIKeyEnv != "":
		return func() (string, error) {
			if v, ok := c.lookupEnv(m.APIKeyEnv); ok && v != "" {
				return v, nil
			}
			if path, ok := c.lookupEnv(m.APIKeyEnv + "_FILE"); ok && path != "" {
				return readSecret(path)
			}
			return "", &SecretError{Env: m.APIKeyEnv, Err: errUnset}
		}
	}
	return func() (string, error) { return "", nil }
}

func (t Timeouts) withDefaults() Timeouts { return Timeouts(model.Timeouts(t).WithDefaults()) }

func extractive() Model {
	m := Model{ID: ExtractiveID, API: APIExtractive, ContextWindow: ExtractiveWindow}
	m.fill("")
	return m
}

// Embedded returns the configuration as the embedded stack runs it: with no candidate configured,
// the extractive one is asked, so that a first run needs no key (DESIGN §7). Temporal and
// NATS are those of the stack; a Temporal server that was configured already keeps its TLS and key.
func (c *Config) Embedded(temporalAddress, namespace, natsURL string) *Config {
	e := *c
	e.loaded.embedded = temporalAddress != c.Temporal.Address
	e.Temporal = Temporal{Address: temporalAddress, Namespace: namespace}
	e.NATS = NATS{URL: natsURL, MaxAge: c.NATS.MaxAge, Replicas: 1}
	if len(c.Models) == 0 {
		e.Compaction.Model = []string{ExtractiveID}
	}
	return &e
}
