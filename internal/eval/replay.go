package eval

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"recap/internal/compaction"
	"recap/internal/compaction/gate"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/eval/control"
	"recap/internal/eval/fixture"
	"recap/internal/session"
	"recap/prompts"
)

// keepTokens is how much of a session's end each compaction keeps: little, so that every generation has
// much to summarise.
const keepTokens = 1500

// The times of a replay. Sessions are long over, so no call is in flight.
var (
	replayNow  = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	replayLast = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
)

// planned is a compaction before anybody was asked.
type planned struct {
	file     *session.File
	prepared *compaction.Prepared
	digests  []*gate.Source // one for each request
}

// step is one compaction of a replay.
type step struct {
	planned
	answers  []string // one for each request
	results  []gate.Result
	accepted bool
	// bare is what the summariser alone said, in the form of a summary; summary is what was committed:
	// with the gate's repairs and the list of files. It is empty when the answer was refused.
	bare, summary string
	entry         []byte
	after         *session.File // with the entry
}

// covered are the ids of the entries the step summarised.
func (s *step) covered() []string {
	c := s.prepared.Plan.Coverage
	return append(append([]string{}, c.Summarized...), c.TurnPrefix...)
}

// replay is one session on its way through generations of compactions.
type replay struct {
	e    *engine
	s    *fixture.Session
	by   control.Summariser
	data bytes.Buffer
	last string // id of the newest entry
	n    int    // compactions written
	// ungated commits whatever the summariser says, as if there were no gate.
	ungated bool
}

// next adds the work of a generation and compacts. It returns nil when there was nothing to compact.
func (r *replay) next(generation int) (*step, error) {
	if err := r.work(generation); err != nil {
		return nil, err
	}
	p, err := r.plan(generation)
	if err != nil || p == nil {
		return nil, err
	}
	st := &step{planned: *p}
	r.summarise(st)
	if !st.accepted {
		return st, nil
	}
	return st, r.commit(st)
}

// plan plans the compaction of what there is. The first one of a session is the same whoever summarises,
// so it is planned once.
func (r *replay) plan(generation int) (*planned, error) {
	if p := r.e.first[r.s]; generation == 0 && p != nil {
		return p, nil
	}
	file, err := session.Parse(bytes.Clone(r.data.Bytes()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.s.Name, err)
	}
	p := &planned{file: file}
	p.prepared, err = r.e.prepare(r.e.input(file, fmt.Sprintf("eval-%s-%d", r.s.Name, generation), keepTokens))
	var skip *compaction.Skip
	if errors.As(err, &skip) && skip.State == contract.StateSkipped {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s, generation %d: %w", r.s.Name, generation, err)
	}
	for _, req := range p.prepared.Requests() {
		p.digests = append(p.digests, gate.Read(req.Conversation, req.PreviousSummary))
	}
	if generation == 0 {
		r.e.first[r.s] = p
	}
	return p, nil
}

// input is how the product would plan a compaction of a file.
func (e *engine) input(f *session.File, operation string, keep int) compaction.Input {
	return compaction.Input{
		Log: f.Log, Bodies: f, Dialect: f.Dialect, Operation: operation, Reason: contract.ReasonManual,
		Settings: contract.Settings{KeepRecentTokens: keep}, Prompts: prompts.All(), Now: replayNow, LastWrite: replayLast,
	}
}

// work appends the new entries of a generation under the newest one.
func (r *replay) work(generation int) error {
	for i, l := range r.s.Segments[generation] {
		if i == 0 && generation > 0 {
			l = fixture.Reparent(l, r.last)
		}
		r.data.Write(l)
		r.data.WriteString(r.s.Newline)
	}
	lines := r.s.Segments[generation]
	objects, kind := session.Inspect(lines[len(lines)-1])
	if kind != "" || len(objects) != 1 {
		return fmt.Errorf("%s: the last line of generation %d is damaged: %s", r.s.Name, generation, kind)
	}
	r.last = objects[0].ID
	return nil
}

