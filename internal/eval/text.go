package eval

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"recap/internal/contract"
	"recap/internal/eval/probe"
)

// WriteText prints the report for people. Every score stands beside the name of its summariser. The
// error is w's.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	t := &table{b: &b}
	fmt.Fprintf(&b, "corpus %s: %d sessions, %d planted facts, seed %d\n", r.Corpus, r.Sessions, r.Facts, r.Seed)
	fmt.Fprintf(&b, "offline measure: no model was asked; a score tells about the summariser it is named after, and no other\n")

	t.heading("coverage")
	t.row("", "sessions", "compactions", "M1 prompt", "facts", "cut as documented", "words", "M2 span", "messages")
	coverageRow(t, "generated", r.Coverage)
	if r.Real != nil {
		coverageRow(t, "real", r.Real.Coverage)
		t.flush()
		fmt.Fprintf(&b, "real: %d files, %d of other formats, %d damaged, %d with nothing to compact\n", r.Real.Files, r.Real.Other, r.Real.Damaged, r.Real.Empty)
	}

	t.heading("ledger of files over %d generations", generationsOf(r))
	t.row("summariser", "M3 stored", "M4 F1", "shown in the summary, first and last generation")
	for _, l := range r.Ledgers {
		t.row(l.Summariser, score(l.Recall()), score(l.F1()), score(l.Generations[0].Rendered())+" "+score(l.Generations[len(l.Generations)-1].Rendered()))
	}

	t.heading("what the first compaction keeps")
	t.row("summariser", "answer", "95 %", "known loss", "summary", "context", "lowest class", "retained", "recoverable", "mutated", "stale", "missing", "untrue", "gate")
	for _, c := range r.Controls {
		controlRow(t, c)
	}
	t.heading("the same by class, answer alone")
	t.row(append([]string{"summariser"}, classNames()...)...)
	for _, c := range r.Controls {
		row := []string{c.Summariser}
		for _, name := range classNames() {
			row = append(row, score(c.Answer.Classes[name]))
		}
		t.row(row...)
	}

	t.heading("decay: committed summary after each generation")
	t.row("summariser", "scores", "of paths", "half-life", "refused")
	for _, d := range r.Decay {
		half := "none"
		if d.HalfLife > 0 {
			half = fmt.Sprint(d.HalfLife)
		}
		t.row(d.Summariser, scores(d.Scores), scores(d.Files), half, strings.Trim(fmt.Sprint(d.Refused), "[]")+reasons(d.Reasons))
	}

	t.heading("gate on labelled candidates")
	t.row("half", "bad", "caught", "M6", "lowest class", "good", "refused", "M7", "M8 unsafe")
	for _, h := range []struct {
		name string
		half GateHalf
	}{{"tuning", r.Gate.Tuning}, {"reporting", r.Gate.Reporting}} {
		class, low := h.half.Lowest()
		t.row(h.name, fmt.Sprint(h.half.Bad), fmt.Sprint(h.half.Caught), score(h.half.Catch()), class+" "+score(low),
			fmt.Sprint(h.half.Good), fmt.Sprint(h.half.FalseRejects), score(h.half.Rejects()), fmt.Sprint(h.half.Unsafe))
	}
	t.flush()
	b.WriteByte('\n')
	t.row("class", "tuning", "reporting", "of them cured")
	for i, c := range r.Gate.Reporting.Classes {
		u := r.Gate.Tuning.Classes[i]
		t.row(c.Class, fmt.Sprintf("%d/%d", u.Caught, u.Bad), fmt.Sprintf("%d/%d", c.Caught, c.Bad), fmt.Sprint(u.Cured+c.Cured))
	}
	t.flush()

	for _, name := range append(slices.Clone(r.Gate.Tuning.Refused), r.Gate.Reporting.Refused...) {
		fmt.Fprintf(&b, "  good and refused: %s\n", name)
	}
	for _, name := range append(slices.Clone(r.Gate.Tuning.Escaped), r.Gate.Reporting.Escaped...) {
		fmt.Fprintf(&b, "  bad and let by: %s\n", name)
	}

	fmt.Fprintf(&b, "\nM11: %d of %d runs gave the same bytes (%s)\n", r.Sameness.Identical, r.Sameness.Runs, r.Sameness.Digest)
	if s := r.Speed; s != nil {
		fmt.Fprintf(&b, "M13: gate %.1f ms for 100,000 tokens (%.1f ms for %d); planner %.1f ms on a live tail of %d entries behind %d\n",
			s.GateMsPer100k, s.GateMs, s.GateSourceTokens, s.PlanMs, s.PlanTailEntries, s.PlanBefore)
	}
	if failed := r.Failed(); len(failed) > 0 {
		fmt.Fprintf(&b, "\n%d floors do not hold:\n", len(failed))
		for _, f := range failed {
			fmt.Fprintf(&b, "  %s\n", f)
		}
	} else {
		b.WriteString("\nall floors hold\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func generationsOf(r *Report) int {
	if len(r.Ledgers) == 0 {
		return 0
	}
	return len(r.Ledgers[0].Generations)
}

func coverageRow(t *table, name string, c Coverage) {
	t.row(name, fmt.Sprint(c.Sessions), fmt.Sprint(c.Compactions), score(c.Prompt()), fmt.Sprintf("%d/%d", c.FactsPresent, c.Facts),
		fmt.Sprint(c.FactsCut), fmt.Sprintf("%d/%d", c.WordsPresent, c.Words), score(c.Span()), fmt.Sprintf("%d/%d", c.MessagesOnce, c.Messages))
}

func controlRow(t *table, c Controls) {
	loss, summary, context := "-", "-", "-"
	if c.Loss != nil {
		loss = score(*c.Loss)
	}
	if c.Summary != nil {
		summary, context = score(c.Summary.Score), score(c.Context.Score)
	}
	class, low := c.Answer.Lowest()
	row := []string{
		c.Summariser, score(c.Answer.Score), fmt.Sprintf("%.3f–%.3f", c.Answer.Interval[0], c.Answer.Interval[1]), loss, summary, context,
		class + " " + score(low),
	}
	for _, s := range probe.States {
		row = append(row, fmt.Sprint(c.Answer.States[s]))
	}
	t.row(append(row, fmt.Sprint(c.Answer.Wrong), fmt.Sprintf("%d accepted, %d refused", c.Accepted, c.Refused))...)
}

func classNames() []string {
	var out []string
	for _, c := range probe.Classes {
		if c != probe.Negative {
			out = append(out, string(c))
		}
	}
	return out
}

// reasons names why a gate refused, "" for none. Maps print in the order of their keys.
func reasons(m map[contract.Code]int) string {
	if len(m) == 0 {
		return ""
	}
	return " " + strings.TrimPrefix(fmt.Sprint(m), "map")
}

func score(x float64) string { return fmt.Sprintf("%.3f", x) }

func scores(list []float64) string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = fmt.Sprintf("%.2f", x)
	}
	return strings.Join(out, " ")
}

// table aligns rows below headings.
type table struct {
	b *strings.Builder
	w *tabwriter.Writer
}

func (t *table) heading(format string, args ...any) {
	t.flush()
	fmt.Fprintf(t.b, "\n"+format+"\n", args...)
}

func (t *table) row(cells ...string) {
	if t.w == nil {
		t.w = tabwriter.NewWriter(t.b, 0, 0, 2, ' ', 0)
	}
	_, _ = t.w.Write([]byte("  " + strings.Join(cells, "\t") + "\n")) // into memory
}

func (t *table) flush() {
	if t.w != nil {
		_ = t.w.Flush() // a strings.Builder does not fail
		t.w = nil
	}
}
