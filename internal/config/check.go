package config

import (
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"recap/internal/contract"
)

func itoa(n int) string { return strconv.Itoa(n) }

var thinkingLevels = []string{"off", "minimal", "low", "medium", "high", "xhigh"}

// fill completes values that depend on others, and expands ~ in paths.
func (c *Config) fill(home string, p *problems) {
	c.DataDir = expand(c.DataDir, home)
	if c.Blob.Root == "" && c.DataDir != "" {
		c.Blob.Root = filepath.Join(c.DataDir, "blobs")
	}
	c.Blob.Root = expand(c.Blob.Root, home)
	for _, path := range []*string{&c.NATS.Credentials, &c.NATS.CA, &c.NATS.Cert, &c.NATS.Key} {
		*path = expand(*path, home)
	}
	stores := make(map[string]Store, len(c.Stores))
	for name, s := range c.Stores {
		s.Root = expand(s.Root, home)
		stores[name] = s
	}
	c.Stores = stores
	c.clampSettings()
	for i := range c.Models {
		c.Models[i].fill(home)
	}
}

func (m *Model) fill(home string) {
	m.APIKeyFile = expand(m.APIKeyFile, home)
	if m.Model == "" {
		_, m.Model, _ = strings.Cut(m.ID, "/")
	}
	if m.API == APIExtractive && m.ContextWindow == 0 {
		m.ContextWindow = ExtractiveWindow
	}
	if m.API == "openai-chat" && m.MaxTokensField == "" {
		m.MaxTokensField = "max_completion_tokens"
	}
	m.Timeouts = m.Timeouts.withDefaults()
}

var nameRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// check reports everything that is wrong with the merged configuration.
func (c *Config) check(p *problems) {
	bad := func(key, format string, args ...any) { p.addAt(c.where(key), key, format, args...) }

	if c.DataDir == "" {
		bad("dataDir", "is empty")
	}
	if !nameRule.MatchString(c.Tenant) {
		bad("tenant", "%q is no name: letters, digits, dot, underscore and dash, at most 63", c.Tenant)
	}
	c.checkStores(bad)
	c.checkModels(bad)
	c.checkCompaction(bad)
	c.checkServers(bad)

	c.checkSettings(bad)
	if c.Gate.MinSourceTokens < 1 {
		bad("gate.minSourceTokens", "must be at least 1, is %d", c.Gate.MinSourceTokens)
	}
	if c.Retry.MaxWait < 0 {
		bad("retry.maxWait", "must not be negative, is %s", c.Retry.MaxWait)
	}
	oneOf(bad, "blob.driver", c.Blob.Driver, "file")
	oneOf(bad, "log.level", c.Log.Level, "debug", "info", "warn", "error")
	oneOf(bad, "log.format", c.Log.Format, "text", "json")
}

type reporter func(key, format string, args ...any)

func oneOf(bad reporter, key, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		bad(key, "%q is unknown (known: %s)", value, strings.Join(allowed, ", "))
	}
}

func (c *Config) checkStores(bad reporter) {
	if len(c.Stores) == 0 {
		bad("stores", "no session store is configured")
	}
	for name, s := range c.Stores {
		key := "stores." + name
		if !nameRule.MatchString(name) {
			bad(key, "%q is no name: letters, digits, dot, underscore and dash, at most 63", name)
		}
		oneOf(bad, key+".driver", s.Driver, "jsonl")
		if s.Root == "" {
			bad(key+".root", "is missing")
		}
	}
}

func (c *Config) checkModels(bad reporter) {
	seen := map[string]int{}
	for i, m := range c.Models {
		key := "models[" + itoa(i) + "]"
		if provider, name, ok := strings.Cut(m.ID, "/"); !ok || provider == "" || name == "" {
			bad(key+".id", "%q is not of the form provider/model", m.ID)
		}
		if first, twice := seen[m.ID]; twice {
			bad(key+".id", "%s is configured already by models[%d]", m.ID, first)
		} else {
			seen[m.ID] = i
		}
		oneOf(bad, key+".api", m.API, APIs...)
		if m.API != APIExtractive {
			checkURL(bad, key+".baseUrl", m.BaseURL, "http", "https")
			if m.ContextWindow < 1 {
				bad(key+".contextWindow", "must be at least 1, is %d", m.ContextWindow)
			}
		}
		if m.MaxOutputTokens < 0 || m.ContextWindow > 0 && m.MaxOutputTokens >= m.ContextWindow {
			bad(key+".maxOutputTokens", "must be between 0 and the context window, is %d", m.MaxOutputTokens)
		}
		if m.APIKeyEnv != "" && m.APIKeyFile != "" {
			bad(key+".apiKeyFile", "apiKeyEnv is set too: keep one of them")
		}
		if m.MaxTokensField != "" {
			oneOf(bad, key+".maxTokensField", m.MaxTokensField, "max_completion_tokens", "max_tokens")
		}
		m.checkNumbers(bad, key)
	}
}

