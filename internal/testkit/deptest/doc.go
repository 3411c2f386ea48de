// Package deptest checks the layout rules of this module: which package may import what, and which
// calls have no place where (DESIGN §3). The rules are data in rules.go, each with the reason it
// exists; a violation names file, line, rule and reason. Test-only; it imports the standard library.
package deptest
