package eval

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"recap/internal/eval/probe"
	"recap/internal/session"
)

// Ledger says how well the lists of files that recap keeps by itself agree with the tool calls of the
// summarised messages (M3, M4), at the end of a chain of compactions.
type Ledger struct {
	Summariser string `json:"summariser"`
	// Generations hold, for each generation, files that were touched up to then and how many of them
	// the newest entry's details list, and how many its summary shows.
	Generations []LedgerPoint `json:"generations"`
}

// LedgerPoint is the state of the ledgers after one generation, summed over the sessions.
type LedgerPoint struct {
	Files  int `json:"files"`  // files read or changed
	Stored int `json:"stored"` // of them, in the details, in the right list
	Listed int `json:"listed"` // of them, shown in the summary (which shows a bounded number)
	Extra  int `json:"extra"`  // in the details and never touched
}

// Recall is the share of files that the details hold.
func (p LedgerPoint) Recall() float64 { return ratio(p.Stored, p.Files) }

// Rendered is the share of files that the summary shows.
func (p LedgerPoint) Rendered() float64 { return ratio(p.Listed, p.Files) }

// F1 is the harmonic mean of recall and precision (M4).
func (p LedgerPoint) F1() float64 {
	return ratio(2*p.Stored, p.Files+p.Stored+p.Extra)
}

// Recall is M3: the lowest of all generations, because a ledger must be flat.
func (l Ledger) Recall() float64 {
	low := 1.0
	for _, g := range l.Generations {
		low = min(low, g.Recall())
	}
	return low
}

// F1 is M4: the lowest of all generations.
func (l Ledger) F1() float64 {
	low := 1.0
	for _, g := range l.Generations {
		low = min(low, g.F1())
	}
	return low
}

// touched collects the files of summarised tool calls. It reads the stored JSON by itself.
type touched struct{ read, modified map[string]bool }

func (t *touched) add(st *step) error {
	if t.read == nil {
		t.read, t.modified = map[string]bool{}, map[string]bool{}
	}
	for _, id := range st.covered() {
		body, err := st.file.Body(st.file.Log.Find(id))
		if err != nil {
			return err
		}
		gjson.GetBytes(body, "message.content").ForEach(func(_, b gjson.Result) bool {
			path := b.Get("arguments.path").String()
			if b.Get("type").String() != "toolCall" || path == "" {
				return true
			}
			switch b.Get("name").String() {
			case "read":
				t.read[path] = true
			case "edit", "write":
				t.modified[path] = true
			}
			return true
		})
	}
	return nil
}

// all are the files as the details of pi sessions list them: changed ones are not listed as read.
func (t *touched) all() []string {
	var out []string
	for p := range t.modified {
		out = append(out, "w "+p)
	}
	for p := range t.read {
		if !t.modified[p] {
			out = append(out, "r "+p)
		}
	}
	slices.Sort(out)
	return out
}

// point compares a committed entry with the truth.
func (t *touched) point(st *step) (LedgerPoint, error) {
	c, err := session.DecodeCompaction(st.entry)
	if err != nil {
		return LedgerPoint{}, err
	}
	stored := map[string]bool{}
	for _, p := range details(c, "readFiles") {
		stored["r "+p] = true
	}
	for _, p := range details(c, "modifiedFiles") {
		stored["w "+p] = true
	}
	_, block, _ := strings.Cut(c.Summary, "<files>\n")
	shown := probe.ReadTree(block)
	var p LedgerPoint
	for _, f := range t.all() {
		p.Files++
		if stored[f] {
			p.Stored++
			delete(stored, f)
		}
		if slices.Contains(shown, f[2:]) {
			p.Listed++
		}
	}
	p.Extra = len(stored)
	return p, nil
}

// details are the paths of one list of a compaction.
func details(c session.Compaction, list string) []string {
	var out []string
	gjson.GetBytes(c.Details, list).ForEach(func(_, v gjson.Result) bool {
		out = append(out, v.String())
		return true
	})
	return out
}
