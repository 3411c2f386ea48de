package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/gate"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// FuzzJudge: no answer panics, verdicts agree with their reasons, only an accepted text may differ
// from the answer, and judging a repaired text again changes nothing.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{
		good, "", "```", "<think>", "<summary></summary>", "```md\n## Goal\nx\n```", "I'm sorry, I can't help with that.", "\r## Goal\r\r", "- \n1. ",
		strings.Repeat("ab", 300), "<summary><summary></summary>", "\xff\xfe", "## Goal\n" + strings.Repeat("语", 200), "~~~\n`~~~\n", "# #\n## ##",
	} {
		f.Add(seed, 40_000, uint8(0))
		f.Add(seed, 10, uint8(1))
	}
	parts := []contract.Part{contract.PartHistory, contract.PartTurnPrefix, ""}
	f.Fuzz(func(t *testing.T, text string, sourceTokens int, part uint8) {
		in := gate.Input{
			Part: parts[int(part)%len(parts)], Text: text, Finished: true, SourceTokens: sourceTokens,
			Source: []transcript.Block{{Role: transcript.User, Text: text}},
		}
		r := gate.Judge(in)
		require.Equal(t, r, gate.Judge(in), "pure")
		require.Equal(t, r.Accepted(), len(r.Reasons) == 0)
		require.Subset(t, gate.Reasons, r.Reasons)
		require.LessOrEqual(t, len(r.Text), len(text))
		require.Contains(t, text, r.Text, "repairs only cut off")
		if r.Accepted() {
			require.NotEmpty(t, strings.TrimSpace(r.Text))
			require.Equal(t, r.Verdict == contract.VerdictRepaired, len(r.Repairs) > 0)
			if utf8.ValidString(text) && len(r.Repairs) < 8 {
				in.Text = r.Text
				require.True(t, gate.Judge(in).Accepted())
			}
		}
	})
}

// BenchmarkJudge measures the goal of spec/gate §4b: under 50 ms per 100,000 tokens of input.
func BenchmarkJudge(b *testing.B) {
	answer := good + "\n" + bulk(40_000)
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
			for b.Loop() {
				require.True(b, gate.Judge(in).Accepted(), gate.Judge(in).Reasons)
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)*100_000/float64(tokens), "ms/100k-tokens")
		})
	}
	b.Run("answer-100k", func(b *testing.B) {
		in := input(good + "\n" + bulk(400_000))
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
