package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"recap/internal/model"
)

// Event is one event of a server-sent stream, or a sign of life that is none.
type Event struct {
	Name  string
	Data  []byte // valid until the next call of Next
	Alive bool   // no event: a comment, a blank line or an event without data, which servers send to be heard
}

// Scanner reads server-sent events. Lines end with LF or CRLF and are at most MaxLine long.
type Scanner struct {
	in    *bufio.Reader
	begun bool
	line  []byte
	name  string
	data  []byte
	has   bool
	ended bool
}

// NewScanner returns a scanner over a stream.
func NewScanner(r io.Reader) *Scanner {
	return &Scanner{in: bufio.NewReaderSize(r, 32<<10)}
}

// Next returns the next event or sign of life, or io.EOF after the last one. An event is complete at
// a blank line; at the end of the stream, one that was begun is returned as well, for servers that
// leave out the last blank line.
func (s *Scanner) Next() (Event, error) {
	s.name, s.data, s.has = "", s.data[:0], false
	for {
		if s.ended {
			return Event{}, io.EOF
		}
		err := s.readLine()
		if err == io.EOF {
			s.ended = true
			if len(s.line) > 0 {
				s.field(s.line)
			}
			if s.has {
				return Event{Name: s.name, Data: s.data}, nil
			}
			return Event{}, io.EOF
		}
		if err != nil {
			return Event{}, err
		}
		switch {
		case len(s.line) == 0 && s.has:
			return Event{Name: s.name, Data: s.data}, nil
		case len(s.line) == 0, s.line[0] == ':' && !s.has && s.name == "":
			return Event{Alive: true}, nil
		default:
			s.field(s.line)
		}
	}
}

// field takes in one line of an event.
func (s *Scanner) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		s.name = string(value)
	case "data":
		if s.has {
			s.data = append(s.data, '\n')
		}
		s.data = append(s.data, value...)
		s.has = true
	}
}

// readLine reads one line without its end into s.line. With io.EOF, s.line is what followed the
// last line end.
func (s *Scanner) readLine() error {
	s.line = s.line[:0]
	for {
		part, err := s.in.ReadSlice('\n')
		s.line = append(s.line, part...)
		if len(s.line)+len(s.data) > MaxLine {
			return fmt.Errorf("a line over %d bytes: %w", MaxLine, model.ErrTooLarge)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if !s.begun {
			s.begun = true
			s.line = bytes.TrimPrefix(s.line, []byte("\xef\xbb\xbf"))
		}
		if err == nil {
			s.line = bytes.TrimSuffix(bytes.TrimSuffix(s.line, []byte("\n")), []byte("\r"))
		}
		return err
	}
}
