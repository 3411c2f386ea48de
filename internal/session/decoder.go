package session

// Decoder decodes one entry after the other into the same memory: reading a long range then costs no
// allocation for each message. The zero value is ready; a Decoder belongs to one goroutine.
type Decoder struct {
	m      Message
	usage  Usage
	blocks []Block
	text   []byte // what strings with escapes decode to
}

// Decode returns the message that an entry yields as DecodeEntry does, nil when it yields none. The
// message and all it refers to, but for its EntryID, share memory with body and with the Decoder:
// they are valid until body changes or Decode is called again.
//
// body is what a Log's entry refers to, so its strings have been checked (Inspect) and are not checked
// again. Of bytes that changed since then it makes an error or other text, never a panic.
func (d *Decoder) Decode(e *Entry, body []byte) (*Message, error) {
	d.text = d.text[:0]
	r := reader{b: body, checked: true, reuse: d}
	var ok bool
	var err error
	if d.m, ok, err = r.entry(e); err != nil || !ok {
		return nil, err
	}
	return &d.m, nil
}
