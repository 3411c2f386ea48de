package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/model"
)

// scan reads a stream to its end.
func scan(r io.Reader) ([]Event, error) {
	s := NewScanner(r)
	var events []Event
	for {
		event, err := s.Next()
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		event.Data = bytes.Clone(event.Data)
		events = append(events, event)
	}
}

func TestScanner(t *testing.T) {
	t.Parallel()
	alive := Event{Alive: true}
	data := func(name, data string) Event { return Event{Name: name, Data: []byte(data)} }
	cases := []struct {
		name, in string
		want     []Event
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []Event{data("", "a")}},
		{"no space", "data:a\n\n", []Event{data("", "a")}},
		{"only one space goes", "data:  a \n\n", []Event{data("", " a ")}},
		{"named", "event: x\ndata: a\n\n", []Event{data("x", "a")}},
		{"named after its data", "data: a\nevent: x\n\n", []Event{data("x", "a")}},
		{"CRLF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []Event{data("x", "a"), data("", "b")}},
		{"lines are joined", "data: a\ndata\ndata: b\n\n", []Event{data("", "a\n\nb")}},
		{"empty data is data", "data:\n\n", []Event{data("", "")}},
		{"comments", ": x\n:\ndata: a\n\n", []Event{alive, alive, data("", "a")}},
		{"comment inside", "event: x\ndata: a\n: y\ndata: b\n\n", []Event{data("x", "a\nb")}},
		{"comment after a name", "event: x\n: y\ndata: a\n\n", []Event{data("x", "a")}},
		{"other fields", "id: 7\nretry: 10\nfoo\ndata: a\n\n", []Event{data("", "a")}},
		{"blank lines", "\n\n\ndata: a\n\n\n", []Event{alive, alive, alive, data("", "a"), alive}},
		{"event without data", "event: x\n\ndata: a\n\n", []Event{alive, data("", "a")}},
		{"last blank line missing", "data: a\n", []Event{data("", "a")}},
		{"last line end missing", "data: a", []Event{data("", "a")}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []Event{data("", "a")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := scan(strings.NewReader(c.in))
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(c.want, got, cmp.Transformer("text", func(b []byte) string { return string(b) })))
			byByte, err := scan(iotest.OneByteReader(strings.NewReader(c.in)))
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(got, byByte), "arrival in pieces changes nothing")
		})
	}
}

func TestScannerKeepsALongLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300<<10)
	got, err := scan(strings.NewReader("data: " + long + "\n\n"))
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, long, string(got[0].Data))
}

func TestScannerBounds(t *testing.T) {
	t.Parallel()
	_, err := scan(io.MultiReader(strings.NewReader("data: "), endless{}))
	require.ErrorIs(t, err, model.ErrTooLarge)
	_, err = scan(io.MultiReader(strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 9)), endless{}))
	require.ErrorIs(t, err, model.ErrTooLarge, "many lines of one event")
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestScannerReportsABrokenStream(t *testing.T) {
	t.Parallel()
	broken := errors.New("reset")
	got, err := scan(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	require.Len(t, got, 1, "a line that was cut by an error is no line")
}

func TestScannerRoundTrip(t *testing.T) {
	t.Parallel()
	line := rapid.StringMatching(`[^\r\n]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		var want []Event
		var in strings.Builder
		for range rapid.IntRange(0, 5).Draw(t, "events") {
			lines := rapid.SliceOfN(line, 1, 4).Draw(t, "lines")
			for _, l := range lines {
				in.WriteString("data: " + l + end)
			}
			in.WriteString(end)
			want = append(want, Event{Data: []byte(strings.Join(lines, "\n"))})
		}
		got, err := scan(iotest.HalfReader(strings.NewReader(in.String())))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%d events, want %d", len(got), len(want))
		}
		for i := range want {
			if string(got[i].Data) != string(want[i].Data) {
				t.Fatalf("event %d: %q, want %q", i, got[i].Data, want[i].Data)
			}
		}
	})
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte("event: x\ndata: a\r\n\r\n: c\ndata:b"))
	f.Add([]byte("\xef\xbb\xbf\n\ndata\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := scan(bytes.NewReader(in))
		require.NoError(t, err)
		pieces, err := scan(iotest.OneByteReader(bytes.NewReader(in)))
		require.NoError(t, err)
		require.Equal(t, whole, pieces)
		size := 0
		for _, e := range whole {
			size += len(e.Data)
		}
		require.LessOrEqual(t, size, len(in))
	})
}