func (m Model) checkNumbers(bad reporter, key string) {
	for _, t := range []struct {
		name string
		d    time.Duration
	}{
		{"connect", m.Timeouts.Connect}, {"firstByte", m.Timeouts.FirstByte}, {"idle", m.Timeouts.Idle}, {"total", m.Timeouts.Total},
	} {
		if t.d < 0 {
			bad(key+".timeouts."+t.name, "must not be negative, is %s", t.d)
		}
	}
	for _, n := range []struct {
		name  string
		value float64
	}{
		{"input", m.Price.Input}, {"output", m.Price.Output}, {"cacheRead", m.Price.CacheRead}, {"cacheWrite", m.Price.CacheWrite},
	} {
		if !(n.value >= 0) {
			bad(key+".price."+n.name, "must not be negative, is %v", n.value)
		}
	}
}

func (c *Config) checkCompaction(bad reporter) {
	for _, id := range c.Compaction.Model {
		if _, ok := c.Model(id); !ok {
			bad("compaction.model", "%s is not configured under models", id)
		}
	}
	if len(c.Compaction.Model) == 0 && c.Compaction.ModelFallbackStrategy == contract.FallbackConfiguredOnly {
		bad("compaction.modelFallbackStrategy", "configured-only leaves nobody to ask: compaction.model names no configured candidate")
	}
	oneOf(bad, "compaction.fileList", c.Compaction.FileList, "tree", "flat")
	oneOf(bad, "compaction.thinkingLevel", c.Compaction.ThinkingLevel, thinkingLevels...)
	if c.Compaction.QuietFor <= 0 {
		bad("compaction.quietFor", "must be positive, is %s", c.Compaction.QuietFor)
	}
}

func (c *Config) checkServers(bad reporter) {
	if _, _, err := net.SplitHostPort(c.Temporal.Address); err != nil && !strings.Contains(c.Temporal.Address, "://") {
		bad("temporal.address", "%q is not host:port", c.Temporal.Address)
	}
	if c.Temporal.Namespace == "" {
		bad("temporal.namespace", "is empty")
	}
	for u := range strings.SplitSeq(c.NATS.URL, ",") {
		checkURL(bad, "nats.url", strings.TrimSpace(u), "nats", "tls", "ws", "wss")
	}
	if (c.NATS.Cert == "") != (c.NATS.Key == "") {
		bad("nats.cert", "nats.cert and nats.key go together: one of them is missing")
	}
	if c.NATS.MaxAge < time.Hour {
		bad("nats.maxAge", "must be at least 1h, is %s", c.NATS.MaxAge)
	}
	if c.NATS.Replicas < 1 || c.NATS.Replicas > 5 {
		bad("nats.replicas", "must be between 1 and 5, is %d", c.NATS.Replicas)
	}
	if c.Redis.URL != "" {
		checkURL(bad, "redis.url", c.Redis.URL, "redis", "rediss", "unix")
	}
	if c.Worker.MetricsAddress != "off" {
		if _, _, err := net.SplitHostPort(c.Worker.MetricsAddress); err != nil {
			bad("worker.metricsAddress", "%q is neither host:port nor off", c.Worker.MetricsAddress)
		}
	}
	if c.Worker.ModelCalls < 1 {
		bad("worker.modelCalls", "must be at least 1, is %d", c.Worker.ModelCalls)
	}
	if c.Worker.DrainTimeout <= 0 {
		bad("worker.drainTimeout", "must be positive, is %s", c.Worker.DrainTimeout)
	}
}

// checkURL checks a URL without ever repeating it whole: it may hold a password.
func checkURL(bad reporter, key, raw string, schemes ...string) {
	if raw == "" {
		bad(key, "is missing")
		return
	}
	u, err := url.Parse(raw)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Host == "" && u.Scheme != "unix" {
		bad(key, "is no URL of the form %s://host", schemes[0])
		return
	}
	if u.User != nil && schemes[0] == "http" {
		bad(key, "holds credentials: put the key into apiKeyEnv or apiKeyFile")
	}
}

// where is the place of the nearest key that has one.
func (c *Config) where(key string) Origin {
	for k := key; k != ""; {
		if o, ok := c.loaded.origins[k]; ok {
			return o
		}
		i := strings.LastIndexAny(k, ".[")
		if i < 0 {
			break
		}
		k = k[:i]
	}
	return Origin{Kind: FromDefault}
}
