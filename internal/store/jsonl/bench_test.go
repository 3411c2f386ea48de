package jsonl

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"recap/internal/session"
	"recap/internal/store"
	"recap/internal/store/storetest"
)

// bigEntries and bigLine make a session of 160,000 entries and about 384 MB.
const (
	bigEntries = 160_000
	bigLine    = 2400
)

// writeBig makes a large session in a fresh store. With compacted, a compaction stands 40 entries
// before the end, keeping 20 before it.
func writeBig(b *testing.B, compacted bool) (*Driver, string) {
	b.Helper()
	return writeStore(b, func(w *bufio.Writer) {
		_, _ = w.Write(append(storetest.Header("big"), '\n')) // bufio keeps the error for Flush
		text := strings.Repeat("some \"quoted\" output\n", bigLine/22-8)
		parent := ""
		for i := range bigEntries {
			id := fmt.Sprintf("%08x", i)
			line := storetest.User(id, parent, text)
			if compacted && i == bigEntries-40 {
				line = storetest.Compaction(id, parent, fmt.Sprintf("%08x", i-20))
			}
			_, _ = w.Write(append(line, '\n'))
			parent = id
		}
	})
}

// writeCorpus makes 160 copies of a real session without its compactions, renumbered and chained.
func writeCorpus(b *testing.B) (*Driver, string) {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(corpus(b), "pi", "pi-v3-two-compactions.jsonl"))
	require.NoError(b, err)
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	return writeStore(b, func(w *bufio.Writer) {
		_, _ = w.Write(append(lines[0], '\n'))
		var parent any
		n := 0
		for range 160 {
			for _, line := range lines[1:] {
				if gjson.GetBytes(line, "type").String() == session.TypeCompaction {
					continue
				}
				id := fmt.Sprintf("%08x", n)
				n++
				line, err = sjson.SetBytes(bytes.Clone(line), "id", id)
				require.NoError(b, err)
				line, err = sjson.SetBytes(line, "parentId", parent)
				require.NoError(b, err)
				_, _ = w.Write(append(line, '\n'))
				parent = id
			}
		}
	})
}

func writeStore(b *testing.B, fill func(w *bufio.Writer)) (*Driver, string) {
	b.Helper()
	d, err := New(b.TempDir())
	require.NoError(b, err)
	f, err := os.Create(filepath.Join(d.root, "big.jsonl"))
	require.NoError(b, err)
	w := bufio.NewWriterSize(f, 1<<20)
	fill(w)
	require.NoError(b, w.Flush())
	require.NoError(b, f.Close())
	return d, "big.jsonl"
}

func benchmarkLoad(b *testing.B, d *Driver, id string, scope store.Scope) {
	b.Helper()
	info, err := os.Stat(filepath.Join(d.root, id))
	require.NoError(b, err)
	b.SetBytes(info.Size())
	resetPeak(b)
	entries := 0
	for b.Loop() {
		s, err := d.Load(b.Context(), id, scope)
		require.NoError(b, err)
		entries = len(s.Log().Entries)
		require.NoError(b, s.Close())
	}
	b.ReportMetric(float64(entries), "entries")
	b.ReportMetric(peakMB(b), "peak-MB")
}

func BenchmarkLoadAll(b *testing.B) {
	d, id := writeBig(b, false)
	benchmarkLoad(b, d, id, store.ScopeAll)
}

func BenchmarkLoadLive(b *testing.B) {
	d, id := writeBig(b, true)
	benchmarkLoad(b, d, id, store.ScopeLive)
}

// BenchmarkLoadLiveWithoutCompaction is what a first compaction pays: the whole file.
func BenchmarkLoadLiveWithoutCompaction(b *testing.B) {
	d, id := writeBig(b, false)
	benchmarkLoad(b, d, id, store.ScopeLive)
}

func BenchmarkLoadAllCorpus(b *testing.B) {
	d, id := writeCorpus(b)
	benchmarkLoad(b, d, id, store.ScopeAll)
}

func BenchmarkAppend(b *testing.B) {
	d, id := writeBig(b, true)
	s, err := d.Load(b.Context(), id, store.ScopeLive)
	require.NoError(b, err)
	rev := s.Revision()
	require.NoError(b, s.Close())
	n := 0
	for b.Loop() {
		w, err := d.Append(b.Context(), id, store.Expect{Revision: rev}, []store.NewEntry{storetest.NewUser("n"+strconv.Itoa(n), "hi")})
		require.NoError(b, err)
		rev = w.Revision
		n++
	}
}

// resetPeak starts a new measurement of the process's peak memory, where the system has one.
func resetPeak(b *testing.B) {
	b.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Logf("peak memory is that of the whole process: %v", err)
	}
}

// peakMB is the peak resident memory in MB, 0 where the system does not tell.
func peakMB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.ParseFloat(fields[0], 64)
	require.NoError(b, err)
	return kb / 1024
}
