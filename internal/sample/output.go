package sample

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Tool output, invented but shaped like the real thing.

var (
	nouns = strings.Fields("slot berth quay tide vessel pilot window draft tug crane manifest ledger fee cursor batch feed hold region lock queue")
	verbs = strings.Fields("load merge check split apply find sort prune count bind shift reserve release")
	types = strings.Fields("int string bool error float64 time.Time []byte map[string]int *Slot")
	names = []string{"Marín", "Okafor", "Lindqvist", "João Prado", "佐藤", "王伟", "Смирнова", "الحربي", "O'Brien", "Nguyễn"}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// goFile renders a source file of about n functions.
func goFile(r *rand.Rand, e *episode, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Package %s is part of the harbour scheduler.\npackage %s\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n\t\"time\"\n)\n\n", e.pkg, e.pkg)
	fmt.Fprintf(&b, "// ErrOverlap says that two slots claim one berth.\nvar ErrOverlap = errors.New(\"%s: overlapping slots\")\n\n", e.pkg)
	for i := range n {
		noun, verb := pick(r, nouns), pick(r, verbs)
		name := title(verb) + title(noun)
		if i == n/2 {
			name = e.symbol
		}
		fmt.Fprintf(&b, "// %s %ss the %s; it returns an error when the %s is gone.\n", name, verb, noun, pick(r, nouns))
		fmt.Fprintf(&b, "func (p *Planner) %s(%s %s, limit int) (%s, error) {\n", name, noun, pick(r, types), pick(r, types))
		for range 1 + r.IntN(4) {
			fmt.Fprintf(&b, "\tif p.%s > %d && limit != %d {\n\t\treturn zero, fmt.Errorf(\"%s %%d: %s %%s\", limit, p.%s)\n\t}\n",
				pick(r, nouns), r.IntN(90), r.IntN(12), verb, pick(r, nouns), pick(r, nouns))
		}
		if i == n/2 {
			b.WriteString(e.before + "\n")
		}
		fmt.Fprintf(&b, "\tp.%s = append(p.%s, %s)\n\treturn p.%s(limit-%d)\n}\n\n", noun, noun, noun, pick(r, verbs), r.IntN(5))
	}
	return b.String()
}

func grepOutput(r *rand.Rand, e *episode, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:func (p *Planner) %s(\n", e.path(), 40+r.IntN(200), e.symbol)
	for range n {
		other := pick(r, episodes)
		fmt.Fprintf(&b, "%s:%d:\t%s, err := p.%s(%s, %d)\n", other.path(), 10+r.IntN(400), pick(r, nouns), e.symbol, pick(r, nouns), r.IntN(50))
	}
	return b.String()
}

func testFailure(r *rand.Rand, e *episode) string {
	var b strings.Builder
	for range 3 + r.IntN(6) {
		fmt.Fprintf(&b, "=== RUN   Test%s%s\n--- PASS: Test%s%s (0.%02ds)\n", title(pick(r, verbs)), title(pick(r, nouns)), title(pick(r, verbs)), title(pick(r, nouns)), r.IntN(40))
	}
	fmt.Fprintf(&b, "=== RUN   %s\n    %s\n--- FAIL: %s (0.0%ds)\nFAIL\nFAIL\tharbor/internal/%s\t0.%03ds\nFAIL\n\nCommand exited with code 1",
		e.test, e.failure, e.test, r.IntN(9), e.pkg, 10+r.IntN(900))
	return b.String()
}

func testSuccess(r *rand.Rand, e *episode) string {
	return fmt.Sprintf("ok  \tharbor/internal/%s\t0.%03ds\tcoverage: %d.%d%% of statements\n", e.pkg, 10+r.IntN(900), 60+r.IntN(39), r.IntN(10))
}

func diff(e *episode) string {
	minus := "-" + strings.ReplaceAll(e.before, "\n", "\n-")
	plus := "+" + strings.ReplaceAll(e.after, "\n", "\n+")
	return fmt.Sprintf("Edited %s\n@@ -88,1 +88,%d @@\n%s\n%s\n", e.path(), 1+strings.Count(e.after, "\n"), minus, plus)
}

func gitStatus(e *episode, branch string) string {
	return fmt.Sprintf("On branch %s\nYour branch is ahead of 'origin/%s' by 2 commits.\n\nChanges not staged for commit:\n"+
		"  (use \"git add <file>...\" to update what will be committed)\n\tmodified:   %s\n\tmodified:   %s\n\nno changes added to commit\n",
		branch, branch, e.path(), e.testPath())
}

func jsonOutput(r *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString("{\"berths\":[")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n  {\"id\":\"B%d\",\"quay\":%d,\"pilot\":%q,\"from\":\"2026-03-%02dT%02d:00:00Z\",\"draft\":%d.%d,\"held\":%t}",
			r.IntN(60), r.IntN(9), pick(r, names), 1+r.IntN(28), r.IntN(24), 4+r.IntN(11), r.IntN(10), r.IntN(4) == 0)
	}
	b.WriteString("\n],\"cursor\":\"b3\"}\n")
	return b.String()
}

func logOutput(r *rand.Rand, n int) string {
	levels := []string{"INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"}
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "2026-03-02T0%d:%02d:%02d.%03dZ %-5s ais: %s %s vessel=%q mmsi=%d took=%dms\n",
			i%10, r.IntN(60), r.IntN(60), r.IntN(1000), pick(r, levels), pick(r, verbs), pick(r, nouns), pick(r, names), 200000000+r.IntN(90000000), r.IntN(4000))
	}
	return b.String()
}

func stackTrace(r *rand.Rand, e *episode) string {
	var b strings.Builder
	fmt.Fprintf(&b, "panic: runtime error: index out of range [%d] with length %d\n\ngoroutine %d [running]:\n", 3+r.IntN(5), 3, 1+r.IntN(90))
	for range 4 + r.IntN(5) {
		other := pick(r, episodes)
		fmt.Fprintf(&b, "harbor/internal/%s.(*Planner).%s(0xc000%06x, 0x%x)\n\t/srv/dev/harbor/%s:%d +0x%x\n",
			other.pkg, other.symbol, r.IntN(1<<24), r.IntN(64), other.path(), 20+r.IntN(300), r.IntN(4096))
	}
	fmt.Fprintf(&b, "exit status 2\nFAIL\tharbor/internal/%s\t0.0%02ds\n\nCommand exited with code 1", e.pkg, r.IntN(100))
	return b.String()
}
