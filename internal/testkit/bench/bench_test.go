package bench

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/testkit/repo"
)

// copies of the source make a session of 384 MB and 160,000 entries.
const copies = 160

// BenchmarkFirstCompaction opens, plans and renders the first compaction of the large session: at
// least 10 times faster than pi on the same file in the same run, and in less than 500 MB.
func BenchmarkFirstCompaction(b *testing.B) { compare(b, 0, 10, 500) }

// BenchmarkNextCompaction does the same where a compaction stands near the end: at least 50 times
// faster, and in less than 150 MB.
func BenchmarkNextCompaction(b *testing.B) { compare(b, 600, 50, 150) }

// rounds is how often each side runs, in turn; the median counts.
const rounds = 3

func compare(b *testing.B, compactedBefore int, times float64, megabytes int64) {
	file := filepath.Join(b.TempDir(), "large.jsonl")
	largeSession(b, file, copies, compactedBefore)
	for b.Loop() {
		var mine, other []result
		for range rounds {
			mine = append(mine, ours(b, file))
			other = append(other, theirs(b, file))
		}
		m, o := median(mine), median(other)
		sameWork(b, m, o)
		b.ReportMetric(m.Ms, "recap-ms")
		b.ReportMetric(o.Ms, "pi-ms")
		b.ReportMetric(o.Ms/m.Ms, "times-faster")
		b.ReportMetric(m.CPUMs, "recap-cpu-ms") // tells more than the clock on a machine that is busy
		b.ReportMetric(o.CPUMs, "pi-cpu-ms")
		b.ReportMetric(float64(largest(mine))/1e6, "recap-MB")
		b.ReportMetric(float64(largest(other))/1e6, "pi-MB")
		b.ReportMetric(float64(m.Rendered)/1e6, "recap-rendered-MB")
		b.ReportMetric(float64(o.Rendered)/1e6, "pi-rendered-MB")
		if o.Ms/m.Ms < times {
			b.Errorf("recap takes %.0f ms and pi %.0f ms: %.1f times faster, not %.0f", m.Ms, o.Ms, o.Ms/m.Ms, times)
		}
		if largest(mine) >= megabytes*1e6 {
			b.Errorf("recap needs %d MB, not less than %d", largest(mine)/1e6, megabytes)
		}
	}
}

func median(results []result) result {
	sorted := slices.SortedFunc(slices.Values(results), func(a, b result) int { return int(a.Ms - b.Ms) })
	return sorted[len(sorted)/2]
}

func largest(results []result) int64 {
	var most int64
	for _, r := range results {
		most = max(most, r.MaxRSS)
	}
	return most
}

// TestBenchmarkMeasuresTheSameWork shows on a small session that both sides of the benchmark do the
// same work.
func TestBenchmarkMeasuresTheSameWork(t *testing.T) {
	t.Parallel()
	repo.Corpus(t)
	for name, compactedBefore := range map[string]int{"first": 0, "next": 600} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "session.jsonl")
			require.Equal(t, 2000, largeSession(t, file, 2, compactedBefore))
			m, o := ours(t, file), theirs(t, file)
			sameWork(t, m, o)
		})
	}
}

// sameWork wants both sides to summarise nearly the same range. They need not cut at the same entry:
// recap scales what is kept by what the provider counted, and keeps a little less.
func sameWork(tb testing.TB, m, o result) {
	tb.Helper()
	require.InDelta(tb, position(tb, o.FirstKept), position(tb, m.FirstKept), 50, "entries between the cuts")
	require.InDelta(tb, o.Summarized, m.Summarized, 50, "messages between the cuts")
	require.Greater(tb, m.Rendered, o.Rendered/2, "recap renders much less than pi")
}

// position is the place of an entry of the large session.
func position(tb testing.TB, id string) int {
	tb.Helper()
	n, err := strconv.ParseInt(id, 16, 64)
	require.NoError(tb, err)
	return int(n)
}
