package session

// Abandoned returns the entries that a move from one leaf to a target leaves behind, in order: those
// of the old path below the deepest entry that both paths share (spec/sessions §2.12, spec/summary
// §11.2). Compactions do not end the list. A nil old leaf leaves nothing behind; a nil target is the
// place before the first entry. A broken path of either is a *PathError.
func (l *Log) Abandoned(old, target *Entry) ([]*Entry, error) {
	path, err := l.PathTo(old)
	if err != nil || len(path) == 0 {
		return nil, err
	}
	to, err := l.PathTo(target)
	if err != nil {
		return nil, err
	}
	shared := 0
	for shared < len(path) && shared < len(to) && path[shared] == to[shared] {
		shared++
	}
	return path[shared:], nil
}
