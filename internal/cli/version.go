package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker (see the Makefile); a plain `go build` leaves it.
var version = "dev"

// build describes the program.
type build struct {
	Program  string `json:"program"`
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func buildOf(program string) build {
	b := build{Program: program, Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (a *app) versionCommand() *cobra.Command {
	return a.command("version", "Print the version of the program", "", cobra.NoArgs, func(*cobra.Command, []string) error {
		b := buildOf(a.name)
		return a.print(b, func(p *printer) {
			p.line("%s %s (%s, %s)", b.Program, b.Version, b.Go, b.Platform)
		})
	})
}

// versionLine is what --version prints.
func versionLine(program string) string { return fmt.Sprintf("%s %s", program, version) }
