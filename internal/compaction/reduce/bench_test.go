package reduce_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/reduce"
)

// afterCompactions is a session with a live tail of about 40,000 tokens, behind so many compactions of
// twenty turns each.
func afterCompactions(n int) *script {
	s := newScript()
	for i := range n {
		for k := range 20 {
			s.user("What is next?")
			s.read(fmt.Sprintf("internal/part%d/file%d.go", i, k), long)
			s.says("Done.")
		}
		s.compacted(s.user("Go on."))
	}
	for k := range 100 {
		s.user("What is next?")
		s.read(fmt.Sprintf("internal/file%d.go", k%30), words(300))
		s.tool("bash", object{"command": "make test"}, words(100+k))
		s.says("Done.\n```go\n" + long + "```\n")
	}
	return s
}

// maintenance is what runs after a turn: all reducers, of which most find something.
func maintenance(src reduce.Source) (int, error) {
	tail, err := reduce.Read(src)
	if err != nil {
		return 0, err
	}
	found := 0
	for _, pass := range passes {
		p, err := pass(tail)
		if err != nil {
			return 0, err
		}
		found += len(p.Decisions)
	}
	return found, nil
}

// BenchmarkMaintenance shows that a pass costs the same whatever lies before the live tail.
func BenchmarkMaintenance(b *testing.B) {
	for _, n := range []int{0, 1, 300} {
		b.Run(fmt.Sprintf("after-%d-compactions", n), func(b *testing.B) {
			src := source(b, afterCompactions(n).file(b))
			b.ReportAllocs()
			for b.Loop() {
				found, err := maintenance(src)
				if err != nil || found == 0 {
					b.Fatal(found, err)
				}
			}
		})
	}
}

// BenchmarkStale is the pass that runs after every turn, reading included.
func BenchmarkStale(b *testing.B) {
	for _, n := range []int{0, 300} {
		b.Run(fmt.Sprintf("after-%d-compactions", n), func(b *testing.B) {
			src := source(b, afterCompactions(n).file(b))
			b.ReportAllocs()
			for b.Loop() {
				tail, err := reduce.Read(src)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := tail.Stale(reduce.DefaultStaleRules()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestAMaintenancePassReadsOnlyTheLiveTail counts instead of timing: after hundreds of compactions no
// entry before the tail is read, and each one of the tail once.
func TestAMaintenancePassReadsOnlyTheLiveTail(t *testing.T) {
	t.Parallel()
	reads := func(n int) int {
		src := source(t, afterCompactions(n).file(t))
		c := counted{src.Bodies, map[string]int{}}
		src.Bodies = c
		found, err := maintenance(src)
		require.NoError(t, err)
		require.Positive(t, found)
		for id, times := range c.n {
			require.LessOrEqual(t, times, 1, id)
		}
		return len(c.n)
	}
	none := reads(0)
	require.Equal(t, none+2, reads(1)) // the compaction, and the message it kept
	require.Equal(t, none+2, reads(300))
}
