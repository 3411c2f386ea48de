package reduce_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/reduce"
	"recap/internal/session"
)

func TestPRN01KeysOfReads(t *testing.T) {
	t.Parallel()
	type c = struct {
		tool string
		args object
	}
	read := func(path any) c { return c{"read", object{"path": path}} }
	for name, tt := range map[string]struct {
		older, newer c
		retired      bool
	}{
		"the same path":                   {read("a.go"), read("a.go"), true},
		"another path":                    {read("a.go"), read("b.go"), false},
		"the same range":                  {read("a.go:1-5"), read("a.go:1-5"), true},
		"the same range in another case":  {read("a.go:L1-L5"), read("a.go:l1-l5"), true},
		"other tools are exempt":          {c{"grep", object{"path": "a.go"}}, c{"grep", object{"path": "a.go"}}, false},
		"a path that is no string":        {read(7), read(7), false},
		"an empty path":                   {read(""), read(""), false},
		"a URL":                           {read("https://x.example/a"), read("https://x.example/a"), false},
		"a scheme further in":             {read("a.zip:mem://b"), read("a.zip:mem://b"), false},
		"a table is part of the path":     {read("db.sqlite:users"), read("db.sqlite:orders"), false},
		"rows of a table":                 {read("db.sqlite:users:42"), read("db.sqlite:users"), true},
		"rows do not retire the table":    {read("db.sqlite:users"), read("db.sqlite:users:42"), false},
		"a part named by other arguments": {c{"read", object{"path": "a.go"}}, c{"read", object{"path": "a.go", "offset": 9, "limit": 3}}, false},
		"the same part so named":          {c{"read", object{"path": "a.go", "limit": 3, "offset": 9}}, c{"read", object{"path": "a.go", "offset": 9, "limit": 3}}, true},
		"a full read after such a part":   {c{"read", object{"path": "a.go", "offset": 9}}, c{"read", object{"path": "a.go"}}, true},
		"a stated intent narrows nothing": {c{"read", object{"path": "a.go", "i": "look"}}, c{"read", object{"path": "a.go", "i": "look again"}}, true},
		"several targets, all covered":    {c{"read", object{"paths": []string{"a.go", "b.go:3"}}}, c{"read", object{"paths": []string{"b.go", "a.go"}}}, true},
		"several targets, one not":        {c{"read", object{"paths": []string{"a.go", "b.go"}}}, c{"read", object{"path": "a.go"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript()
			older := s.tool(tt.older.tool, tt.older.args, long)
			s.tool(tt.newer.tool, tt.newer.args, long)
			got := stale(t, s.tail(t))
			if tt.retired {
				require.Equal(t, map[string]string{older: supersededNotice}, got)
			} else {
				require.Empty(t, got)
			}
		})
	}
}

func TestPRN02AnOlderIdenticalReadIsBlanked(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.user("look")
	older := s.read("a.go", long)
	newer := s.read("a.go", long)
	tail := s.tail(t)
	p := must(t)(tail.Stale(reduce.DefaultStaleRules()))
	require.Equal(t, map[string]string{older: supersededNotice}, decided(p))
	require.Equal(t, 150-11, p.Freed())
	require.Empty(t, p.Document())

	after, err := tail.After(p)
	require.NoError(t, err)
	for _, it := range after.Items {
		switch it.Entry.ID {
		case older:
			require.Equal(t, []session.Block{{Type: session.BlockText, Text: supersededNotice}}, it.Message.Content)
			require.Equal(t, started.Add(10*time.Minute).UnixMilli(), it.Message.PrunedAt)
		case newer:
			require.Equal(t, long, it.Message.Text(""))
		}
	}
}

func TestPRN03ACacheThatIsWarmIsKept(t *testing.T) {
	t.Parallel()
	at := func(filler int, age time.Duration) map[string]string {
		s := newScript()
		s.read("a.go", long)
		s.filler(filler)
		s.read("a.go", long)
		return stale(t, s.tail(t, func(src *reduce.Source) { src.Now = s.clock.Add(age) }))
	}
	require.Len(t, at(7845, 0), 1) // 8,000 with the newer read
	require.Empty(t, at(7846, 0))
	require.Empty(t, at(8000, 89*time.Minute))
	require.Len(t, at(8000, 90*time.Minute), 1)
}

func TestPRN03AMessageWithoutTimeIsNotIdle(t *testing.T) {
	t.Parallel()
	for _, stamp := range []any{nil, "2026-05-01T09:00:00Z"} {
		s := newScript()
		s.read("a.go", long)
		s.filler(9000)
		s.read("a.go", long, object{"timestamp": stamp})
		require.Empty(t, stale(t, s.tail(t, idle)))
	}
}

// The figures are those of the pass itself: what goes does not stand behind anything any more.
func TestPRN03WhatGoesIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := newScript()
	deep := s.read("a.go", long)
	big := s.read("b.go", strings.Repeat("word", 9000))
	s.read("b.go", long)
	s.read("a.go", long)
	tail := s.tail(t)
	require.Equal(t, map[string]string{deep: supersededNotice, big: supersededNotice}, stale(t, tail))
}

