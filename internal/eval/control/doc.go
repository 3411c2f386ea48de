// Package control holds summarisers with known behaviour (spec/gate §5e). They make the numbers of the
// measure trustworthy: a score must be 1 for the one that keeps everything, 0 for the one that keeps
// nothing, and exactly the known loss for those that lose a known share; the gate must let the first
// pass and stop the broken ones. They see nothing but the request, as a model would, and know which
// facts were planted.
//
// It may import fixture, transcript, contract, the gate's outline and the extractive summariser.
package control
