package fileops

import "strings"

// StripSelector removes the line and view selectors a read tool accepts at the end of a path: :50,
// :50-, :50-200, :50..200, :50+150, comma-separated lists of these, :raw, :conflicts, and chains of
// them. Members of archives and tables of databases (a.zip:b.txt, app.db:users) are part of the path.
func StripSelector(path string) string {
	for {
		i := strings.LastIndexByte(path, ':')
		if i <= 0 || !isSelector(path[i+1:]) {
			return path
		}
		path = path[:i]
	}
}

func isSelector(s string) bool {
	if s == "raw" || s == "conflicts" {
		return true
	}
	for part := range strings.SplitSeq(s, ",") {
		if !isRange(part) {
			return false
		}
	}
	return true
}

// isRange accepts n, n-, n-m, n..m, n.. and n+m.
func isRange(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	if rest == s {
		return false
	}
	for _, sep := range []string{"..", "-", "+"} {
		if after, ok := strings.CutPrefix(rest, sep); ok {
			return strings.Trim(after, "0123456789") == "" && (after != "" || sep != "+")
		}
	}
	return rest == ""
}
