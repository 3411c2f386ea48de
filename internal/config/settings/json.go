package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

func parseJSON(data []byte) (*node, error) {
	d := jsonReader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1}
	d.dec.UseNumber()
	n, err := d.value(0)
	if err == nil {
		if _, more := d.dec.Token(); !errors.Is(more, io.EOF) {
			return nil, d.fail("is no valid JSON: something follows the first value")
		}
		return n, nil
	}
	var se *syntaxError
	if errors.As(err, &se) {
		return nil, se
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, d.fail("is no valid JSON: it ends in the middle")
	}
	return nil, d.fail("is no valid JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// jsonReader reads JSON with the lines its values are on.
type jsonReader struct {
	data []byte
	dec  *json.Decoder
	at   int // offset up to which line counts
	line int
}

func (d *jsonReader) fail(format string, args ...any) *syntaxError {
	return &syntaxError{line: d.here(), message: fmt.Sprintf(format, args...)}
}

// here is the line of the token read last.
func (d *jsonReader) here() int {
	to := min(int(d.dec.InputOffset()), len(d.data))
	d.line += bytes.Count(d.data[d.at:to], []byte("\n"))
	d.at = to
	return d.line
}

func (d *jsonReader) value(depth int) (*node, error) {
	t, err := d.dec.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, d.fail("is nested more than %d deep", maxDepth)
	}
	n := &node{line: d.here()}
	switch t := t.(type) {
	case nil:
	case json.Delim:
		if t == '[' {
			return n, d.items(n, depth)
		}
		return n, d.pairs(n, depth)
	default:
		n.kind, n.text = scalar, fmt.Sprint(t)
	}
	return n, nil
}

func (d *jsonReader) items(n *node, depth int) error {
	n.kind = list
	for d.dec.More() {
		item, err := d.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := d.dec.Token()
	return err
}

func (d *jsonReader) pairs(n *node, depth int) error {
	n.kind = mapping
	for d.dec.More() {
		t, err := d.dec.Token()
		if err != nil {
			return err
		}
		p := pair{key: fmt.Sprint(t), line: d.here()}
		if p.value, err = d.value(depth + 1); err != nil {
			return err
		}
		n.pairs = append(n.pairs, p)
	}
	_, err := d.dec.Token()
	return err
}
