package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"recap/internal/session"
	"recap/internal/testkit/repo"
)

// template is an entry of the source file with its two ids cut out.
type template struct {
	before, between, after []byte
	parentFirst            bool // parentId stands before id
}

// largeSession writes copies of the entries of a real session of about 1,000 entries and 2.4 MB, one
// after the other on one path, each with an id of its own, and without the source's compactions. With
// compactedBefore > 0 a compaction stands that many entries before the end and keeps the hundred
// entries before it.
func largeSession(tb testing.TB, file string, copies, compactedBefore int) (entries int) {
	tb.Helper()
	source, err := os.ReadFile(filepath.Join(repo.Corpus(tb), "pi", "pi-v3-two-compactions.jsonl"))
	require.NoError(tb, err)
	header, templates := cut(tb, source)

	f, err := os.Create(file)
	require.NoError(tb, err)
	w := bufio.NewWriterSize(f, 1<<20)
	w.Write(header)
	w.WriteByte('\n')
	total := copies * len(templates)
	parent := []byte("null")
	write := func(t template, id []byte) {
		first, second := id, parent
		if t.parentFirst {
			first, second = parent, id
		}
		for _, part := range [][]byte{t.before, first, t.between, second, t.after, {'\n'}} {
			w.Write(part)
		}
		parent = id
	}
	for i := range total {
		if compactedBefore > 0 && i == total-compactedBefore {
			fmt.Fprintf(w, `{"type":"compaction","id":"cccccccc","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z",`+
				`"summary":"## Goal\nEverything before.","firstKeptEntryId":%s,"tokensBefore":180000}`+"\n", parent, quotedID(i-100))
			parent = []byte(`"cccccccc"`)
		}
		write(templates[i%len(templates)], quotedID(i))
	}
	require.NoError(tb, w.Flush()) // reports the first failed write
	require.NoError(tb, f.Close())
	return total
}

func quotedID(i int) []byte { return strconv.AppendQuote(nil, fmt.Sprintf("%08x", i+1)) }

// cut reads the source's header and entries.
func cut(tb testing.TB, source []byte) (header []byte, templates []template) {
	tb.Helper()
	for line := range bytes.Lines(source) {
		line = bytes.TrimRight(line, "\n")
		parsed := gjson.ParseBytes(line)
		switch parsed.Get("type").Str {
		case session.TypeHeader:
			header = line
			continue
		case session.TypeCompaction:
			continue
		}
		id, parent := parsed.Get("id"), parsed.Get("parentId")
		require.Positive(tb, id.Index)
		require.Positive(tb, parent.Index)
		a, b := id, parent
		if parent.Index < id.Index {
			a, b = parent, id
		}
		templates = append(templates, template{
			before: line[:a.Index], between: line[a.Index+len(a.Raw) : b.Index], after: line[b.Index+len(b.Raw):],
			parentFirst: parent.Index < id.Index,
		})
	}
	require.NotEmpty(tb, header)
	require.Len(tb, templates, 1000)
	return header, templates
}
