// Command gettemporal makes sure that a temporal program is on this machine, as the embedded stack
// would: one that is there already, the SDK's download, or one built into recap's cache. It is what
// `make tools` runs. It imports internal/devstack.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"recap/internal/devstack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	path, err := devstack.FindProgram(ctx, devstack.CacheDir(), os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, "temporal:", path)
}
