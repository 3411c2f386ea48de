package deptest

// A set is a list of patterns: a pattern that ends in /... matches the path before it and everything
// below, a pattern that ends in /* everything below only; any other matches exactly.
type set []string

// Layers of the module, named as DESIGN §3 names them.
var (
	// pure packages: no I/O, no clock, no randomness. They decide; others act.
	pure = set{
		"internal/contract", "internal/session/...", "internal/tokens/...", "internal/compaction/...",
		"internal/verbatim/...", "internal/model/classify", "internal/sample/...",
	}
	ports = set{"internal/store", "internal/blob", "internal/model", "internal/event", "internal/hook"}

	// suites are the conformance suites of ports and other code for tests only.
	suites = set{
		"internal/testkit/...", "internal/store/storetest", "internal/blob/blobtest",
		"internal/model/modeltest", "internal/event/eventtest", "internal/hook/hooktest",
	}

	// shared sub-packages of ports are no adapters: adapters of the port build on them.
	shared = set{"internal/model/classify", "internal/model/wire"}

	// underPorts is everything below a port; without suites and shared these are the adapters.
	underPorts = set{"internal/store/*", "internal/blob/*", "internal/model/*", "internal/event/*", "internal/hook/*"}
)

// namers are the packages that may name an adapter, and which.
var namers = []struct {
	who, which set
	reason     string
}{
	{set{"workers", "internal/cli"}, underPorts, "they put the parts together"},
	{set{"internal/eval/..."}, set{"internal/model/extractive"}, "it measures the built-in summariser, which needs no network"},
}

// pureStd is the part of the standard library without I/O.
var pureStd = set{
	"bytes", "cmp", "container/...", "crypto/sha256", "embed", "encoding/...", "errors", "fmt", "hash/...", "html", "iter",
	"maps", "math", "math/big", "math/bits", "path", "regexp", "slices", "sort", "strconv", "strings", "sync/...",
	"text/template", "time", "unicode/...",
}

// pureLibs is the short list of libraries that pure packages may use.
var pureLibs = set{
	"github.com/tidwall/gjson", "github.com/tidwall/sjson", "github.com/rivo/uniseg", "github.com/yuin/goldmark/...",
	"golang.org/x/text/...",
}

// temporalWorkflow is what a workflow needs of the Temporal SDK.
var temporalWorkflow = set{"go.temporal.io/sdk/workflow", "go.temporal.io/sdk/temporal", "go.temporal.io/sdk/log", "go.temporal.io/api/..."}

// A rule limits what some packages may import. Allow lists everything permitted of one origin; nil
// means that the rule does not look at imports of that origin.
type rule struct {
	of     set // packages the rule is about
	except set // of these, not
	own    set // packages of this module they may import
	std    set // packages of the standard library
	libs   set // packages of other modules
	reason string
}

// rules are looked at for files that are not tests.
var rules = []rule{
	{
		of: set{"cmd/..."}, own: set{"internal/cli"}, libs: set{},
		reason: "a command only starts internal/cli and turns its result into an exit code",
	},
	{
		of: set{"internal/contract"}, own: set{}, std: pureStd, libs: set{},
		reason: "contract is the leaf every part shares; whatever it imports, all of them import",
	},
	{
		of: set{"internal/session/..."}, own: set{"internal/contract", "internal/session/..."},
		// runtime: how many cores may read; unsafe: a string over bytes that never change.
		std: concat(pureStd, set{"runtime", "unsafe"}), libs: pureLibs,
		reason: "sessions are plain data, the lowest pure package above contract",
	},
	{
		of: set{"internal/tokens/..."}, own: set{"internal/contract", "internal/session/..."}, std: pureStd, libs: pureLibs,
		reason: "pure packages import only pure packages below them",
	},
	{
		of:  set{"internal/compaction/...", "internal/verbatim/..."},
		own: set{"internal/contract", "internal/session/...", "internal/tokens/...", "internal/compaction/...", "prompts"}, std: pureStd, libs: pureLibs,
		reason: "compaction decides in pure code; activities do the reading and the asking",
	},
	{
		of: set{"internal/sample/..."}, own: set{"internal/contract", "internal/session/...", "internal/tokens/..."},
		std: concat(pureStd, set{"io", "math/rand/v2"}), libs: pureLibs,
		reason: "the sample generator is seeded: the same seed gives the same bytes",
	},
	{
		of: set{"prompts"}, own: set{}, std: pureStd, libs: set{},
		reason: "prompts are texts",
	},
	{
		of: set{"workflows/..."}, own: concat(set{"workflows/..."}, pure), std: pureStd, libs: temporalWorkflow,
		reason: "workflow code must be deterministic and free of side effects: it follows recorded decisions",
	},
	{
		of: set{"activities/..."}, own: concat(set{"activities/...", "prompts"}, pure, ports),
		libs:   concat(set{"go.temporal.io/sdk/...", "go.temporal.io/api/...", "golang.org/x/..."}, pureLibs),
		reason: "activities act through ports; which adapter is behind a port is decided in workers",
	},
	{
		of: ports, own: concat(pure, set{"internal/compaction/transcript"}), libs: pureLibs,
		reason: "a port is a promise in terms of pure types; it knows no implementation",
	},
	{
		of: set{"internal/client/...", "internal/config/...", "internal/telemetry/...", "internal/devstack/..."}, except: suites,
		own:    concat(set{"internal/client/...", "internal/config/...", "internal/telemetry/...", "internal/devstack/..."}, pure, ports),
		reason: "only workers and internal/cli name an adapter",
	},
}

