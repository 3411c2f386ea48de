// Package session understands agent session files as data: lines, entries, the tree they form, the
// active path, and the context a model would be sent (spec/sessions §1, spec/summary §1).
//
// Lines are read by Inspect, one strict pass that also takes what the index needs. An Indexer (or a
// store) makes a Log of them: the tree. BuildContext follows its active path and decodes what
// contributes, ToModel turns that into messages for a provider. Check tells everything that is wrong
// with a file. Files of version 1 and 2 are read through a Migration. New entries are made by the
// Build functions in the dialect of the agent that reads the session.
//
// It is pure: no I/O, no clock, no randomness. It may import only the standard library without I/O
// and gjson/sjson. Reading a stored body that is not in memory goes through the Bodies interface,
// which stores implement. Nothing in a file makes it panic.
package session
