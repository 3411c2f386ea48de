package jsonl

import (
	"os"
	"time"

	"recap/internal/session"
	"recap/internal/store"
)

// snapshot is a session as it was when it was loaded. It keeps the file open: what was read stays
// readable when the file grows, is replaced or is removed.
type snapshot struct {
	id    string
	file  *os.File
	batch int // bytes that one worker parses at a time
	state state
	head  head
	log   *session.Log
	old   *session.Migration // of a file of version 1 or 2, else nil
}

func (s *snapshot) Log() *session.Log        { return s.log }
func (s *snapshot) Revision() store.Revision { return s.state.revision() }
func (s *snapshot) Dialect() session.Dialect { return s.log.Report.Dialect }
func (s *snapshot) LastWrite() time.Time     { return s.state.written }
func (s *snapshot) Size() int64              { return s.state.size }
func (s *snapshot) Close() error             { return s.file.Close() }

// Body implements session.Bodies.
func (s *snapshot) Body(e *session.Entry) ([]byte, error) {
	if e.Offset < 0 || e.Length < 0 || e.Offset+int64(e.Length) > s.state.size {
		return nil, fail(store.KindIO, s.id, nil, "entry %s does not lie in the file it was read from", e.ID)
	}
	raw := make([]byte, e.Length)
	if err := readFull(s.file, raw, e.Offset); err != nil {
		return nil, readError(s.id, err)
	}
	return s.migrated(e, raw)
}

// migrated is the body of an entry as the current version has it.
func (s *snapshot) migrated(e *session.Entry, raw []byte) ([]byte, error) {
	if s.old == nil {
		return raw, nil
	}
	body, err := s.old.Body(e, raw)
	if err != nil {
		return nil, fail(store.KindDamaged, s.id, err, "entry %s cannot be read as version %d", e.ID, session.CurrentVersion)
	}
	return body, nil
}

// readAhead is how much of the file a forward reader reads at once.
const readAhead = 256 << 10

// forward reads bodies in file order, many with one read.
type forward struct {
	*snapshot
	at  int64 // where block begins in the file
	buf []byte
}

// InOrder implements session.InOrder.
func (s *snapshot) InOrder() session.Bodies { return &forward{snapshot: s} }

// Body implements session.Bodies; the result is valid until the next call.
func (f *forward) Body(e *session.Entry) ([]byte, error) {
	if e.Offset < 0 || e.Length < 0 || e.Offset+int64(e.Length) > f.state.size {
		return f.snapshot.Body(e) // says what is wrong
	}
	if e.Offset < f.at || e.Offset+int64(e.Length) > f.at+int64(len(f.buf)) {
		n := int(min(int64(max(e.Length, readAhead)), f.state.size-e.Offset))
		if cap(f.buf) < n {
			f.buf = make([]byte, n)
		}
		f.buf, f.at = f.buf[:n], e.Offset
		if err := readFull(f.file, f.buf, e.Offset); err != nil {
			f.buf = f.buf[:0]
			return nil, readError(f.id, err)
		}
	}
	from := e.Offset - f.at
	return f.migrated(e, f.buf[from:from+int64(e.Length)])
}
