// Package reduce frees context without a model (spec/summary §8, §3.10, §4.6): stale and useless tool
// results, old ones, repeated ones, heavy blocks, the middles of long texts, images, and outputs that
// keep a kept tail over its budget.
//
// Everything here is a decision, not an act. Read decodes the live tail of a session once: the entries
// from the effective compaction's first kept one to the leaf, and nothing before, whatever lies there.
// The methods of Tail are the reducers; each returns a Pass, the list of its decisions with the
// original texts that an artifact should keep. Tail.After is the tail as it is once a pass was made, so
// reducers can be chained. A Decision is made on a stored object (Decision.Body, Replacements) and on a
// live message (Decision.Message, Live) with equal results, and refuses to be made on a message other
// than the one it was decided for.
//
// Rules that hold for every reducer: a call and its result are never separated, because nothing is
// removed but text and images; thinking, tool calls and signed text are never touched; a result that
// was pruned is never looked at again; a second pass over the result of a first one decides nothing.
//
// The package is pure: no I/O, no clock. It may import session, tokens, its own sub-packages, gjson and
// the standard library.
package reduce
