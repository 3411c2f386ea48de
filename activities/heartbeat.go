package activities

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
)

// beatEvery is a tenth of the heartbeat timeout: a beat is also how an activity learns that it was
// cancelled.
const beatEvery = 2 * time.Second

// beat heartbeats from a ticker until stop is called: a model may be silent for minutes before its
// first byte, and a big session takes seconds to read. progress (bytes, entries: the activity's own
// cursor, never text) goes into the heartbeat. stop joins the ticker. Outside of a worker, where a
// dry run plans, nobody listens and nothing is sent.
func beat(ctx context.Context, progress *atomic.Int64) (stop func()) {
	if !activity.IsActivity(ctx) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		ticker := time.NewTicker(beatEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				activity.RecordHeartbeat(ctx, progress.Load())
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}
