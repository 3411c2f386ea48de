package session

// Path returns the active path from its root to the leaf, empty for a log without entries. The walk
// is bounded: it returns a *PathError when a parent is missing or parents form a cycle, and no short
// path. The path of a Partial log starts at the first entry that was read.
func (l *Log) Path() ([]*Entry, error) {
	return l.PathTo(l.Leaf())
}

// PathTo is Path for any entry of the log as leaf; nil gives an empty path (before the first entry).
func (l *Log) PathTo(leaf *Entry) ([]*Entry, error) {
	if leaf == nil {
		return []*Entry{}, nil
	}
	if leaf.ID == "" {
		return nil, l.broken(&PathError{NoID: true, Line: leaf.Line}, leaf, nil)
	}
	seen := make([]uint64, (len(l.Entries)+63)/64)
	path := make([]*Entry, 0, len(l.Entries)) // mostly all of them
	for e, i := leaf, l.byID[leaf.ID]; ; {
		seen[i>>6] |= 1 << (i & 63)
		path = append(path, e)
		next, ok := l.byID[e.ParentID] // "" is no id
		if !ok && l.isRoot(e) {
			if l.parentAbsent(e) {
				return nil, l.broken(&PathError{NoParent: true, Child: e.ID, Line: e.Line}, e, seen)
			}
			break
		}
		if !ok {
			if l.Partial {
				break
			}
			return nil, l.broken(&PathError{ID: e.ParentID, Child: e.ID, Line: e.Line}, e, seen)
		}
		if seen[next>>6]&(1<<(next&63)) != 0 {
			return nil, l.broken(&PathError{Cycle: true, ID: e.ParentID, Child: e.ID, Line: e.Line}, e, seen)
		}
		e, i = &l.Entries[next], next
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path, nil
}

// isRoot reports whether an entry starts a tree. The OpenClaw family names the session itself as
// parent of the first entries.
func (l *Log) isRoot(e *Entry) bool {
	if e.ParentID == "" {
		return true
	}
	_, entry := l.byID[e.ParentID]
	return !entry && e.ParentID == l.Header.ID
}

// parentAbsent reports whether an entry that others stand before says nothing about its parent,
// not even null: its agent would start a new tree there and lose what stands before it.
func (l *Log) parentAbsent(e *Entry) bool {
	return e.NoParent && !l.Partial && len(l.Entries) > 0 && e != &l.Entries[0]
}

// broken counts what the walk cannot reach: the entries stored before the one where it stops that it
// has not visited. Which of them were on the path cannot be known.
func (l *Log) broken(err *PathError, stop *Entry, seen []uint64) *PathError {
	for i := range l.Entries {
		if &l.Entries[i] == stop {
			break
		}
		if seen == nil || seen[i>>6]&(1<<(i&63)) == 0 {
			err.Unreachable++
		}
	}
	return err
}
