package eval

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/compaction/gate"
	"recap/internal/contract"
	"recap/internal/eval/probe"
	"recap/internal/testkit/repo"
)

// few is a corpus that is large enough to notice what is broken, and quick.
const few = 6

// TestM5ScorerRecoversKnownLoss: the scorer gives 1 to who keeps everything, 0 to who keeps nothing, and
// to who drops a known share what that share is worth.
func TestM5ScorerRecoversKnownLoss(t *testing.T) {
	t.Parallel()
	e := newEngine(Options{Sessions: few})
	known := 0
	for _, by := range controls() {
		c, err := e.control(by)
		require.NoError(t, err)
		switch by.Name {
		case "oracle":
			require.InDelta(t, 1, c.Answer.Score, 0)
		case "null":
			require.InDelta(t, 0, c.Answer.Score, 0)
		}
		if c.Loss != nil {
			known++
			require.LessOrEqual(t, c.Error(), 0.01, by.Name)
		}
	}
	require.GreaterOrEqual(t, known, 5+len(probe.Classes)-1)
}

// TestLossOfOneClassIsLossOfThatClass alone: the other classes keep their score.
func TestLossOfOneClassIsLossOfThatClass(t *testing.T) {
	t.Parallel()
	e := newEngine(Options{Sessions: few})
	for _, by := range controls() {
		class, ok := strings.CutPrefix(by.Name, "lossy-")
		if !ok || strings.ContainsAny(class, "0123456789") {
			continue
		}
		c, err := e.control(by)
		require.NoError(t, err)
		for name, score := range c.Answer.Classes {
			want := 1.0
			if name == class {
				want = 0
			}
			require.InDelta(t, want, score, 0, "%s of %s", name, by.Name)
		}
	}
}

// TestM11EqualOptionsEqualReport: the whole report, byte for byte.
func TestM11EqualOptionsEqualReport(t *testing.T) {
	t.Parallel()
	var reports [2][]byte
	for i := range reports {
		r, err := Run(Options{Sessions: few / 2})
		require.NoError(t, err)
		reports[i], err = json.Marshal(r)
		require.NoError(t, err)
	}
	require.Empty(t, cmp.Diff(string(reports[0]), string(reports[1])))
}

// TestBrokenPlannerFails: a planner that loses something is noticed, whatever it loses.
func TestBrokenPlannerFails(t *testing.T) {
	t.Parallel()
	calls := 0
	for _, tt := range []struct {
		name, want string
		damage     func(*compaction.Prepared)
	}{
		{"a message does not reach the summariser", "M1 generated", func(p *compaction.Prepared) {
			if h := p.History; h != nil {
				h.Conversation = append(h.Conversation[:1:1], h.Conversation[2:]...)
			}
		}},
		{"a tool result is cut too short", "M1 generated", func(p *compaction.Prepared) {
			for _, req := range p.Requests() {
				for i := range req.Conversation {
					if b := &req.Conversation[i]; len(b.Text) > 1000 {
						b.Text = strings.ToValidUTF8(b.Text[:1000], "")
					}
				}
			}
		}},
		{"a message is in no list", "M2 generated", func(p *compaction.Prepared) {
			c := &p.Plan.Coverage
			c.Kept = c.Kept[1:]
		}},
		{"a message is summarised and kept", "M2 generated", func(p *compaction.Prepared) {
			c := &p.Plan.Coverage
			c.Summarized = append(c.Summarized, c.Kept[0])
		}},
		{"changed files are forgotten", "M3", func(p *compaction.Prepared) { p.Plan.Files.Modified = nil }},
		{"files are listed that were never touched", "M4", func(p *compaction.Prepared) {
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				p.Plan.Files.Read = append(p.Plan.Files.Read, "never/"+name)
			}
		}},
		{"the previous summary is not shown", "decay oracle", func(p *compaction.Prepared) {
			if p.History != nil {
				p.History.PreviousSummary = ""
			}
		}},
		{"plans differ from run to run", "M11", func(p *compaction.Prepared) {
			calls++
			p.Plan.KeptTokens = calls
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := Options{Sessions: few / 2, Prepare: func(in compaction.Input) (*compaction.Prepared, error) {
				p, err := compaction.Prepare(in)
				if err == nil {
					tt.damage(p)
				}
				return p, err
			}}
			var r Report
			engine := newEngine(e)
			require.NoError(t, engine.measureGenerations(&r))
			require.NoError(t, engine.measureSameness(&r))
			require.Contains(t, strings.Join(r.Failed(), "\n"), tt.want)
		})
	}
}

