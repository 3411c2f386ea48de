package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"recap/internal/client"
	"recap/internal/contract"
)

// statusEvery is how often progress is asked for; nobody asks where nobody watches.
const statusEvery = 500 * time.Millisecond

// wait waits for the outcome and meanwhile draws what the run is doing, on a terminal only.
func (a *app) wait(ctx context.Context, l *link, accepted client.Accepted) (contract.Outcome, error) {
	if a.flags.quiet || !a.isTerminal(a.err) {
		return l.ops.Wait(ctx, accepted)
	}
	watching, stop := context.WithCancel(ctx)
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		a.drawProgress(watching, l, accepted)
	}()
	out, err := l.ops.Wait(ctx, accepted)
	stop()
	<-joined
	return out, err
}

// drawProgress draws until ctx ends. What cannot be asked is not drawn: progress is a courtesy.
func (a *app) drawProgress(ctx context.Context, l *link, accepted client.Accepted) {
	bar, started := spinner(a.err), a.now()
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	for {
		s, err := l.ops.Status(ctx, client.Name{WorkflowID: accepted.WorkflowID})
		if err == nil {
			elapsed := a.now().Sub(started).Round(time.Second)
			bar.Describe(fmt.Sprintf("%s, %s", progressText(s.Progress, a.now()), elapsed))
		}
		_ = bar.Add(1) // a bar that cannot be drawn is not worth an error
		select {
		case <-ctx.Done():
			_ = bar.Finish()
			return
		case <-tick.C:
		}
	}
}

func spinner(w io.Writer) *progressbar.ProgressBar {
	return progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionSetDescription("submitted"),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetElapsedTime(false),
	)
}

// progressText is one line about what a run is doing.
func progressText(s contract.Status, now time.Time) string {
	text := string(s.Phase)
	switch {
	case s.WaitingUntil > 0:
		until := time.UnixMilli(s.WaitingUntil)
		text = fmt.Sprintf("waiting until %s (%s left)", until.Format("15:04:05"), max(0, until.Sub(now)).Round(time.Second))
		if s.WaitingFor != "" {
			text += " because of " + s.WaitingFor
		}
	case s.Phase == contract.PhaseSummarizing && s.Candidate != "":
		text += " with " + s.Candidate
	}
	if s.Total > 0 {
		text += fmt.Sprintf(", %d of %d answers", s.Done, s.Total)
	}
	return text
}
