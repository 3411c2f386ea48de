// Package cli is the command line of both programs: `recap` for people, agents and schedulers, and
// `recap-worker` for the process that does the work (DESIGN §9). It parses, connects, prints and
// turns the result into an exit code; what an operation does is decided elsewhere.
//
// Standard output is data, standard error is everything else. The package may import everything of
// this module except test helpers; only the commands import it.
package cli
