package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"recap/internal/telemetry"
)

// build describes the program.
type build struct {
	Program string `json:"program"`
	telemetry.Build
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	return a.command("version", "Print the version of the program", "", cobra.NoArgs, func(*cobra.Command, []string) error {
		b := build{Program: a.name, Build: telemetry.BuildInfo(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
		return a.print(b, func(p *printer) {
			p.line("%s %s (%s, %s)", b.Program, b.Version, b.Go, b.Platform)
		})
	})
}
