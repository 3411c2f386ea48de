package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// print writes a result to standard output: as the one JSON document, or as text by the given
// function. A write that fails is an error: half a result is none.
func (a *app) print(value any, text func(*printer)) error {
	if a.flags.output == "json" {
		e := json.NewEncoder(a.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(value); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
		return nil
	}
	buffered := bufio.NewWriterSize(a.out, 64<<10) // a context has many lines
	p := &printer{w: buffered, bold: a.colours(a.out)}
	text(p)
	if err := buffered.Flush(); err != nil { // it keeps the first failure of a write
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// printer writes text for a person and remembers the first failure.
type printer struct {
	w    io.Writer
	bold bool
	err  error
}

func (p *printer) line(format string, args ...any) { p.write(fmt.Sprintf(format, args...) + "\n") }

func (p *printer) write(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

// heading prints a line that stands out on a terminal.
func (p *printer) heading(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if p.bold {
		s = "\x1b[1m" + s + "\x1b[0m"
	}
	p.write(s + "\n")
}

// field prints a name and its value in two columns; empty values are left out.
func (p *printer) field(name, value string) {
	if value != "" {
		p.line("  %-13s %s", name, value)
	}
}

// block prints a text under an indentation, so that it cannot be taken for the program's own words.
func (p *printer) block(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.line("  │ %s", printable(line))
	}
}

// printable keeps a text that comes from a session from steering the terminal: control characters
// but tab are shown as a replacement mark.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || (r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f)) {
			return r
		}
		return '\uFFFD'
	}, s)
}

// tokens renders a count that may not be known.
func tokens(n *int) string {
	if n == nil {
		return "unknown"
	}
	return grouped(*n)
}

// grouped renders a number with its thousands apart.
func grouped(n int) string {
	s := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, r := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return sign + b.String()
}

// clock renders a time given in Unix milliseconds in the local zone, "" for none.
func clock(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).Format("2006-01-02 15:04:05")
}

// took renders a length of time for a person.
func took(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= 10*time.Second {
		d = d.Round(time.Second)
	}
	return d.String()
}
