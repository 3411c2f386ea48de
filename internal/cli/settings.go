package cli

import (
	"github.com/spf13/cobra"

	"recap/internal/config"
)

func (a *app) configCommand() *cobra.Command {
	return a.command("config", "Print the effective configuration and where each value comes from",
		"Precedence: flag, environment, file, default. Secrets are masked. Unknown keys are errors; all\n"+
			"problems are reported together.", cobra.NoArgs,
		func(*cobra.Command, []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			list := cfg.Effective()
			return a.print(list, func(p *printer) { settingLines(p, list) })
		})
}

func settingLines(p *printer, list []config.Setting) {
	width := 0
	for _, s := range list {
		width = max(width, len(s.Key))
	}
	for _, s := range list {
		value := s.Value
		if value == "" {
			value = `""`
		}
		p.line("%-*s  %-30s  %s", width, s.Key, printable(value), s.Origin)
	}
}
