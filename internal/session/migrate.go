package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/tidwall/sjson"
)

// CurrentVersion is the version of the format that needs no migration.
const CurrentVersion = 3

// Migration reads the entries of a version 1 or 2 file as version 3 (spec/sessions §1.4). Agents mint
// new random ids each time they migrate; here an id follows from line number and content, so that
// the same file always has the same ids. Add objects in file order, headers included; then Body
// gives their migrated bytes.
type Migration struct {
	version int
	ids     map[string]bool
	list    []string // id by position in the list of all objects, "" for a header
	last    string
}

// NewMigration starts the migration of a file of the given version. Versions from CurrentVersion on
// need none and are left as they are.
func NewMigration(version int) *Migration {
	return &Migration{version: version, ids: map[string]bool{}}
}

// Needed reports whether a file of the version changes at all.
func (m *Migration) Needed() bool { return m.version < CurrentVersion }

// Add takes the next object of the file and changes its id, parent and role to the migrated ones.
// The header and further headers are objects of the list too: version 1 counts them.
func (m *Migration) Add(o *Object, line int) {
	if !m.Needed() {
		return
	}
	if m.version < 2 {
		if o.Type == TypeHeader {
			m.list = append(m.list, "")
			return
		}
		o.ID, o.ParentID, o.HasParent = m.newID(o, line), m.last, true
		m.list = append(m.list, o.ID)
		m.last = o.ID
	}
	if o.Type == TypeMessage && o.Role == RoleHookMessage {
		o.Role = RoleCustom
	}
}

// newID returns the first free id of the SHA-256 sums of line, content and a counter.
func (m *Migration) newID(o *Object, line int) string {
	for n := 0; ; n++ {
		h := sha256.New()
		h.Write(strconv.AppendInt(nil, int64(line), 10))
		h.Write([]byte{'\n'})
		h.Write(o.Raw)
		if n > 0 {
			h.Write(strconv.AppendInt([]byte{'\n'}, int64(n), 10))
		}
		id := hex.EncodeToString(h.Sum(nil)[:4])
		if !m.ids[id] {
			m.ids[id] = true
			return id
		}
	}
}

// FirstKept returns the id at a position of the list of all objects, the header being 0, as
// firstKeptEntryIndex counts; "" for a header and outside the list.
//
// An agent counts what it holds in memory. Objects that share a line because a newline was lost were
// two entries there, so they count; a line that is no object does not. Where an agent read the file
// anew before it counted, it had dropped the shared line, and the entry meant is a later one than
// the one named here: more is kept, nothing is lost.
func (m *Migration) FirstKept(index int) string {
	if index < 0 || index >= len(m.list) {
		return ""
	}
	return m.list[index]
}

// Body returns the migrated bytes of an entry's stored object: its id and parent, a compaction's
// first kept entry, a renamed role. All other bytes stay as they are. Call it after every object was
// added. Of a current file the object is returned as it is.
func (m *Migration) Body(e *Entry, stored []byte) ([]byte, error) {
	if !m.Needed() {
		return stored, nil
	}
	out := stored
	var err error
	if m.version < 2 {
		if e.Type == TypeCompaction {
			if out, err = m.pointer(out); err != nil {
				return nil, m.fail(e, err)
			}
		}
		parent := []byte("null")
		if e.ParentID != "" {
			parent = quoted(e.ParentID)
		}
		if out, err = withKeys(out, member{"id", quoted(e.ID)}, member{"parentId", parent}); err != nil {
			return nil, m.fail(e, err)
		}
	}
	if e.Type == TypeMessage && e.Role == RoleCustom {
		if out, err = renameRole(out); err != nil {
			return nil, m.fail(e, err)
		}
	}
	return out, nil
}

// pointer replaces a numeric firstKeptEntryIndex by the id it means; an index of a header or outside
// the list is only removed.
func (m *Migration) pointer(stored []byte) ([]byte, error) {
	v, ok := object(stored)
	if !ok {
		return nil, errNotObject
	}
	index := number(get(v, "firstKeptEntryIndex"))
	if index == nil {
		return stored, nil
	}
	out, err := withoutKey(stored, "firstKeptEntryIndex")
	if err != nil {
		return nil, err
	}
	if id := m.FirstKept(*index); id != "" {
		return withKey(out, "firstKeptEntryId", quoted(id))
	}
	return out, nil
}

// renameRole gives a hookMessage its present name.
func renameRole(stored []byte) ([]byte, error) {
	v, ok := object(stored)
	if !ok {
		return nil, errNotObject
	}
	message := get(v, "message")
	if text(get(message, "role")) != RoleHookMessage {
		return stored, nil
	}
	renamed, err := withKey([]byte(message.Raw), "role", quoted(RoleCustom))
	if err != nil {
		return nil, err
	}
	return sjson.SetRawBytes(stored, "message", renamed)
}

func (m *Migration) fail(e *Entry, err error) error {
	return &EntryError{ID: e.ID, Line: e.Line, Msg: "cannot be migrated: " + err.Error()}
}

// MigrateHeader returns the header object with the current version, all other bytes as they are.
func MigrateHeader(stored []byte) ([]byte, error) {
	v, ok := object(stored)
	if !ok {
		return nil, errNotObject
	}
	if get(v, "version").Exists() {
		return sjson.SetBytes(stored, "version", CurrentVersion)
	}
	return withKey(bytes.Clone(stored), "version", []byte(strconv.Itoa(CurrentVersion)))
}

func quoted(s string) []byte {
	out, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`) // cannot happen: strings always marshal
	}
	return out
}