// vendors says which packages may import a vendor's library: one place each, so that replacing it
// touches one folder. Looked at for files that are not tests.
var vendors = []struct {
	lib    set
	in     set
	reason string
}{
	{set{"github.com/anthropics/..."}, set{"internal/model/anthropic"}, "one adapter speaks to this provider"},
	{set{"github.com/openai/..."}, set{"internal/model/openaichat", "internal/model/openairesponses"}, "its adapters speak to this provider"},
	{set{"github.com/nats-io/nats-server/..."}, set{"internal/devstack/...", "internal/testkit/..."}, "the embedded stack runs the server; everything else talks to one"},
	{
		set{"github.com/nats-io/nats.go/..."},
		set{"internal/event/nats", "internal/hook/nats", "internal/client/service", "internal/cli", "internal/devstack/...", "workers", "internal/testkit/..."},
		"NATS is behind the event and hook ports; commands come over it, the command line watches it, the stacks connect it",
	},
	{set{"github.com/redis/..."}, set{"internal/store/redis", "internal/blob/redis", "workers"}, "Redis is behind the store and blob ports"},
	{set{"github.com/klauspost/compress/..."}, set{"internal/blob/file", "internal/blob/mem", "internal/blob/redis"}, "compression is the blob drivers' business"},
	{
		set{"github.com/prometheus/..."},
		set{"internal/telemetry/...", "internal/cli", "workers", "internal/testkit/..."},
		"metrics are declared in one place",
	},
	{set{"github.com/spf13/..."}, set{"internal/cli"}, "the command line is one package"},
	{set{"go.temporal.io/sdk/client", "go.temporal.io/sdk/worker"}, set{"workers", "internal/client", "internal/cli", "internal/config", "internal/devstack/...", "internal/telemetry/...", "internal/testkit/..."}, "clients and workers of Temporal are made by those who run them"},
	{
		set{"github.com/stretchr/testify/...", "github.com/google/go-cmp/...", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/rogpeppe/go-internal/..."},
		suites, "test libraries have no place in the programs",
	},
}

// calls are uses of single names that have no place in some packages, tests included where tests is
// set.
var calls = []struct {
	path   string
	names  set
	in     set // packages
	except set
	tests  bool
	reason string
}{
	{
		path: "time", names: set{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"},
		in: concat(pure, set{"workflows/..."}), reason: "time is an argument in pure code, and workflow.Now in workflows",
	},
	{
		path: "time", names: set{"Sleep"}, in: set{"..."}, tests: true,
		reason: "a sleep is a guess; wait on a condition, a channel or a timer raced with the context",
	},
	{
		path: "log/slog", names: set{"Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log", "DebugContext", "InfoContext", "WarnContext", "ErrorContext"},
		in: set{"..."}, except: set{"cmd/..."}, reason: "loggers are injected",
	},
	{
		path: "os", names: set{"Exit"}, in: set{"..."}, except: set{"cmd/...", "internal/testkit/..."},
		reason: "only a command ends the process: everything else must unwind, so that deferred closes run",
	},
}

func concat(sets ...set) set {
	var all set
	for _, s := range sets {
		all = append(all, s...)
	}
	return all
}