// TestBrokenGateFails: a gate that lets everything by, one that refuses everything, and one that does
// not repair are noticed.
func TestBrokenGateFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		want  []string
		judge func(gate.Input) gate.Result
	}{
		{"lets everything by", []string{"M6:", "M6 F1:", "M6 F12:", "M8:", "null:", "bloater:"}, func(in gate.Input) gate.Result {
			return gate.Result{Verdict: contract.VerdictAccept, Text: in.Text}
		}},
		{"refuses everything", []string{"M7:", "oracle: the gate refuses"}, func(in gate.Input) gate.Result {
			return gate.Result{Verdict: contract.VerdictNext, Text: in.Text, Reasons: []contract.Code{gate.CodeRefusal}}
		}},
		{"does not repair", []string{"M6 F14:", "M8:"}, func(in gate.Input) gate.Result {
			r := gate.Judge(in)
			r.Text = in.Text
			return r
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var r Report
			e := newEngine(Options{Sessions: few * 2, Judge: tt.judge})
			require.NoError(t, e.measureGate(&r))
			for _, by := range controls()[:12] {
				c, err := e.control(by)
				require.NoError(t, err)
				r.Controls = append(r.Controls, c)
			}
			failed := strings.Join(r.Failed(), "\n")
			for _, want := range tt.want {
				require.Contains(t, failed, want)
			}
		})
	}
}

// TestM1M2RealSessions takes coverage of the corpus of real sessions.
func TestM1M2RealSessions(t *testing.T) {
	t.Parallel()
	dir := repo.Corpus(t)
	e := newEngine(Options{Sessions: -1, Real: os.DirFS(dir)})
	var r Report
	require.NoError(t, e.measureReal(&r))
	c := r.Real.Coverage
	require.NotZero(t, c.Sessions)
	require.InDelta(t, 1, c.Prompt(), 0, c.Missing)
	require.InDelta(t, 1, c.Span(), 0, c.Missing)
}

// TestRealFolderCountsWhatItPassesOver: files of other formats and sessions with nothing to do.
func TestRealFolderCountsWhatItPassesOver(t *testing.T) {
	t.Parallel()
	s := newEngine(Options{Sessions: 1}).sessions[0]
	files := fstest.MapFS{
		"a/session.jsonl": {Data: s.Data(1)},
		"a/other.jsonl":   {Data: []byte(`{"kind":"note"}` + "\n")},
		"a/short.jsonl":   {Data: []byte(`{"type":"session","version":3,"id":"x","timestamp":"2026-03-02T09:00:00.000Z","cwd":"/"}` + "\n")},
		"a/notes.txt":     {Data: []byte("no session")},
	}
	var r Report
	require.NoError(t, newEngine(Options{Sessions: -1, Real: files}).measureReal(&r))
	require.Equal(t, 3, r.Real.Files)
	require.Equal(t, 1, r.Real.Other)
	require.Equal(t, 1, r.Real.Empty)
	require.Equal(t, 1, r.Real.Coverage.Sessions)
	require.InDelta(t, 1, r.Real.Coverage.Prompt(), 0, r.Real.Coverage.Missing)
	require.InDelta(t, 1, r.Real.Coverage.Span(), 0, r.Real.Coverage.Missing)
}

// TestM13SpeedNeedsAClock: without one nothing is timed, with one both figures are there.
func TestM13SpeedNeedsAClock(t *testing.T) {
	t.Parallel()
	var r Report
	require.NoError(t, newEngine(Options{Sessions: -1}).measureSpeed(&r))
	require.Nil(t, r.Speed)
	now := time.Unix(0, 0)
	clock := func() time.Time { now = now.Add(7 * time.Millisecond); return now }
	require.NoError(t, newEngine(Options{Sessions: -1, Clock: clock}).measureSpeed(&r))
	require.InDelta(t, 7, r.Speed.PlanMs, 0)
	require.InDelta(t, 7, r.Speed.GateMs, 0)
	require.Greater(t, r.Speed.GateSourceTokens, 100_000)
	require.Greater(t, r.Speed.PlanBefore, 1000)
}