func TestABatchOfDeadResultsIsPrunedTogether(t *testing.T) {
	t.Parallel()
	rules := reduce.DefaultStaleRules()
	rules.Batch = true
	s := newScript()
	for range 20 {
		s.read("a.go", strings.Repeat("word", 400))
	}
	s.filler(9000)
	s.read("a.go", long)
	tail := s.tail(t)
	require.Empty(t, stale(t, tail), "the batch rule is off unless asked for")
	// 20 results of 400 tokens free 7,780, read by thirty coming requests; behind the earliest stay 9,500.
	p := must(t)(tail.Stale(rules))
	require.Len(t, p.Decisions, 20)
	after, err := tail.After(p)
	require.NoError(t, err)
	require.Empty(t, must(t)(after.Stale(rules)).Decisions)

	// 9,155 tokens sent again for the price of 12.5 reads each are worth 3,815 that thirty requests do
	// not read.
	one := func(tokens, filler int) int {
		s := newScript()
		s.read("a.go", words(tokens))
		s.filler(filler)
		s.read("a.go", long)
		return len(must(t)(s.tail(t).Stale(rules)).Decisions)
	}
	require.Equal(t, 0, one(3815+11-1, 9000))
	require.Equal(t, 1, one(3815+11, 9000))
	require.Equal(t, 1, one(20, 5000), "near the end everything goes, worth it or not")
}

func TestOnlyMessagesStandBehindAResult(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.read("a.go", long)
	s.entry("custom_message", object{"customType": "note", "content": words(9000), "display": true})
	s.read("a.go", long)
	require.Len(t, stale(t, s.tail(t)), 1)
}

func TestAPassWithoutATimeStillMarksWhatItPrunes(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.read("a.go", long)
	s.read("a.go", long)
	tail := s.tail(t, func(src *reduce.Source) { src.Now = time.Time{} })
	p := must(t)(tail.Stale(reduce.DefaultStaleRules()))
	require.Len(t, p.Decisions, 1)
	after, err := tail.After(p)
	require.NoError(t, err)
	require.Positive(t, after.Items[1].Message.PrunedAt)
}

func TestPRN04AnIdleGapBlanksEveryCandidate(t *testing.T) {
	t.Parallel()
	s := newScript()
	first := s.read("a.go", long)
	s.filler(50_000)
	second := s.read("a.go", long)
	s.filler(50_000)
	s.read("a.go", long)
	require.Equal(t, map[string]string{first: supersededNotice, second: supersededNotice}, stale(t, s.tail(t, idle)))
}

