// Package eval measures offline what a compaction keeps and what the gate lets through: no network, no
// model, the same numbers for the same seed (spec/gate §1, §5 to §7). It plays generated sessions with
// planted facts through the product's own planner, transcript, gate and entry builder, with control
// summarisers of known behaviour in the place of a model, and judges labelled candidate summaries.
//
// What it can say is that everything reaches the summariser, that nothing is covered twice or not at
// all, that the ledgers lose nothing, that broken answers are refused and good ones are not. What it
// cannot say is how well a model summarises; every score is therefore labelled with the summariser that
// it belongs to.
//
// It may import the pure packages, prompts, sample, the extractive summariser and its own sub-packages.
// Files and clock come in through Options.
package eval
