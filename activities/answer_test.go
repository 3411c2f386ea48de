package activities

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	"recap/internal/compaction/gate"
	"recap/internal/contract"
	"recap/internal/model"
)

// refuse asks for every part, lets the answers be reviewed, and returns the verdict; none may be an
// acceptance, and the session stays as it is.
func (r *rig) refuse(path string, request contract.Request) contract.ReviewResult {
	r.t.Helper()
	before, err := os.ReadFile(path)
	require.NoError(r.t, err)
	review := r.review(r.prepare(request))
	require.NotContains(r.t, []contract.Verdict{contract.VerdictAccept, contract.VerdictRepaired}, review.Verdict)
	require.Empty(r.t, review.Summary)
	after, err := os.ReadFile(path)
	require.NoError(r.t, err)
	require.Equal(r.t, string(before), string(after))
	return review
}

// TestEMP02EmptyAnswersReplaceNothing: an adapter classifies them, and should one pass all the same,
// the gate refuses it.
func TestEMP02EmptyAnswersReplaceNothing(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "white space": " \n\t\u00a0\u200b", "only headings": "## Goal\n\n## Progress\n### Done\n", "only files": "<files>\na.go (Read)\n</files>"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.model.text = text
			review := r.refuse(r.write("s.jsonl", chat(6)), r.request("s.jsonl", 20))
			require.Contains(t, review.Reasons, gate.CodeNoSubstance)
		})
	}
	t.Run("as an adapter says it", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		_, r.model.err = model.Finish(model.Evidence{Finish: "stop", Terminated: true, Text: " \n"})
		r.write("s.jsonl", chat(6))
		answer := r.call(r.prepare(r.request("s.jsonl", 20)).Candidates[0], 0, 0)
		require.Empty(t, answer.Answer)
		require.Equal(t, string(model.ClassEmpty), answer.Failure.Class)
	})
}

func TestEMP03AnAcceptedAnswerIsStoredAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	require.Equal(t, contract.StateCommitted, r.compact(r.request("s.jsonl", 20)).State)
	list := entries(t, path)
	require.Equal(t, strings.TrimSpace(goodSummary), list[len(list)-1]["summary"])
}

// interrupting is a candidate that is cancelled while it answers.
type interrupting struct {
	*scripted
	cancel context.CancelFunc
}

func (i interrupting) Client(string) (model.Client, model.Price, error) {
	return i, model.Price{}, nil
}

func (i interrupting) Complete(ctx context.Context, call model.Call) (model.Answer, error) {
	i.cancel()
	if _, err := i.scripted.Complete(ctx, call); err != nil {
		return model.Answer{}, err
	}
	return model.Answer{}, ctx.Err()
}

// TestEMP04ACancelledCallStoresNothing: what is cancelled is neither an answer nor a failure of the
// model, whatever of it had come already.
func TestEMP04ACancelledCallStoresNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("s.jsonl", chat(6))
	c := r.prepare(r.request("s.jsonl", 20)).Candidates[0]
	ctx, cancel := context.WithCancel(t.Context())
	r.env.SetWorkerOptions(worker.Options{BackgroundActivityContext: ctx})
	r.Clients = interrupting{r.model, cancel}
	_, err := execute[contract.CallModelResult](r, contract.ActivityCallModel, contract.CallModelInput{
		Operation: "op-1", Candidate: c.Candidate, Part: c.Calls[0].Part, Request: c.Calls[0].Request, MaxOutput: c.Calls[0].MaxOutput,
	})
	require.Error(t, err, "a failure of the model would be a result")
	require.Equal(t, 1, r.model.count())

	r.env.SetWorkerOptions(worker.Options{BackgroundActivityContext: t.Context()})
	r.Clients = r.model
	require.False(t, r.call(c, 0, 0).Reused)
}

func TestEMP05ASummaryThatRepeatsItselfIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"one unit":        goodSummary + "\n" + strings.Repeat("and then again ", 80),
		"paragraphs":      goodSummary + "\n" + strings.Repeat("The importer skeleton is in place and draft rows of the atlas tables are skipped as before.\n\n", 12),
		"a whole heading": strings.Repeat("## Goal\nImport atlas rows into the staging database without touching any of the drafts.\n\n", 10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.model.text = text
			require.NotEmpty(t, r.refuse(r.write("s.jsonl", chat(6)), r.request("s.jsonl", 20)).Reasons)
		})
	}
}

