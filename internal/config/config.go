package config

import (
	"time"

	"recap/internal/contract"
)

// Config is the whole configuration, checked and with defaults filled in. The yaml tag of a field
// is its key in recap.yaml; its dotted path is its flag name in Sources.Flags and, in upper snake
// case behind RECAP_, its environment variable (see EnvName). The doc tag is what the reference
// prints.
type Config struct {
	DataDir    string           `yaml:"dataDir" doc:"folder of the embedded stack, and of blobs unless blob.root says otherwise; like every relative path, relative to the working folder"`
	Settings   []string         `yaml:"settings" doc:"settings files of an agent (settings.json of pi, config.yml of oh-my-pi), the later over the earlier; what is set here, in the environment or by flag beats them"`
	Tenant     string           `yaml:"tenant" doc:"tenant of sessions that are named without one"`
	Stores     map[string]Store `yaml:"stores" doc:"session stores by name"`
	Models     []Model          `yaml:"models" doc:"model candidates"`
	Compaction Compaction       `yaml:"compaction"`
	Retry      Retry            `yaml:"retry"`

	BranchSummary    BranchSummary    `yaml:"branchSummary"`
	ContextPromotion ContextPromotion `yaml:"contextPromotion"`
	Display          Display          `yaml:"display"`

	Gate     Gate     `yaml:"gate"`
	Blob     Blob     `yaml:"blob"`
	Temporal Temporal `yaml:"temporal"`
	NATS     NATS     `yaml:"nats"`
	Redis    Redis    `yaml:"redis"`
	Worker   Worker   `yaml:"worker"`
	Log      Log      `yaml:"log"`

	loaded loaded
}

// Store is one session store.
type Store struct {
	Driver string `yaml:"driver" doc:"how sessions are stored: jsonl"`
	Root   string `yaml:"root" doc:"folder that holds the sessions; recap never writes outside it"`
}

// Model is one model candidate. Token counts are the operator's declared limits and beat what a
// provider claims.
type Model struct {
	ID              string            `yaml:"id" doc:"provider/model, the name everything else uses"`
	API             string            `yaml:"api" doc:"openai-chat, anthropic-messages or extractive"`
	BaseURL         string            `yaml:"baseUrl" doc:"where requests go"`
	Model           string            `yaml:"model" doc:"name the API is sent; default: the id after its first slash"`
	APIKeyEnv       string            `yaml:"apiKeyEnv" doc:"environment variable that holds the key (or, with _FILE behind its name, the path of a file with the key)"`
	APIKeyFile      string            `yaml:"apiKeyFile" doc:"file that holds the key"`
	ContextWindow   int               `yaml:"contextWindow" doc:"tokens"`
	MaxOutputTokens int               `yaml:"maxOutputTokens" doc:"tokens; 0 = no cap of its own"`
	MaxTokensField  string            `yaml:"maxTokensField" doc:"openai-chat: max_completion_tokens or max_tokens"`
	Effort          string            `yaml:"effort" doc:"reasoning effort asked of this candidate; empty = none is asked, for models without that control"`
	Headers         map[string]string `yaml:"headers" doc:"extra request headers" secret:"values"`
	Timeouts        Timeouts          `yaml:"timeouts"`
	Price           Price             `yaml:"price"`
}

// Timeouts are the four limits of one model request.
type Timeouts struct {
	Connect   time.Duration `yaml:"connect" doc:"until the connection stands (10s)"`
	FirstByte time.Duration `yaml:"firstByte" doc:"until the first event or body byte of the answer (2m)"`
	Idle      time.Duration `yaml:"idle" doc:"between events of a streamed answer (1m)"`
	Total     time.Duration `yaml:"total" doc:"for the whole request (15m)"`
}

