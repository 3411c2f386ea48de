// Package selector is the grammar of what a read tool accepts behind a path to read only a part of it
// (spec/summary §8.1): a comma-separated list of line ranges (N, N-M, N+K, N-, N..M, N..; numbers may
// have a leading L), raw, conflicts, or a list of ranges and raw in either order. Letter case does not
// matter. Everything else behind a colon belongs to the path: members of archives (a.zip:dir/b.txt),
// tables of databases (app.db:users), drive letters.
//
// It is pure and imports the standard library only.
package selector

import "strings"

// Split parts a path and its selector; selector is "" when the path has none. It returns parts of path
// and loses at most the colon between them.
func Split(path string) (base, selector string) {
	at, kind := lastPart(path)
	if kind == none {
		return path, ""
	}
	if kind != conflicts {
		if before, other := lastPart(path[:at]); other != none && other != conflicts && other != kind {
			at = before
		}
	}
	return path[:at], path[at+1:]
}

// Strip returns a path without its selector.
func Strip(path string) string {
	base, _ := Split(path)
	return base
}

// part is a sort of selector part.
type part int

const (
	none part = iota
	ranges
	raw
	conflicts
)

// lastPart finds the colon before the last part of a path and what that part is.
func lastPart(path string) (colon int, kind part) {
	i := strings.LastIndexByte(path, ':')
	if i <= 0 {
		return -1, none
	}
	s := path[i+1:]
	switch {
	case strings.EqualFold(s, "raw"):
		return i, raw
	case strings.EqualFold(s, "conflicts"):
		return i, conflicts
	}
	for r := range strings.SplitSeq(s, ",") {
		if !isRange(r) {
			return -1, none
		}
	}
	return i, ranges
}

// isRange accepts n, n-, n-m, n..m, n.. and n+k.
func isRange(s string) bool {
	rest, ok := cutNumber(s)
	if !ok {
		return false
	}
	if rest == "" || rest == "-" || rest == ".." {
		return true
	}
	for _, between := range []string{"..", "-", "+"} {
		if after, ok := strings.CutPrefix(rest, between); ok {
			rest, ok = cutNumber(after)
			return ok && rest == ""
		}
	}
	return false
}

// cutNumber takes a line number off the start of s.
func cutNumber(s string) (rest string, ok bool) {
	if s != "" && (s[0] == 'L' || s[0] == 'l') {
		s = s[1:]
	}
	rest = strings.TrimLeft(s, "0123456789")
	return rest, len(rest) < len(s)
}