// TestVAL01WhatDoesNotFitThePlanIsRefusedBeforeAnythingIsWritten: the kept entry and the size in the
// entry are always the plan's, a kept entry that left the path is stale, and without a summary there
// is no entry.
func TestVAL01WhatDoesNotFitThePlanIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	t.Run("the entry says what the plan says", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		path := r.write("s.jsonl", chat(6))
		request := r.request("s.jsonl", 20)
		plan := r.prepare(request)
		review := r.review(plan)
		o := r.commit(contract.CommitInput{
			Request: request, Plan: plan.Plan, Summary: review.Summary, Review: &review,
			Outcome: contract.Outcome{Operation: "op-1", FirstKeptEntryID: "elsewhere", TokensBefore: new(-7)},
		})
		require.Equal(t, plan.FirstKept, o.FirstKeptEntryID)
		list := entries(t, path)
		last := list[len(list)-1]
		require.Equal(t, plan.FirstKept, last["firstKeptEntryId"])
		require.InDelta(t, *plan.TokensBefore, last["tokensBefore"], 0)
	})
	t.Run("no summary", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		before := chat(6)
		path := r.write("s.jsonl", before)
		request := r.request("s.jsonl", 20)
		_, err := execute[contract.CommitResult](r, contract.ActivityCommit, contract.CommitInput{Request: request, Plan: r.prepare(request).Plan})
		require.Error(t, err)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, string(after))
	})
}

// TestFocusIsSentAndPersisted: the caller's words end the instruction of the history and stand on the
// entry in both dialects; the beginning of a split turn does not get them.
func TestFocusIsSentAndPersisted(t *testing.T) {
	t.Parallel()
	const focus = "Keep the port of the staging database."
	for name, text := range map[string]string{
		"pi":     chat(6),
		"veyyon": strings.Replace(chat(6), `"type":"session"`, `"type":"session","titleSource":"auto","title":"import"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			path := r.write("s.jsonl", text)
			request := r.request("s.jsonl", 20)
			request.Focus = focus
			require.Equal(t, contract.StateCommitted, r.compact(request).State)
			for _, call := range r.model.calls {
				require.Equal(t, call.Request.Part == contract.PartHistory, strings.HasSuffix(call.Request.UserText(), "Additional focus: "+focus), call.Request.Part)
			}
			list := entries(t, path)
			require.Equal(t, focus, list[len(list)-1]["customInstructions"])
			_, preserves := list[len(list)-1]["preserveData"]
			require.Equal(t, name == "veyyon", preserves, "the dialect of the session")
		})
	}
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	r.compact(r.request("s.jsonl", 20))
	list := entries(t, path)
	require.NotContains(t, list[len(list)-1], "customInstructions")
}

// TestREM10WhatExtensionsKeepGoesOnToTheNextCompaction, and what only the earlier one stood for does not.
func TestREM10WhatExtensionsKeepGoesOnToTheNextCompaction(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := strings.Replace(chat(6), `"type":"session"`, `"type":"session","titleSource":"auto","title":"import"`, 1)
	text += `{"type":"compaction","id":"k0000001","parentId":"r0000005","timestamp":"2026-05-04T10:00:00.000Z","summary":"FIRST","firstKeptEntryId":"u0000005","tokensBefore":9,` +
		`"preserveData":{"notes":{"b":[1, 2]},"snapcompact":{"text":"ARCHIVED"},"openaiResponses":1,"recap":{"operation":"op-0","attempt":3}},"fromExtension":false}` + "\n"
	text += strings.NewReplacer("u00", "x00", "r00", "y00", `"parentId":null`, `"parentId":"k0000001"`).Replace(chat(6)[strings.Index(chat(6), "\n")+1:])
	path := r.write("s.jsonl", text)
	o := r.compact(r.request("s.jsonl", 20))
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Contains(t, r.model.calls[0].Request.UserText(), "FIRST\n\nARCHIVED")
	list := entries(t, path)
	require.Equal(t, map[string]any{
		"notes": map[string]any{"b": []any{1.0, 2.0}}, "openaiResponses": 1.0, "recap": map[string]any{"operation": "op-1", "attempt": 1.0},
	}, list[len(list)-1]["preserveData"])
}
