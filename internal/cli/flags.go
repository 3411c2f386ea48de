package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"recap/internal/config"
	"recap/internal/telemetry"
)

// globalFlags are the flags that every command takes.
type globalFlags struct {
	output  string
	file    string
	set     []string
	agents  []string // settings files of agents
	quiet   bool
	verbose bool

	dataDir, tenant, address, namespace, natsURL string
}

func (g *globalFlags) register(fs *pflag.FlagSet) {
	fs.StringVarP(&g.output, "output", "o", "text", "what standard output holds: `text` or json")
	fs.StringVarP(&g.file, "config", "c", "", "configuration `file` (default recap.yaml, if there is one)")
	fs.StringArrayVar(&g.agents, "settings", nil, "settings `file` of an agent, below recap.yaml; may be repeated (settings)")
	fs.StringArrayVar(&g.set, "set", nil, "set any configuration `key=value`; may be repeated")
	fs.StringVar(&g.dataDir, "data-dir", "", "`folder` of the embedded stack and of blobs (dataDir)")
	fs.StringVar(&g.tenant, "tenant", "", "tenant of sessions named without one (tenant)")
	fs.StringVar(&g.address, "address", "", "Temporal server, `host:port` (temporal.address)")
	fs.StringVar(&g.namespace, "namespace", "", "Temporal namespace (temporal.namespace)")
	fs.StringVar(&g.natsURL, "nats-url", "", "NATS server `URL` (nats.url)")
	fs.BoolVarP(&g.quiet, "quiet", "q", false, "no remarks and no progress on standard error")
	fs.BoolVarP(&g.verbose, "verbose", "v", false, "log at level debug")
}

// check validates the flags that no configuration key stands for.
func (g *globalFlags) check() error {
	if g.output != "text" && g.output != "json" {
		return usagef("--output %q is unknown (text or json)", g.output)
	}
	return nil
}

// keys maps the flags that were given to configuration keys.
func (g *globalFlags) keys() (map[string]string, error) {
	keys := map[string]string{}
	for key, value := range map[string]string{
		"dataDir": g.dataDir, "tenant": g.tenant, "temporal.address": g.address,
		"temporal.namespace": g.namespace, "nats.url": g.natsURL, "settings": strings.Join(g.agents, ","),
	} {
		if value != "" {
			keys[key] = value
		}
	}
	for _, pair := range g.set {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, usagef("--set %q is not of the form key=value", pair)
		}
		keys[key] = value
	}
	return keys, nil
}

// config loads the effective configuration, and tells what was migrated or ignored on the way.
func (a *app) config() (*config.Config, error) {
	keys, err := a.flags.keys()
	if err != nil {
		return nil, err
	}
	src := config.Sources{File: a.flags.file, Flags: keys, LookupEnv: a.lookupEnv, Environ: os.Environ}
	cfg, err := config.Load(src)
	if err != nil {
		return nil, err
	}
	for _, note := range cfg.Notes() {
		a.notef("%s", note)
	}
	if unknown := cfg.UnknownSettings(); len(unknown) > 0 && a.flags.verbose {
		a.notef("settings that are not recap's: %s", strings.Join(unknown, ", "))
	}
	return cfg, nil
}

// logger makes the program's logger. Commands that end by themselves log warnings only, unless the
// level was chosen; those that stay (foreground) log as configured.
func (a *app) logger(cfg *config.Config, foreground bool) *slog.Logger {
	return a.loggerAt(cfg, foreground, "warn")
}

// sdkLogger is the logger of the Temporal SDK. In a command that ends by itself it tells of errors
// only: an SDK warns of polls that end because the command does.
func (a *app) sdkLogger(cfg *config.Config, foreground bool) *slog.Logger {
	return a.loggerAt(cfg, foreground, "error")
}

func (a *app) loggerAt(cfg *config.Config, foreground bool, brief string) *slog.Logger {
	level := cfg.Log.Level
	if !foreground && !chosen(cfg, "log.level") {
		level = brief
	}
	if a.flags.verbose {
		level = "debug"
	}
	log, err := telemetry.NewLogger(a.err, cfg.Log.Format, level)
	if err != nil { // Load has refused unknown levels and formats
		return slog.New(slog.NewTextHandler(a.err, nil))
	}
	return log
}

// chosen reports whether anything but the default gave a key its value.
func chosen(cfg *config.Config, key string) bool {
	for _, s := range cfg.Effective() {
		if s.Key == key {
			return s.Origin.Kind != config.FromDefault
		}
	}
	return false
}

// command makes a command that checks the shared flags before it runs. What fails before its own code
// begins, arguments and flags that do not parse, is a usage error.
func (a *app) command(use, short, long string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: strings.TrimSpace(short + "\n\n" + long),
		Args: func(cmd *cobra.Command, given []string) error {
			if err := args(cmd, given); err != nil {
				return fmt.Errorf("%w; usage: %s", err, cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, given []string) error {
			a.started = true
			if err := a.flags.check(); err != nil {
				return err
			}
			return run(cmd, given)
		},
		SilenceUsage: true, SilenceErrors: true, DisableFlagsInUseLine: true,
	}
}

// group makes a command that only holds others: naming none of them, or one it does not hold, is a
// usage error with a suggestion.
func (a *app) group(use, short, long string, children ...*cobra.Command) *cobra.Command {
	cmd := a.command(use, short, long, cobra.ArbitraryArgs, func(cmd *cobra.Command, given []string) error {
		if len(given) == 0 {
			return cmd.Help()
		}
		return unknownCommand(cmd, given[0])
	})
	cmd.AddCommand(children...)
	return cmd
}

func unknownCommand(cmd *cobra.Command, word string) error {
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		return usagef("unknown command %q; did you mean %q?", word, cmd.CommandPath()+" "+near[0])
	}
	return usagef("unknown command %q; see %s --help", word, cmd.CommandPath())
}

// isTerminal reports whether a stream is a terminal on which progress may be drawn.
func (a *app) isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	if kind, _ := a.lookupEnv("TERM"); kind == "dumb" {
		return false
	}
	return term.IsTerminal(int(f.Fd()))
}

// colours reports whether a stream may be coloured (https://no-color.org).
func (a *app) colours(w io.Writer) bool {
	if v, ok := a.lookupEnv("NO_COLOR"); ok && v != "" {
		return false
	}
	return a.isTerminal(w)
}