// Price is in US dollars per million tokens.
type Price struct {
	Input      float64 `yaml:"input" doc:"US dollars per million input tokens"`
	Output     float64 `yaml:"output" doc:"US dollars per million output tokens"`
	CacheRead  float64 `yaml:"cacheRead" doc:"US dollars per million tokens read from the provider's cache"`
	CacheWrite float64 `yaml:"cacheWrite" doc:"US dollars per million tokens written to the provider's cache"`
}

// Compaction holds the compaction settings under the reference agents' names. A field without a doc
// tag is one of theirs: settings.Table says what it means, its default and its range.
type Compaction struct {
	Enabled               bool          `yaml:"enabled"`
	Strategy              string        `yaml:"strategy"`
	Model                 []string      `yaml:"model"`
	ModelContextWindow    int           `yaml:"modelContextWindow"`
	ModelFallbackStrategy string        `yaml:"modelFallbackStrategy"`
	KeepRecentTokens      int           `yaml:"keepRecentTokens"`
	ReserveTokens         *int          `yaml:"reserveTokens"`
	Threshold             string        `yaml:"threshold"`
	MidTurnEnabled        bool          `yaml:"midTurnEnabled"`
	AutoContinue          bool          `yaml:"autoContinue"`
	SupersedeReads        bool          `yaml:"supersedeReads"`
	DropUseless           bool          `yaml:"dropUseless"`
	Remote                bool          `yaml:"remote"`
	RemoteEndpoint        string        `yaml:"remoteEndpoint" secret:"url"`
	HandoffSaveToDisk     bool          `yaml:"handoffSaveToDisk"`
	IdleEnabled           bool          `yaml:"idleEnabled"`
	IdleThresholdTokens   int           `yaml:"idleThresholdTokens"`
	IdleTimeoutSeconds    int           `yaml:"idleTimeoutSeconds"`
	FileList              string        `yaml:"fileList" doc:"how touched files are listed: tree or flat"`
	ThinkingLevel         string        `yaml:"thinkingLevel" doc:"off = ask candidates that declare an effort for none; any other value leaves them theirs"`
	QuietFor              time.Duration `yaml:"quietFor" doc:"silence needed before recap writes beside a writer it knows nothing of"`

	ReduceInPlace bool `yaml:"reduceInPlace" doc:"whether a commit may also rewrite entries it keeps, with a backup beside the session: outputs that are stale, repeated, or keep the kept tail over its budget"`

	thresholdFrom string // the retired key Threshold was read from
}

// Retry is the retry policy of one candidate (DESIGN §7).
type Retry struct {
	Enabled     bool          `yaml:"enabled"`
	MaxRetries  int           `yaml:"maxRetries"`
	BaseDelayMs int64         `yaml:"baseDelayMs"`
	MaxDelayMs  int64         `yaml:"maxDelayMs"`
	MaxWait     time.Duration `yaml:"maxWait" doc:"longest durable wait before an operator is needed"`
}

// BranchSummary says whether and how an abandoned branch is summarised.
type BranchSummary struct {
	Enabled       bool `yaml:"enabled"`
	ReserveTokens int  `yaml:"reserveTokens"`
}

// ContextPromotion says whether a larger window is tried before compaction.
type ContextPromotion struct {
	Enabled bool `yaml:"enabled"`
}

// Display says how a compacted session is shown.
type Display struct {
	CollapseCompacted bool `yaml:"collapseCompacted"`
}

// Gate configures the checks a summary has to pass (spec/gate).
type Gate struct {
	MinSourceTokens int `yaml:"minSourceTokens" doc:"size of the summarised history, in tokens, under which the checks of sections, size and echo are off"`
}

// Blob says where plans, answers and receipts are stored.
type Blob struct {
	Driver string `yaml:"driver" doc:"how blobs are stored: file"`
	Root   string `yaml:"root" doc:"folder of the blobs; default: blobs in dataDir"`
}

