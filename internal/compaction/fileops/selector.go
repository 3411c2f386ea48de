package fileops

import "recap/internal/compaction/reduce/selector"

// StripSelector removes the line and view selectors a read tool accepts at the end of a path (:50-200,
// :raw, :conflicts and the like; see selector). Members of archives and tables of databases
// (a.zip:b.txt, app.db:users) are part of the path.
func StripSelector(path string) string { return selector.Strip(path) }
