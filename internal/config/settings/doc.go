// Package settings knows the compaction settings of the reference agents (spec/summary §12.4 to
// §12.6): every key with its type, default, range and meaning, in one table that recap.yaml is
// checked against too; the keys and strategies that were retired, with what became of them; and the
// agents' own settings files, which it reads and never writes.
//
// What a file holds beside these keys is the agent's own business: it is listed, not refused. Retired
// spellings are migrated in memory, and every such step is told as a Note.
//
// The package may import pure packages and the YAML parser. It reads the files it is given and
// nothing else.
package settings
