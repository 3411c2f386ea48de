// Package labelled makes candidate summaries of which it is known whether they may replace history:
// half of them good, though often ugly, half of them bad in one of the ways of spec/gate §3. The gate is
// tuned on one half and reported on the other.
//
// It may import control, fixture, probe, compaction, transcript, contract, the gate and its outline.
package labelled
