package jsonl

import (
	"bytes"
	"io"

	"recap/internal/session"
)

// longestHead bounds the search for the header: it must be complete within so many bytes. Real ones
// are below 1 KB.
const longestHead = 16 << 20

// head is what stands before the entries of a session file.
type head struct {
	header  session.Header
	signals session.Signals // of the header and of title records before it
	line    int             // physical line of the header, 1-based
	offset  int64           // of the header object
	end     int64           // offset after it
}

// readHead finds the header, always from the front (spec/sessions §1.2): the first object of the file
// that is no title record. Nothing else may stand before it: a file that starts with something that
// is no JSON object may be a journal in frames that only bears the name, and a line written to it
// would break it. The error for such a file is a *session.NotSessionError.
func readHead(f io.ReaderAt, size int64) (head, error) {
	for want := int64(8 << 10); ; want *= 4 {
		h := head{line: 1}
		buf := make([]byte, min(want, size))
		if err := readFull(f, buf, 0); err != nil {
			return head{}, err
		}
		found, err := h.find(buf, int64(len(buf)) == size)
		if found || err != nil {
			return h, err
		}
		if want >= longestHead {
			return head{}, session.Refuse(buf, nil)
		}
	}
}

// find looks for the header in the first bytes of a file; found = false asks for more of them.
func (h *head) find(buf []byte, whole bool) (found bool, err error) {
	var objs []session.Object
	for off := 0; off < len(buf); h.line++ {
		line, next := buf[off:], len(buf)
		if nl := bytes.IndexByte(line, '\n'); nl >= 0 {
			line, next = line[:nl], off+nl+1
		} else if !whole && startsObject(line) {
			return false, nil
		}
		objs, _ = session.AppendObjects(objs[:0], line)
		if len(objs) == 0 && !blank(line) {
			return false, session.Refuse(line, nil)
		}
		for i := range objs {
			o := &objs[i]
			if o.IsTitle() {
				h.signals |= o.Signals()
				continue
			}
			if h.header, err = session.ParseHeader(o); err != nil {
				return false, err
			}
			h.signals |= o.Signals()
			h.offset = int64(off + o.Offset)
			h.end = h.offset + int64(len(o.Raw))
			return true, nil
		}
		off = next
	}
	if whole {
		return false, session.Refuse(buf, nil)
	}
	return false, nil
}

// startsObject reports whether the beginning of a line may become a JSON object, or is blank so far.
func startsObject(line []byte) bool {
	start := bytes.TrimLeft(line, marks)
	return len(start) == 0 || start[0] == '{'
}

func blank(line []byte) bool { return len(bytes.TrimLeft(line, marks)) == 0 }

// marks are what may stand before the first object: a byte order mark and spaces.
const marks = "\ufeff \t\r"
