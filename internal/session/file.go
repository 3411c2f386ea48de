package session

import "bytes"

// File is a whole session file in memory. It implements Bodies.
type File struct {
	Log       *Log
	Dialect   Dialect
	Migration *Migration
	// Torn says that the last line has no newline at its end.
	Torn bool
	data []byte
}

// Parse reads a whole session file from memory. Damage is in Log.Report (see Check for what needs
// bodies), not an error. A file without a session header is a *NotSessionError. The file keeps data;
// do not change it afterwards.
func Parse(data []byte) (*File, error) {
	x := Indexer{}
	for offset := 0; offset < len(data); {
		end := bytes.IndexByte(data[offset:], '\n')
		whole := end >= 0
		if !whole {
			end = len(data) - offset
		}
		if err := x.Line(data[offset:offset+end], int64(offset), whole); err != nil {
			return nil, err
		}
		offset += end + 1
	}
	log, err := x.Log()
	if err != nil {
		return nil, err
	}
	return &File{
		Log: log, Dialect: log.Report.Dialect, Migration: x.migration, data: data,
		Torn: len(data) > 0 && data[len(data)-1] != '\n',
	}, nil
}

// Body returns the stored object of an entry, migrated where the file is of an old version.
func (f *File) Body(e *Entry) ([]byte, error) {
	end := e.Offset + int64(e.Length)
	if e.Offset < 0 || e.Length < 0 || end > int64(len(f.data)) {
		return nil, &EntryError{ID: e.ID, Line: e.Line, Msg: "lies outside the file"}
	}
	return f.Migration.Body(e, f.data[e.Offset:end:end])
}

// Indexer makes a Log from the physical lines of a file, in file order. The zero value is ready.
type Indexer struct {
	header    *Header
	entries   []Entry
	report    Report
	signals   Signals
	migration *Migration
	line      int
	inspector Inspector
	objects   []Object // space for the objects of one line
}

// Line takes the next physical line, without its newline; whole says that it had one. The error is a
// *NotSessionError, as soon as it is known that the file is no session. The line may be reused.
func (x *Indexer) Line(line []byte, offset int64, whole bool) error {
	x.line++
	var kind DamageKind
	x.objects, kind = x.inspector.Append(x.objects[:0], line)
	if x.header == nil && len(x.objects) == 0 && kind != "" {
		return Refuse(line, nil)
	}
	for i := range x.objects {
		if err := x.object(&x.objects[i], offset); err != nil {
			return err
		}
	}
	if kind != "" {
		x.report.Damage = append(x.report.Damage, DamagedLine(line, x.line, offset, kind, whole))
	}
	return nil
}

func (x *Indexer) object(o *Object, offset int64) error {
	x.signals |= o.Signals()
	if x.header == nil {
		if o.IsTitle() {
			return nil
		}
		h, err := ParseHeader(o)
		if err != nil {
			return err
		}
		x.header, x.migration = &h, NewMigration(h.Version)
		x.migration.Add(o, x.line)
		return nil
	}
	x.migration.Add(o, x.line)
	if o.Type == TypeHeader {
		x.report.Damage = append(x.report.Damage, Damage{
			Kind: DamageSecondHeader, Line: x.line, Offset: offset + int64(o.Offset), Length: len(o.Raw), ID: o.ID,
			Detail: "a second session header; it is kept and ignored",
		})
		return nil
	}
	x.entries = append(x.entries, o.Entry(x.line, offset))
	return nil
}

// Log returns the log of all lines. The error is a *NotSessionError.
func (x *Indexer) Log() (*Log, error) {
	if x.header == nil {
		return nil, Refuse(nil, nil)
	}
	x.report.Version = x.header.Version
	x.report.Dialect = x.signals.Dialect()
	x.report.Entries = len(x.entries)
	x.report.Complete = true
	return NewLog(*x.header, x.entries, x.report), nil
}
