// Package probe asks a compacted session what it still knows, without a model (spec/gate §5). A probe
// is one planted fact with the forms in which it counts as remembered and the forms in which it counts
// as changed; a view is the text an agent would see; the answer is one of five states, and answers add
// up to a score. The matcher's normaliser (Normalize) is exported, because what counts as the same fact
// is part of the measure.
//
// It is pure, and may import the gate's outline, fileops' text form by reading it, and x/text.
package probe
