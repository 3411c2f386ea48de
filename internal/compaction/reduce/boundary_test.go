package reduce_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/reduce"
	"recap/internal/session"
)

// passes are all reducers with the rules that find most.
var passes = map[string]func(*reduce.Tail) (reduce.Pass, error){
	"stale": func(t *reduce.Tail) (reduce.Pass, error) { return t.Stale(reduce.DefaultStaleRules()) },
	"stale in batches": func(t *reduce.Tail) (reduce.Pass, error) {
		r := reduce.DefaultStaleRules()
		r.Batch, r.CacheTail = true, 300
		return t.Stale(r)
	},
	"prune": func(t *reduce.Tail) (reduce.Pass, error) {
		r := reduce.DefaultPruneRules()
		r.Protect, r.MinSavings = 300, 0
		return t.Prune(r)
	},
	"guarded prune": func(t *reduce.Tail) (reduce.Pass, error) {
		r := reduce.DefaultPruneRules()
		r.Protect, r.MinSavings, r.CacheGuard = 100, 50, 500
		return t.Prune(r)
	},
	"dedup": (*reduce.Tail).Dedup,
	"shake": func(t *reduce.Tail) (reduce.Pass, error) { return t.Shake(reduce.ShakeRules{MinBlock: 20}) },
	"gentle shake": func(t *reduce.Tail) (reduce.Pass, error) {
		return t.Shake(reduce.ShakeRules{MinBlock: 20, Protect: 300, MinSavings: 100})
	},
	"truncate": func(t *reduce.Tail) (reduce.Pass, error) {
		return t.Truncate(reduce.TruncateRules{MinText: 100, Edge: 20}, 1<<30)
	},
	"images": func(t *reduce.Tail) (reduce.Pass, error) { return t.DropImages(), nil },
	"bound":  func(t *reduce.Tail) (reduce.Pass, error) { return t.Bound(t.Start, 300) },
}

// everything adds entries that every pass finds something in.
func everything(s *script) {
	s.read("a.go", words(500))
	s.read("a.go", words(500))
	s.tool("grep", object{"pattern": "x"}, long, object{"useless": true})
	s.message(object{"role": "user", "content": []any{image(), text("```\n" + words(600) + "\n```\n")}})
	s.tool("bash", object{"command": "make"}, words(20_000))
	s.tool("bash", object{"command": "make"}, words(20_000))
	s.tool("grep", object{"pattern": "y"}, long, object{"useless": true})
	s.filler(50)
}

func TestPRN10PRN11NothingBeforeTheBoundaryIsTouchedOrRead(t *testing.T) {
	t.Parallel()
	for name, pass := range passes {
		for _, boundary := range []string{"an entry", session.KeepNothing} {
			t.Run(name+" behind "+boundary, func(t *testing.T) {
				t.Parallel()
				s := newScript()
				everything(s)
				keep := s.user("this is kept")
				if boundary == session.KeepNothing {
					keep = boundary
				}
				compaction := s.compacted(keep)
				everything(s)
				f := s.file(t)
				src := source(t, f)
				idle(&src)
				start := indexOf(t, src.Path, compaction)
				// A summarised entry that is read is an error.
				tail, err := reduce.Read(seal(src, start-1))
				require.NoError(t, err)
				p := must(t)(pass(tail))
				require.NotEmpty(t, p.Decisions)
				for _, d := range p.Decisions {
					require.Greater(t, indexOf(t, src.Path, d.EntryID), start)
				}
			})
		}
	}
}

func TestPRN12ACallBeforeTheBoundaryProtectsItsResult(t *testing.T) {
	t.Parallel()
	// The call id was used before: the latest call before the result counts.
	for _, tt := range []struct {
		earlier, later string
		touched        bool
	}{{"a.go", "skill://x", false}, {"skill://x", "a.go", true}} {
		s := newScript()
		s.calls("id", "read", object{"path": tt.earlier})
		s.answers("id", "read", words(500))
		s.calls("id", "read", object{"path": tt.later})
		s.says("and so on")
		s.compacted("e0000005")
		kept := s.answers("id", "read", words(500))
		s.answers("gone", "read", words(500)) // looked for up to the root, before the other
		p := must(t)(s.tail(t).Shake(reduce.AggressiveShakeRules()))
		require.Equal(t, tt.touched, decided(p)[kept] != "")
	}
}

