// Command recap compacts agent sessions durably: see `recap help`.
package main

import (
	"os"

	"recap/internal/cli"
)

func main() { os.Exit(cli.Trigger()) }
