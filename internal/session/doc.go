// Package session understands agent session files as data: lines, entries, the tree they form, the
// active path, and the context a model would be sent (spec/sessions §1, spec/summary §1).
//
// It is pure: no I/O, no clock. It may import only the standard library without I/O and gjson/sjson.
// Reading a stored body that is not in memory goes through the Bodies interface, which stores
// implement.
package session
