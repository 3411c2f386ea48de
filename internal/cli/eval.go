package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"recap/internal/eval"
)

func (a *app) evalCommand() *cobra.Command {
	var o eval.Options
	var corpus string
	cmd := a.command("eval", "Measure offline what a compaction keeps and what the gate lets through",
		"Plays generated sessions with planted facts through planner, transcript and gate, with summarisers of\n"+
			"known behaviour in the place of a model, and judges labelled candidate summaries. Needs no server, no\n"+
			"network and no model, and says nothing about any model: each score is labelled with the summariser it\n"+
			"belongs to. Exits with 1 when a floor does not hold.",
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
			if corpus != "" {
				info, err := os.Stat(corpus)
				if err != nil {
					return usagef("--corpus: %w", err)
				}
				if !info.IsDir() {
					return usagef("--corpus %s is no folder", corpus)
				}
				o.Real = os.DirFS(corpus)
			}
			return a.eval(o)
		})
	cmd.Flags().StringVar(&corpus, "corpus", "", "also measure coverage on the session files of this `folder`")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "seed of the generated sessions")
	return cmd
}

// errFloors is told where the result is JSON and says nothing by itself.
var errFloors = errors.New("a floor of the measure does not hold")

func (a *app) eval(o eval.Options) error {
	o.Clock = a.now
	o.Progress = func(what string) { a.notef("measuring %s", what) }
	report, err := eval.Run(o)
	if err != nil {
		return err
	}
	result := struct {
		eval.Report
		Failed []string `json:"failed"`
	}{Report: report, Failed: report.Failed()}
	if result.Failed == nil {
		result.Failed = []string{}
	}
	var failed error
	if err := a.print(result, func(p *printer) { failed = report.WriteText(p.w) }); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("write the result: %w", failed)
	}
	if len(result.Failed) > 0 {
		return &exitError{code: exitFailed, err: errFloors}
	}
	return nil
}