func TestPRN05Ranges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		older, newer string
		retired      bool
	}{
		"different ranges":               {"a.go:1-5", "a.go:6-9", false},
		"identical ranges":               {"a.go:1-5", "a.go:1-5", true},
		"a full read retires a range":    {"a.go:1-5", "a.go", true},
		"a range retires no full read":   {"a.go", "a.go:1-5", false},
		"a full read retires raw":        {"a.go:raw:1-5", "a.go", true},
		"raw retires no other selection": {"a.go:1-5", "a.go:raw", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript()
			s.read(tt.older, long)
			s.read(tt.newer, long)
			require.Equal(t, tt.retired, len(stale(t, s.tail(t, idle))) == 1)
		})
	}
	t.Run("a later full read retires all ranges", func(t *testing.T) {
		t.Parallel()
		s := newScript()
		one, two := s.read("a.go:1-5", long), s.read("a.go:6-9", long)
		s.read("a.go", long)
		require.Equal(t, map[string]string{one: supersededNotice, two: supersededNotice}, stale(t, s.tail(t)))
	})
}

func TestPRN06ProtectedAndPrunedResults(t *testing.T) {
	t.Parallel()
	t.Run("skills and plans stay", func(t *testing.T) {
		t.Parallel()
		s := newScript()
		for range 2 {
			s.tool("skill", object{"path": "a.go"}, long, object{"useless": true})
			s.read("skill://review", long, object{"useless": true})
			s.read("docs/plan.md:1-40", long, object{"useless": true})
			s.read("local://plan", long, object{"useless": true})
		}
		plan := func(src *reduce.Source) { src.ProtectedPaths = []string{"docs/plan.md", "local://plan"} }
		require.Empty(t, stale(t, s.tail(t, idle, plan)))
		require.Len(t, stale(t, s.tail(t, idle)), 4)
	})
	t.Run("pruned ones neither go nor retire", func(t *testing.T) {
		t.Parallel()
		s := newScript()
		s.read("a.go", long)
		s.read("a.go", long, object{"prunedAt": 5})
		require.Empty(t, stale(t, s.tail(t, idle)))
	})
}

func TestPRN07UselessResults(t *testing.T) {
	t.Parallel()
	useless := object{"useless": true}
	one := func(filler int, words string, more ...object) func(change ...func(*reduce.Source)) map[string]string {
		s := newScript()
		s.tool("grep", object{"pattern": "x"}, words, more...)
		s.filler(filler)
		return func(change ...func(*reduce.Source)) map[string]string { return stale(t, s.tail(t, change...)) }
	}
	require.Equal(t, map[string]string{"e0000002": uselessNotice}, one(10, long, useless)())
	require.Equal(t, map[string]string{"e0000002": uselessNotice}, one(9000, long, useless)(idle))
	require.Empty(t, one(9000, long, useless)(), "deep in a warm cache")
	require.Empty(t, one(10, "no match", useless)(idle), "smaller than the notice")
	require.Empty(t, one(10, long)(idle))
	require.Empty(t, one(10, long, useless, object{"isError": true})(idle), "an error is never useless")

	s := newScript()
	both := s.read("a.go", long, useless)
	s.read("a.go", long)
	require.Equal(t, map[string]string{both: supersededNotice}, stale(t, s.tail(t)))

	rules := reduce.DefaultStaleRules()
	rules.SupersedeReads = false
	require.Equal(t, map[string]string{both: uselessNotice}, decided(must(t)(s.tail(t).Stale(rules))))
	rules.DropUseless = false
	require.Empty(t, must(t)(s.tail(t, idle).Stale(rules)).Decisions)
}

func TestAReadThatGoesRetiresNothing(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.read("a.go", long)
	empty := s.read("a.go", long, object{"useless": true})
	require.Equal(t, map[string]string{empty: uselessNotice}, stale(t, s.tail(t)))
}

func TestFailedReadsAndCallsThatNeverRanRetireNothing(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.read("a.go", long, object{"isError": true})
	s.read("a.go", long)
	s.read("a.go", long, object{"isError": true})
	s.message(object{"role": "assistant", "stopReason": "aborted", "content": []any{
		object{"type": "toolCall", "id": "x", "name": "read", "arguments": object{"path": "a.go"}},
	}})
	s.answers("x", "read", long)
	require.Empty(t, stale(t, s.tail(t, idle)))
}
