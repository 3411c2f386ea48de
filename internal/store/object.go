package store

import (
	"bytes"
	"errors"
	"fmt"

	"recap/internal/session"
)

// CheckEntry reports why raw cannot be stored as the entry of an id under a parent ("" for a root):
// it must be one JSON object, on one line, that says of itself what the caller says of it. Drivers
// check everything they are given to write: a session is never damaged by a bug elsewhere.
func CheckEntry(raw []byte, id, parentID string) error {
	o, err := CheckObject(raw)
	switch {
	case err != nil:
		return err
	case id == "" || o.ID != id:
		return fmt.Errorf("its id is %.40q, not %.40q", o.ID, id)
	case o.ParentID != parentID:
		return fmt.Errorf("its parent is %.40q, not %.40q", o.ParentID, parentID)
	}
	return nil
}

// CheckObject reads the one JSON object, without a newline, that raw must be.
func CheckObject(raw []byte) (session.Object, error) {
	if bytes.ContainsAny(raw, "\n\r") {
		return session.Object{}, errors.New("it is not on one line")
	}
	objs, damage := session.Inspect(raw)
	if damage != "" || len(objs) != 1 || len(objs[0].Raw) != len(raw) {
		return session.Object{}, errors.New("it is not one JSON object")
	}
	if objs[0].Type == "" {
		return session.Object{}, errors.New("it has no type")
	}
	return objs[0], nil
}

// Join makes the content of a new session: the header and the entries as lines. It reports what could
// not be read back: the header must be of the current version, and each entry one object with an id
// of its own under an entry before it, or a root.
func Join(header []byte, entries [][]byte) ([]byte, session.Header, error) {
	o, err := CheckObject(header)
	if err != nil {
		return nil, session.Header{}, fmt.Errorf("header: %w", err)
	}
	h, err := session.ParseHeader(&o)
	if err != nil {
		return nil, h, err
	}
	if h.Version < session.CurrentVersion {
		return nil, h, fmt.Errorf("header: a new session is of version %d, not %d", session.CurrentVersion, h.Version)
	}
	data := append([]byte(nil), header...)
	data = append(data, '\n')
	known := map[string]bool{"": true}
	for i, raw := range entries {
		o, err := CheckObject(raw)
		switch {
		case err != nil:
			return nil, h, fmt.Errorf("entry %d: %w", i+1, err)
		case o.ID == "" || known[o.ID]:
			return nil, h, fmt.Errorf("entry %d: its id %.40q is empty or was used before", i+1, o.ID)
		case !known[o.ParentID]:
			return nil, h, fmt.Errorf("entry %d: its parent %.40q is no entry before it", i+1, o.ParentID)
		}
		known[o.ID] = true
		data = append(append(data, raw...), '\n')
	}
	return data, h, nil
}
