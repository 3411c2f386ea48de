package cli

import (
	"github.com/spf13/cobra"

	"recap/internal/telemetry"
)

// triggerTree is the command tree of `recap`.
func triggerTree(a *app) *cobra.Command {
	root := a.group("recap", "Durable compaction of agent sessions",
		"A session is named by its id in a configured store, or by a path. Try `recap demo` first: it needs\n"+
			"no key and no server.\n\n"+exitCodeHelp,
		a.demoCommand(), a.devCommand(),
		a.compactCommand(), a.contextCommand(), a.evalCommand(),
		a.statusCommand(), a.watchCommand(), a.listCommand(), a.explainCommand(), a.retryCommand(), a.cancelCommand(),
		a.group("session", "Look at session files", "", a.checkCommand(), a.migrateCommand()),
		a.configCommand(), a.versionCommand(),
	)
	root.Version = telemetry.Version()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	a.flags.register(root.PersistentFlags())
	return root
}

// workerTree is the command tree of `recap-worker`.
func workerTree(a *app) *cobra.Command {
	root := a.group("recap-worker", "The worker of recap: runs compactions for everyone who asks",
		"The first interrupt drains: no new work is taken and what runs may finish. The second quits.\n\n"+exitCodeHelp,
		a.runCommand(), a.healthcheckCommand(), a.configCommand(), a.versionCommand(),
	)
	root.Version = telemetry.Version()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	a.flags.register(root.PersistentFlags())
	return root
}

const exitCodeHelp = `Exit codes:
    0  done, or nothing to do
    1  failed
    2  usage or configuration
    3  rejected by the gate; the history stays
    4  nothing to do, with --fail-on-noop
    5  not found
    6  stale, or an agent may have the session open
    7  part of a batch failed
   75  needs an operator, or a server is away
   77  credentials
  124  timed out waiting; the work goes on
  130  interrupted`