func TestPRN12EveryEntryBeforeTheBoundaryIsLookedAt(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.calls("first", "read", object{"path": "skill://x"})
	s.calls("second", "read", object{"path": "skill://y"})
	s.calls("third", "read", object{"path": "a.go"})
	s.compacted(session.KeepNothing)
	third := s.answers("third", "read", words(500))
	s.answers("second", "read", words(500))
	s.answers("first", "read", words(500))
	p := must(t)(s.tail(t).Shake(reduce.AggressiveShakeRules()))
	require.Equal(t, map[string]string{third: "[shaken ~500 tokens]"}, decided(p))
}

func TestPRN12AnOrphanIsLookedForOnceAndStaysUnpaired(t *testing.T) {
	t.Parallel()
	s := newScript()
	earlier := s.says("before")
	s.compacted(session.KeepNothing)
	orphan := s.answers("gone", "read", words(500))
	s.answers("gone too", "read", words(500))
	src := source(t, s.file(t))
	reads := counted{src.Bodies, map[string]int{}}
	src.Bodies = reads
	tail, err := reduce.Read(src)
	require.NoError(t, err)
	require.Empty(t, stale(t, tail))
	require.Equal(t, map[string]string{orphan: "[shaken ~500 tokens]"}, decided(must(t)(tail.Dedup())))
	require.Equal(t, 1, reads.n[earlier])
}

// counted counts how often each entry is read.
type counted struct {
	session.Bodies
	n map[string]int
}

func (c counted) Body(e *session.Entry) ([]byte, error) {
	c.n[e.ID]++
	return c.Bodies.Body(e)
}

func TestTheEffectiveCompactionSetsTheBoundary(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		keep  string
		start int
	}{
		"an entry":              {"e0000002", 1},
		"an entry that is gone": {"ffffffff", 0},
		"no entry named":        {"", 0},
		"nothing":               {session.KeepNothing, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript()
			s.user("one")
			s.user("two")
			s.compacted(tt.keep)
			s.user("three")
			s.entry("compaction", object{"summary": " ", "firstKeptEntryId": "e0000004", "tokensBefore": 1}) // unusable
			s.user("four")
			require.Equal(t, tt.start, s.tail(t).Start)
		})
	}
}

func TestAPartThatDoesNotHoldTheTailIsRefused(t *testing.T) {
	t.Parallel()
	s := newScript()
	for range 6 {
		s.user("hello")
	}
	src := source(t, s.file(t))
	src.Path, src.Partial = src.Path[2:], true
	_, err := reduce.Read(src)
	require.ErrorIs(t, err, session.ErrPartial)

	s.compacted("e0000004")
	src = source(t, s.file(t))
	src.Path, src.Partial = src.Path[2:], true
	tail, err := reduce.Read(src)
	require.NoError(t, err)
	require.Equal(t, 1, tail.Start)
}

func TestMessagesThatACompactionHoldsItselfAreNotTouched(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.user("before")
	s.entry("compaction", object{"summary": "So far.", "tokensBefore": 1, "retainedTail": []any{object{"role": "user", "content": "held"}}})
	s.user("after")
	tail := s.tail(t)
	require.Equal(t, 2, tail.Start)
	require.Len(t, tail.Items, 1)
}

func TestAFailureToReadIsReported(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.calls("id", "read", object{"path": "a.go"})
	s.compacted(session.KeepNothing)
	s.answers("id", "read", words(2000))
	s.answers("id", "read", words(2000))
	src := source(t, s.file(t))
	for _, sealedUpTo := range []int{len(src.Path), 2} { // a message, the compaction
		_, err := reduce.Read(seal(src, sealedUpTo))
		require.ErrorIs(t, err, errSummarized)
	}
	_, err := reduce.ReadFrom(seal(src, 3), 2)
	require.ErrorIs(t, err, errSummarized)
	tail, err := reduce.Read(seal(src, 1))
	require.NoError(t, err)
	for name, pass := range passes {
		if name == "images" {
			continue // asks for no call
		}
		_, err = pass(tail)
		require.ErrorIs(t, err, errSummarized, name)
	}
	_, err = tail.Rescue(reduce.DefaultRescueRules(), (*reduce.Tail).Tokens)
	require.ErrorIs(t, err, errSummarized)
}

func TestABodyThatIsNotJSONIsReported(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.user("hello")
	src := source(t, s.file(t))
	src.Bodies = torn{}
	_, err := reduce.Read(src)
	var broken *session.EntryError
	require.ErrorAs(t, err, &broken)
}

type torn struct{}

func (torn) Body(*session.Entry) ([]byte, error) { return []byte("{"), nil }
