package session

import "bytes"

// Object is one JSON object of a session file, as far as the index needs to know it.
type Object struct {
	Raw    []byte // the object byte for byte; shares memory with the line
	Offset int    // bytes from the start of the line
	Type   string
	ID     string
	// ParentID is what the object hangs under, "" for a root. Of a TypeLeaf record it is the entry
	// that the record names.
	ParentID  string
	HasParent bool // the object has a parent key, null included
	Role      string
	Timestamp string
}

var bom = []byte{0xEF, 0xBB, 0xBF}

// Inspect reads all JSON objects of one physical line (spec/sessions §1.2, §6). The damage is "" for
// one object or a blank line, DamageGlued for several whole objects, and DamageUnparseable when the
// line, or what follows the objects returned, is none. Strings of the objects do not share memory
// with the line; Raw does.
func Inspect(line []byte) ([]Object, DamageKind) {
	return AppendObjects(nil, line)
}

// AppendObjects is Inspect for a caller that reuses the slice.
func AppendObjects(dst []Object, line []byte) ([]Object, DamageKind) {
	return new(Inspector).Append(dst, line)
}

// Inspector is Inspect for many lines: the strings of their objects share memory with each other. The
// zero value is ready; it is not safe for concurrent use.
type Inspector struct {
	scan  scan
	names Slab
}

// Append inspects the next line and appends its objects.
func (p *Inspector) Append(dst []Object, line []byte) ([]Object, DamageKind) {
	s := &p.scan
	s.line = line
	i := skipSpace(line, 0)
	if bytes.HasPrefix(line[i:], bom) {
		i = skipSpace(line, i+len(bom))
	}
	found := 0
	for i < len(line) {
		if line[i] != '{' {
			return dst, DamageUnparseable
		}
		s.fields = [fieldCount]span{}
		end, ok := s.object(i)
		if !ok {
			return dst, DamageUnparseable
		}
		dst = append(dst, s.taken(i, end, &p.names))
		found++
		i = skipSpace(line, end)
	}
	if found > 1 {
		return dst, DamageGlued
	}
	return dst, ""
}

// taken makes the Object of line[start:end].
func (s *scan) taken(start, end int, names *Slab) Object {
	o := Object{
		Raw:       s.line[start:end:end],
		Offset:    start,
		Type:      knownType(s.bytes(fieldType)),
		HasParent: s.fields[fieldParent].end != 0,
		Role:      knownRole(s.bytes(fieldRole)),
	}
	id, parent, at := s.bytes(fieldID), s.bytes(fieldParent), s.bytes(fieldTimestamp)
	if o.Type == TypeLeaf {
		if target := s.bytes(fieldTarget); len(target) > 0 {
			parent = target
		}
	}
	o.ID, o.ParentID, o.Timestamp = names.Copy(id), names.Copy(parent), names.Copy(at)
	return o
}

// knownType returns the string of a type without allocating for those that are frequent.
func knownType(b []byte) string {
	switch string(b) {
	case TypeMessage:
		return TypeMessage
	case TypeCustom:
		return TypeCustom
	case TypeCustomMessage:
		return TypeCustomMessage
	case TypeCompaction:
		return TypeCompaction
	case TypeBranchSummary:
		return TypeBranchSummary
	case TypeModelChange:
		return TypeModelChange
	case TypeThinkingLevel:
		return TypeThinkingLevel
	case TypeLabel:
		return TypeLabel
	}
	return string(b)
}

// knownRole does the same for roles.
func knownRole(b []byte) string {
	switch string(b) {
	case RoleUser:
		return RoleUser
	case RoleAssistant:
		return RoleAssistant
	case RoleToolResult:
		return RoleToolResult
	case RoleBashExecution:
		return RoleBashExecution
	case RoleCustom:
		return RoleCustom
	case RoleDeveloper:
		return RoleDeveloper
	}
	return string(b)
}

// Entry returns the index entry of an object that lies at a line and file offset. lineOffset is
// where its line starts.
func (o *Object) Entry(line int, lineOffset int64) Entry {
	e := Entry{
		ID: o.ID, ParentID: o.ParentID, Type: o.Type, Timestamp: o.Timestamp,
		NoParent: !o.HasParent && o.ParentID == "",
		Line:     line, Offset: lineOffset + int64(o.Offset), Length: len(o.Raw),
	}
	if o.Type == TypeMessage {
		e.Role = o.Role
	}
	return e
}
