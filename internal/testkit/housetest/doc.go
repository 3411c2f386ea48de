// Package housetest checks the parts of the repository that no compiler reads: the compose stack
// against the configuration's defaults, the documents against the tree and the Makefile, the
// monitoring files against the metrics. Test-only; it has no code outside its tests.
package housetest