// summarise asks for every part and lets the gate decide about each, as a worker's review does.
func (r *replay) summarise(st *step) {
	st.accepted = true
	plan := st.prepared.Plan
	texts, bare := map[contract.Part]string{}, map[contract.Part]string{}
	for i, req := range st.prepared.Requests() {
		answer := r.by.Summarise(r.s, req, maxOutput)
		in := gateInput(&plan, req, answer, r.by.Extractive)
		in.Digest = st.digests[i]
		if req.Part == contract.PartHistory {
			in.Ledger = &gate.Ledger{Errors: gate.ErrorLedger(req.Conversation, errorsKept)}
			if plan.FirstKeptEntryID != session.KeepNothing {
				in.Ask = &gate.Ask{Answered: true} // the kept tail goes on from it
			}
		}
		result := r.e.judge(in)
		st.answers = append(st.answers, answer)
		st.results = append(st.results, result)
		if r.ungated {
			result.Text = answer
		} else {
			st.accepted = st.accepted && result.Accepted()
		}
		texts[req.Part], bare[req.Part] = result.Text, answer
	}
	plain := plan
	plain.Files.Read, plain.Files.Modified, plain.Files.AlsoRead = nil, nil, nil
	st.bare = compaction.Assemble(&plain, bare[contract.PartHistory], bare[contract.PartTurnPrefix])
	if st.accepted {
		st.summary = compaction.Assemble(&plan, texts[contract.PartHistory], texts[contract.PartTurnPrefix])
	}
	if st.accepted && !r.ungated && len(texts) == 1 {
		r.whole(st)
	}
}

// whole judges the assembled text of one part, as a worker's review does; parts that were joined were
// judged each by its own headings.
func (r *replay) whole(st *step) {
	plan := &st.prepared.Plan
	result := r.e.judge(gate.Input{
		Text: st.summary, Finished: true, Digest: st.digests[0], SourceTokens: plan.SourceTokens, Extractive: r.by.Extractive,
		MinSourceTokens: plan.Settings.MinSourceTokens, Ask: &gate.Ask{Answered: true}, Ledger: &gate.Ledger{Files: plan.Files},
	})
	st.results = append(st.results, result)
	if st.accepted = result.Accepted(); st.accepted {
		st.summary = result.Text
	} else {
		st.summary = ""
	}
}

// errorsKept is how many of the last distinct errors a summary must hold, as in a worker's review.
const errorsKept = 5

// maxOutput is the output budget of the summarisers, in tokens.
const maxOutput = 8000

// gateInput is one answer with what it is measured against, as a worker's review puts it together.
func gateInput(plan *compaction.Plan, req *transcript.Request, answer string, extractive bool) gate.Input {
	return gate.Input{
		Part: req.Part, Text: answer, Finished: true, Source: req.Conversation, PreviousSummary: req.PreviousSummary,
		SourceTokens: plan.SourceTokens, Instruction: req.Instruction, Given: req.Context, MaxOutput: maxOutput,
		Extractive: extractive, MinSourceTokens: plan.Settings.MinSourceTokens,
	}
}

// commit appends the entry and reads the session again.
func (r *replay) commit(st *step) error {
	r.n++
	c := compaction.NewEntry(&st.prepared.Plan, st.summary)
	c.ID, c.ParentID, c.Timestamp = fmt.Sprintf("c0%06x", r.n), r.last, "2026-05-01T00:00:00.000Z"
	c.Recap = session.RecapMark{Operation: st.prepared.Plan.Operation, Attempt: 1}
	entry, err := session.BuildCompaction(st.prepared.Plan.Dialect, c)
	if err != nil {
		return fmt.Errorf("%s: %w", r.s.Name, err)
	}
	st.entry, r.last = entry, c.ID
	r.data.Write(entry)
	r.data.WriteString(r.s.Newline)
	if st.after, err = session.Parse(bytes.Clone(r.data.Bytes())); err != nil {
		return fmt.Errorf("%s: after the compaction: %w", r.s.Name, err)
	}
	return nil
}

// tail is the text of the context behind the summary.
func (st *step) tail() (string, error) {
	c, err := session.BuildContext(st.after.Log, st.after, session.ContextOptions{})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role == session.RoleCompactionSummary {
			continue
		}
		b.WriteString(m.Text("\n"))
		b.WriteString(m.Command + "\n" + m.Output + "\n" + m.Summary + "\n")
		for _, call := range m.Calls() {
			b.Write(call.Arguments)
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}
