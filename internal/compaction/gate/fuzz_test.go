package gate_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/gate"
	"recap/internal/compaction/gate/secret"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// FuzzJudge: no answer panics, verdicts agree with their reasons, and judging an accepted text again
// changes nothing.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{
		good, "", "```", "<think>", "<summary></summary>", "```md\n## Goal\nx\n```", "I'm sorry, I can't help with that.", "\r## Goal\r\r", "- \n1. ",
		strings.Repeat("ab", 300), "<summary><summary></summary>", "\xff\xfe", "## Goal\n" + strings.Repeat("语", 200), "~~~\n`~~~\n", "# #\n## ##",
		"- User said: \"a b c d e f g\" in src/a.go:3 and 6543 ms\n## Exact References\n- File: `x/y.go`\n<files>\n# a/\n</files>",
		"password=hunter2hunter2 AKIAABCDEFGHIJKLMNOP\n---\n## Critical Context\n> never push without asking",
	} {
		f.Add(seed, "Never touch vendor/lib.go. Port 6543, ticket OPS-12 and `a b`.", 40_000, uint8(0))
		f.Add(seed, seed, 10, uint8(1))
	}
	for _, tg := range tongues {
		f.Add(tg.good, tg.first+" "+tg.rule+"\n"+tg.ask, 3000, uint8(2))
	}
	parts := []contract.Part{contract.PartHistory, contract.PartTurnPrefix, ""}
	f.Fuzz(func(t *testing.T, text, user string, sourceTokens int, flags uint8) {
		in := gate.Input{
			Part: parts[int(flags)%len(parts)], Text: text, Finished: true, SourceTokens: sourceTokens, Extractive: flags&0x80 != 0,
			Source: []transcript.Block{
				{Role: transcript.User, Text: user},
				{Role: transcript.ToolResult, Error: true, Text: text},
				{Role: transcript.Assistant, Calls: []transcript.Call{{Name: "edit", Args: []transcript.Arg{{Key: "path", JSON: "\"" + user + "\""}}}}},
			},
		}
		if flags&0x40 != 0 {
			in.PreviousSummary, in.Protected = text, []string{user}
			in.Ledger = &gate.Ledger{Pins: []string{user}, Questions: []string{user}, Errors: []gate.ErrorFact{{Text: user}}}
		}
		r := gate.Judge(in)
		require.Equal(t, r, gate.Judge(in), "pure")
		require.Equal(t, r.Accepted(), len(r.Reasons) == 0)
		require.Subset(t, gate.Reasons, r.Reasons)
		require.Subset(t, gate.Repairs, r.Repairs)
		require.LessOrEqual(t, len(r.Feedback()), gate.FeedbackLimit)
		require.Equal(t, r.Accepted(), r.Feedback() == "")
		require.True(t, utf8.ValidString(r.Text))
		if r.Accepted() {
			require.NotEmpty(t, strings.TrimSpace(r.Text))
			require.Equal(t, r.Verdict == contract.VerdictRepaired, len(r.Repairs) > 0)
			require.Empty(t, secret.Default().Find(r.Text))
			if len(r.Repairs) < 8 {
				in.Text = r.Text
				again := gate.Judge(in)
				require.True(t, again.Accepted(), "%v %v\n%s", again.Reasons, again.Details, r.Text)
			}
		}
	})
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bare drops names and quotations that the generated source does not have.
func bare(s string) string {
	return strings.NewReplacer("jobs/billing.yaml", "the unit", "deploy/cron.txt", "the table", "./scripts/smoke.sh", "smoke").Replace(s)
}

// BenchmarkJudge measures the goal of spec/gate §4b: under 50 ms per 100,000 tokens of input.
func BenchmarkJudge(b *testing.B) {
	answer := bare(good) + "\n" + bulk(40_000)
	for _, tokens := range []int{100_000, 1_000_000} {
		var src []transcript.Block
		for size := 0; size < 4*tokens; {
			more := source(20)
			src = append(src, more...)
			for _, m := range more {
				size += len(m.Text)
				for _, c := range m.Calls {
					size += len(c.Args[0].JSON)
				}
			}
		}
		b.Run(fmt.Sprintf("%dk", tokens/1000), func(b *testing.B) {
			in := input(answer)
			in.Source, in.SourceTokens = src, tokens
			b.ReportAllocs()
			start := processorTime(b)
			for b.Loop() {
				r := gate.Judge(in)
				require.True(b, r.Accepted(), r.Reasons)
			}
			// Time of the processor, not of the clock: machines are shared.
			spent := processorTime(b) - start
			b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N)*100_000/float64(tokens), "cpu-ms/100k-tokens")
		})
	}
	b.Run("digested-100k", func(b *testing.B) {
		in := input(answer)
		in.SourceTokens, in.Digest = 100_000, gate.Read(source(700), "")
		for b.Loop() {
			require.True(b, gate.Judge(in).Accepted())
		}
	})
	b.Run("hostile-100k", func(b *testing.B) { // every value of the answer is unknown, every value of the source is another
		var src, text strings.Builder
		for i := range 12_000 {
			fmt.Fprintf(&src, "see pkg%d/dir%d/file%d.go and %d ms\n", i, i*7, i*13, 1_000_000+i*17)
		}
		text.WriteString("## Goal\nThe user said so.\n\n## Critical Context\n")
		for i := range 1200 {
			fmt.Fprintf(&text, "- the user said pkg%d/dir%d/file%dx.go and %d ms without asking\n", i, i*7, i*13, 2_000_000+i*17)
		}
		in := input(text.String())
		in.Source, in.SourceTokens = []transcript.Block{{Role: transcript.User, Text: src.String()}, {Role: transcript.ToolResult, Text: src.String()}}, 100_000
		start := processorTime(b)
		for b.Loop() {
			require.False(b, gate.Judge(in).Accepted())
		}
		b.ReportMetric(float64((processorTime(b)-start).Microseconds())/1000/float64(b.N)*100_000/float64(src.Len()/2), "cpu-ms/100k-tokens")
	})
	b.Run("answer-100k", func(b *testing.B) {
		in := input(bare(good) + "\n" + bulk(400_000))
		in.SourceTokens, in.Source = 400_000, source(10)
		for b.Loop() {
			require.True(b, gate.Judge(in).Accepted())
		}
	})
	b.Run("one-line-answer-100k", func(b *testing.B) {
		in := input(strings.ReplaceAll(bulk(400_000), "\n", " "))
		in.SourceTokens = 400_000
		for b.Loop() {
			gate.Judge(in)
		}
	})
}
