// Command recap-worker does the work of recap: it runs workflows and activities.
package main

import (
	"os"

	"recap/internal/cli"
)

func main() { os.Exit(cli.Worker()) }