// Temporal says which Temporal server to use. TLS, API key, metadata and profiles come from
// Temporal's own variables and its configuration file (spec/conventions §2a).
type Temporal struct {
	Address   string `yaml:"address" env:"TEMPORAL_ADDRESS" doc:"host:port of the Temporal server"`
	Namespace string `yaml:"namespace" env:"TEMPORAL_NAMESPACE" doc:"namespace on the Temporal server"`
}

// NATS says which NATS server carries events and what the event stream keeps.
type NATS struct {
	URL         string        `yaml:"url" env:"NATS_URL" secret:"url" doc:"URLs of the NATS servers, separated by commas"`
	Credentials string        `yaml:"credentials" doc:"credentials file (.creds)"`
	CA          string        `yaml:"ca" doc:"file with the CA certificates that verify the server"`
	Cert        string        `yaml:"cert" doc:"file with the client certificate"`
	Key         string        `yaml:"key" doc:"file with the client key"`
	MaxAge      time.Duration `yaml:"maxAge" doc:"how long the stream keeps events"`
	Replicas    int           `yaml:"replicas" doc:"copies of the stream in a NATS cluster"`
}

// Redis says which Redis server the redis drivers use.
type Redis struct {
	URL string `yaml:"url" env:"REDIS_URL" secret:"url" doc:"URL of the Redis server"`
}

// Worker configures the worker process.
type Worker struct {
	MetricsAddress string        `yaml:"metricsAddress" doc:"host:port that serves /metrics, /healthz and /readyz; off = none"`
	ModelCalls     int           `yaml:"modelCalls" doc:"model requests that may run at once in this process"`
	DrainTimeout   time.Duration `yaml:"drainTimeout" doc:"how long a first signal lets running activities finish"`
}

// Log configures the log on standard error.
type Log struct {
	Level  string `yaml:"level" doc:"debug, info, warn or error"`
	Format string `yaml:"format" doc:"text or json"`
}

// Default values.
const (
	DefaultDataDir           = ".recap"
	DefaultTenant            = "default"
	DefaultStore             = "local"
	DefaultStoreRoot         = "~/.pi/agent/sessions"
	DefaultTemporalAddress   = "127.0.0.1:7233"
	DefaultTemporalNamespace = "default"
	DefaultNATSURL           = "nats://127.0.0.1:4222"
	DefaultMetricsAddress    = "127.0.0.1:9464"
	DefaultFile              = "recap.yaml"
)

// APIs lists the APIs a candidate can have.
var APIs = []string{"openai-chat", "anthropic-messages", APIExtractive}

const (
	// APIExtractive is the built-in API that needs no network and no key.
	APIExtractive = "extractive"
	// ExtractiveID is the candidate that may be named without any entry in models.
	ExtractiveID = "recap/extractive"
	// ExtractiveWindow is the context window of the extractive candidate in tokens: it reads blocks,
	// not a prompt, so anything fits.
	ExtractiveWindow = 1 << 40
)

// Default returns the configuration that nothing has changed, before paths are expanded.
func Default() *Config {
	c := &Config{
		DataDir: DefaultDataDir,
		Tenant:  DefaultTenant,
		Stores:  map[string]Store{DefaultStore: {Driver: "jsonl", Root: DefaultStoreRoot}},
		Compaction: Compaction{
			FileList:      "tree",
			ThinkingLevel: "high",
			QuietFor:      10 * time.Minute,
		},
		Retry:    Retry{MaxWait: 6 * time.Hour},
		Gate:     Gate{MinSourceTokens: contract.DefaultMinSourceTokens},
		Blob:     Blob{Driver: "file"},
		Temporal: Temporal{Address: DefaultTemporalAddress, Namespace: DefaultTemporalNamespace},
		NATS:     NATS{URL: DefaultNATSURL, MaxAge: 30 * 24 * time.Hour, Replicas: 1},
		Worker:   Worker{MetricsAddress: DefaultMetricsAddress, ModelCalls: 8, DrainTimeout: 30 * time.Second},
		Log:      Log{Level: "info", Format: "text"},
	}
	c.setDefaults()
	return c
}
