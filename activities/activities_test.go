package activities

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recap/internal/blob"
	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/model"
	"recap/internal/store"
)

// chat is a session of n user and assistant turns; marker Mi stands in turn i.
func chat(n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"session","version":3,"id":"0b6c2a54-0000-4000-8000-000000000009","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/srv/demo"}` + "\n")
	parent := "null"
	for i := range n {
		user, reply := fmt.Sprintf("u%07d", i), fmt.Sprintf("r%07d", i)
		fmt.Fprintf(&b, `{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-05-04T09:%02d:01.000Z","message":{"role":"user","content":"Please handle step %d of the import. Marker M%d.","timestamp":1777885201000}}`+"\n", user, parent, i, i, i)
		fmt.Fprintf(&b, `{"type":"message","id":"%s","parentId":"%s","timestamp":"2026-05-04T09:%02d:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Step %d is done, and nothing else was touched."}],"api":"anthropic-messages","provider":"anthropic","model":"demo-large","usage":{"input":%d,"output":12,"cacheRead":0,"cacheWrite":0,"totalTokens":%d},"stopReason":"stop","timestamp":1777885202000}}`+"\n", reply, user, i, i, 100+40*i, 112+40*i)
		parent = `"` + reply + `"`
	}
	return b.String()
}

func entries(t *testing.T, path string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var list []map[string]any
	for line := range bytes.Lines(data) {
		var e map[string]any
		require.NoError(t, json.Unmarshal(line, &e))
		list = append(list, e)
	}
	return list
}

func TestCompactionAppendsOneEntryAndChangesNothingElse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := chat(6)
	path := r.write("s.jsonl", before)
	o := r.compact(r.request("s.jsonl", 20))
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(after), before), "existing bytes changed")
	list := entries(t, path)
	last := list[len(list)-1]
	require.Len(t, list, 14)
	require.Equal(t, "compaction", last["type"])
	require.Equal(t, o.EntryID, last["id"])
	require.Equal(t, "r0000005", last["parentId"])
	require.Contains(t, last["summary"], "SUMMARY-TWO")
	require.Equal(t, map[string]any{"operation": "op-1", "attempt": 1.0}, last["details"].(map[string]any)["recap"])
}

func TestOneRequestIsOneEntryHoweverOftenItIsSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	first := r.compact(r.request("s.jsonl", 20))
	paid := r.model.count()
	again := r.compact(r.request("s.jsonl", 20))
	require.Equal(t, contract.StateCommitted, again.State)
	require.Equal(t, contract.CodeAlreadyApplied, again.Reason)
	require.Equal(t, first.EntryID, again.EntryID)
	require.Equal(t, paid, r.model.count())
	require.Len(t, entries(t, path), 14)
}

func TestCommitThatRunsTwiceWritesOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	request := r.request("s.jsonl", 20)
	plan := r.prepare(request)
	review := r.review(plan)
	in := contract.CommitInput{Request: request, Plan: plan.Plan, Summary: review.Summary, Review: &review}
	first, second := r.commit(in), r.commit(in)
	require.Equal(t, first.EntryID, second.EntryID)
	require.Equal(t, contract.StateCommitted, second.State)
	require.Len(t, entries(t, path), 14)
}

func TestAStoredAnswerIsNeverAskedForAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("s.jsonl", chat(6))
	plan := r.prepare(r.request("s.jsonl", 20))
	first := r.call(plan.Candidates[0], 0, 0)
	second := r.call(plan.Candidates[0], 0, 0)
	require.Equal(t, first.Answer, second.Answer)
	require.True(t, second.Reused)
	require.Zero(t, second.Cost)
	require.Equal(t, 2.0, first.Cost)
	require.Equal(t, 1, r.model.count())

	other := r.call(plan.Candidates[0], 0, 1)
	require.False(t, other.Reused, "another ordinal wants another answer")
	require.Equal(t, 2, r.model.count())
}

func TestAnExpiredAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("s.jsonl", chat(6))
	plan := r.prepare(r.request("s.jsonl", 20))
	first := r.call(plan.Candidates[0], 0, 0)
	require.NoError(t, r.blobs.Expire(t.Context(), -time.Hour, []blob.Digest{blob.Digest(first.Answer)}, nil))
	_, err := r.blobs.Sweep(t.Context(), time.Now())
	require.NoError(t, err)
	second := r.call(plan.Candidates[0], 0, 0)
	require.False(t, second.Reused)
	require.Equal(t, 2, r.model.count())
	require.True(t, r.call(plan.Candidates[0], 0, 0).Reused)
}

func TestTheRequestAfterABadAnswerDiffersAndSaysWhy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("s.jsonl", chat(6))
	plan := r.prepare(r.request("s.jsonl", 20))
	c := plan.Candidates[0].Calls[0]
	seen := map[string]bool{}
	for _, after := range []string{"", "empty", "truncated", "badOutput"} {
		out, err := execute[contract.CallModelResult](r, contract.ActivityCallModel, contract.CallModelInput{
			Candidate: plan.Candidates[0].Candidate, Part: c.Part, Request: c.Request, MaxOutput: c.MaxOutput, After: after,
		})
		require.NoError(t, err)
		require.False(t, out.Reused)
		seen[r.model.calls[len(r.model.calls)-1].Request.UserText()] = true
	}
	require.Len(t, seen, 4)
}

func TestAModelsFailureIsAResultNotAnError(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("s.jsonl", chat(6))
	plan := r.prepare(r.request("s.jsonl", 20))
	r.model.err = &model.Error{Class: model.ClassRateLimited, Candidate: "test/model", Status: 429, RetryAfter: 41 * time.Second, Excerpt: "slow down"}
	got := r.call(plan.Candidates[0], 0, 0)
	require.Empty(t, got.Answer)
	require.Equal(t, &contract.ModelFailure{
		Class: "rateLimited", Status: 429, RetryAfterMs: 41000, Message: "model test/model: rateLimited (HTTP 429): slow down",
	}, got.Failure)

	r.model.err = errors.New("an adapter's bug")
	require.Equal(t, "transient", r.call(plan.Candidates[0], 0, 0).Failure.Class)
}

func TestMissingBlobsAskForAnotherPlan(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("s.jsonl", chat(6))
	plan := r.prepare(r.request("s.jsonl", 20))
	call := plan.Candidates[0].Calls[0]
	require.NoError(t, r.blobs.Expire(t.Context(), -time.Hour, []blob.Digest{blob.Digest(call.Request), blob.Digest(plan.Plan)}, nil))
	_, err := r.blobs.Sweep(t.Context(), time.Now())
	require.NoError(t, err)
	require.True(t, r.call(plan.Candidates[0], 0, 0).Failure.PlanMissing)
	review, err := execute[contract.ReviewResult](r, contract.ActivityReview, contract.ReviewInput{Plan: plan.Plan})
	require.NoError(t, err)
	require.True(t, review.PlanMissing)
}

func TestUnknownWriterNeedsAQuietSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	request := r.request("s.jsonl", 20)
	request.Writer = contract.WriterLive
	r.age(path, time.Minute)
	o := r.compact(request)
	require.Equal(t, contract.StateSkipped, o.State)
	require.Equal(t, contract.CodeLiveWriter, o.Reason)
	require.Contains(t, o.Message, "--no-writer")
	require.Zero(t, r.model.count())
	r.age(path, 11*time.Minute)
	require.Equal(t, contract.StateCommitted, r.compact(request).State)
}

func TestAnAgentThatWakesUpDuringTheCallIsNotWrittenUnder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	request := r.request("s.jsonl", 20)
	request.Writer = contract.WriterLive
	plan := r.prepare(request)
	review := r.review(plan)
	appendLine(t, path, `{"type":"message","id":"f0000001","parentId":"r0000005","timestamp":"2026-11-30T11:59:59.000Z","message":{"role":"user","content":"One more thing."}}`)
	r.age(path, time.Second)
	o := r.commit(contract.CommitInput{Request: request, Plan: plan.Plan, Summary: review.Summary, Review: &review})
	require.Equal(t, contract.CodeLiveWriter, o.Reason)
	require.Len(t, entries(t, path), 14)
}

func appendLine(t *testing.T, path, line string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(line + "\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestEntriesAppendedMeanwhileStayInTheKeptTail(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	request := r.request("s.jsonl", 20)
	plan := r.prepare(request)
	review := r.review(plan)
	appendLine(t, path, `{"type":"message","id":"f0000001","parentId":"r0000005","timestamp":"2026-11-30T11:59:59.000Z","message":{"role":"user","content":"One more thing."}}`)
	o := r.commit(contract.CommitInput{Request: request, Plan: plan.Plan, Summary: review.Summary, Review: &review})
	require.Equal(t, contract.StateCommitted, o.State)
	list := entries(t, path)
	require.Equal(t, "f0000001", list[len(list)-1]["parentId"])
}

// TestAnOldWordAboutWritersDoesNotHold: hours later an agent may have the session open after all.
func TestAnOldWordAboutWritersDoesNotHold(t *testing.T) {
	t.Parallel()
	for _, ago := range []time.Duration{time.Minute, time.Hour} {
		r := newRig(t)
		path := r.write("s.jsonl", chat(6))
		request := r.request("s.jsonl", 20)
		plan := r.prepare(request)
		review := r.review(plan)
		appendLine(t, path, `{"type":"message","id":"f0000001","parentId":"r0000005","timestamp":"2026-11-30T11:59:59.000Z","message":{"role":"user","content":"One more thing."}}`)
		r.age(path, time.Second)
		o := r.commit(contract.CommitInput{
			Request: request, Plan: plan.Plan, Summary: review.Summary, Review: &review, StartedAt: r.now.Add(-ago).UnixMilli(),
		})
		if ago < 10*time.Minute {
			require.Equal(t, contract.StateCommitted, o.State)
		} else {
			require.Equal(t, contract.CodeLiveWriter, o.Reason)
			require.Len(t, entries(t, path), 14)
		}
	}
}

func TestASwitchedBranchIsStaleAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	request := r.request("s.jsonl", 20)
	plan := r.prepare(request)
	review := r.review(plan)
	appendLine(t, path, `{"type":"message","id":"f0000001","parentId":"r0000001","timestamp":"2026-11-30T11:59:59.000Z","message":{"role":"user","content":"Another branch."}}`)
	before := entries(t, path)
	o := r.commit(contract.CommitInput{Request: request, Plan: plan.Plan, Summary: review.Summary, Review: &review})
	require.Equal(t, contract.StateStale, o.State)
	require.Equal(t, contract.CodeBranchMoved, o.Reason)
	require.Equal(t, before, entries(t, path))
}

func TestADeletedSessionIsStale(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	request := r.request("s.jsonl", 20)
	plan := r.prepare(request)
	review := r.review(plan)
	require.NoError(t, os.Remove(path))
	o := r.commit(contract.CommitInput{Request: request, Plan: plan.Plan, Summary: review.Summary, Review: &review})
	require.Equal(t, contract.StateStale, o.State)
	require.Equal(t, contract.CodeSessionGone, o.Reason)
	require.NoFileExists(t, path)
}

func TestAnEntryLeftOffThePathIsPutBackWithoutAModelCall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	first := r.compact(r.request("s.jsonl", 20))
	paid := r.model.count()
	// An agent that had the session open appends under the leaf it remembers.
	appendLine(t, path, `{"type":"message","id":"f0000001","parentId":"r0000005","timestamp":"2026-11-30T11:59:59.000Z","message":{"role":"user","content":"And now?"}}`)
	request := r.request("s.jsonl", 20)
	request.RequestID, request.Operation = "op-2", "op-2"
	o := r.compact(request)
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Equal(t, contract.CodeReanchored, o.Reason)
	require.Equal(t, paid, r.model.count())
	list := entries(t, path)
	last := list[len(list)-1]
	require.NotEqual(t, first.EntryID, last["id"])
	require.Equal(t, "f0000001", last["parentId"])
	require.Contains(t, last["summary"], "SUMMARY-TWO")
}

func TestCommitReturnWritesNothingAndIsReturnedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	request := r.request("s.jsonl", 20)
	request.Commit = contract.CommitReturn
	o := r.compact(request)
	require.Equal(t, contract.StateReturned, o.State)
	require.Len(t, entries(t, path), 13)
	text, err := r.summaryText(t.Context(), o.Summary)
	require.NoError(t, err)
	require.Contains(t, text, "SUMMARY-TWO")
	paid := r.model.count()
	require.Equal(t, contract.StateReturned, r.compact(request).State)
	require.Equal(t, paid, r.model.count())
}

func TestReceiptHoldsEverythingExplainPrints(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("s.jsonl", chat(6))
	o := r.compact(r.request("s.jsonl", 20))
	var receipt contract.Receipt
	found, err := r.getJSON(t.Context(), "receipt", o.Receipt, &receipt)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, o.EntryID, receipt.Outcome.EntryID)
	require.Len(t, receipt.Coverage.Summarized, 10)
	require.Len(t, receipt.Coverage.Kept, 2)
	require.Len(t, receipt.Stages, 1)
	require.NotEmpty(t, receipt.Prompts)
	data, err := json.Marshal(receipt)
	require.NoError(t, err)
	require.NotContains(t, string(data), "Marker")
	require.NotContains(t, string(data), "SUMMARY-TWO")
}

func TestReceiptNamesWhoAnswered(t *testing.T) {
	t.Parallel()
	plan := compaction.Plan{
		Requests:      map[contract.Part]string{contract.PartHistory: "h", contract.PartTurnPrefix: "p"},
		RequestTokens: map[contract.Part]int{contract.PartHistory: 10, contract.PartTurnPrefix: 5},
	}
	require.Equal(t, []contract.Stage{
		{Part: contract.PartHistory, Request: "h", InputTokens: 10, Candidate: "b/two", Answer: "second"},
		{Part: contract.PartTurnPrefix, Request: "p", InputTokens: 5, Candidate: "a/one", Answer: "other"},
	}, stages(plan, []contract.Attempt{
		{Part: contract.PartHistory, Candidate: "a/one", Class: "gate", Answer: "first"},
		{Part: contract.PartTurnPrefix, Candidate: "a/one", Answer: "other"},
		{Part: contract.PartHistory, Candidate: "b/two", Answer: "second"},
	}))
}

func TestBadSessionsEndWithATypedOutcomeAndNoCall(t *testing.T) {
	t.Parallel()
	header := `{"type":"session","version":3,"id":"0b6c2a54-0000-4000-8000-000000000009","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/srv"}` + "\n"
	message := func(id, parent string) string {
		return fmt.Sprintf(`{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-05-04T09:00:01.000Z","message":{"role":"user","content":"hello there"}}`+"\n", id, parent)
	}
	for _, tc := range []struct {
		name, content string
		state         contract.State
		code          contract.Code
		says          string
	}{
		{"empty file", "", contract.StateFailed, contract.CodeNotASession, ""},
		{"not a session", "hello\nworld\n", contract.StateFailed, contract.CodeNotASession, ""},
		{"newer version", strings.Replace(header, `"version":3`, `"version":4`, 1) + message("a0000001", "null"), contract.StateFailed, contract.CodeNewerVersion, "version 4"},
		{"header only", header, contract.StateSkipped, contract.CodeEmptySession, ""},
		{"missing parent", header + message("a0000001", "null") + message("a0000002", `"deadbeef"`), contract.StateFailed, contract.CodeDamagedSession, "deadbeef"},
		{"parent cycle", header + message("a0000001", `"a0000002"`) + message("a0000002", `"a0000001"`), contract.StateFailed, contract.CodeDamagedSession, "cycle"},
		{"damaged middle", header + message("a0000001", "null") + "{\"type\":\"message\",\"id\":\"a0000002\",\"par\n" + message("a0000003", `"a0000002"`), contract.StateFailed, contract.CodeDamagedSession, "line"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			path := r.write("s.jsonl", tc.content)
			o := r.compact(r.request("s.jsonl", 1))
			require.Equal(t, tc.state, o.State, o.Message)
			require.Equal(t, tc.code, o.Reason, o.Message)
			require.Contains(t, o.Message, tc.says)
			require.NotContains(t, o.Message, "\n")
			require.Zero(t, r.model.count())
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, tc.content, string(after))
		})
	}
	r := newRig(t)
	o := r.compact(r.request("missing.jsonl", 1))
	require.Equal(t, contract.CodeSessionNotFound, o.Reason)
}

func TestNobodyToAskNeedsAnOperator(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("s.jsonl", chat(6))
	request := r.request("s.jsonl", 20)
	request.Models = []string{"other/model"}
	o := r.compact(request)
	require.Equal(t, contract.StateNeedsOperator, o.State)
	require.Equal(t, contract.CodeUnknownModel, o.Reason)
	require.Contains(t, o.Message, "test/model")

	r.Catalog.Chain = nil
	o = r.compact(r.request("s.jsonl", 20))
	require.Equal(t, contract.CodeNoCandidate, o.Reason)
	require.Contains(t, o.Message, "anthropic/demo-large")
}

func TestTHR16SwitchedOffReasonsAreSkippedAndManualOnesAreNot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("s.jsonl", chat(6))
	off := false
	request := r.request("s.jsonl", 20)
	request.Settings.Enabled = &off
	for _, reason := range []contract.Reason{contract.ReasonThreshold, contract.ReasonOverflow, contract.ReasonMidTurn} {
		request.Reason = reason
		require.Equal(t, contract.CodeDisabled, r.compact(request).Reason, reason)
	}
	request.Reason = contract.ReasonManual
	require.Equal(t, contract.StateCommitted, r.compact(request).State)
}

func TestSkippedFitsTheKeptTail(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(2))
	o := r.compact(r.request("s.jsonl", 10000))
	require.Equal(t, contract.StateSkipped, o.State)
	require.Equal(t, contract.CodeNothingToCompact, o.Reason)
	require.NotEmpty(t, o.Receipt)
	require.Len(t, entries(t, path), 5)
}

func TestPublishStopsAtTheFirstEventThatIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ref := contract.SessionRef{Tenant: "t", Store: "s", ID: "x"}
	events := []contract.Event{
		{Name: contract.EventStarted, Operation: "o", Attempt: 1, Session: ref},
		{Name: "committed", Operation: "o", Attempt: 1, Ordinal: 1, Session: ref, Terminal: true, Outcome: &contract.Outcome{State: contract.StateCommitted}},
	}
	r.bus.SetAway(true)
	result, err := execute[contract.PublishResult](r, contract.ActivityPublish, contract.PublishInput{Events: events})
	require.NoError(t, err)
	require.Len(t, result.Unpublished, 2)
	_, err = r.env.ExecuteActivity(contract.ActivityDeliverEvent, events[0])
	require.Error(t, err, "Temporal must repeat it")
	r.bus.SetAway(false)
	for range 2 {
		_, err = execute[contract.PublishResult](r, contract.ActivityPublish, contract.PublishInput{Events: events})
		require.NoError(t, err)
	}
	require.Len(t, r.bus.Messages(), 2, "publishing twice is one event")
}

func TestStoreFailuresMapToOutcomes(t *testing.T) {
	t.Parallel()
	for kind, code := range map[store.Kind]contract.Code{
		store.KindNotFound: contract.CodeSessionNotFound, store.KindNotSession: contract.CodeNotASession,
		store.KindOutside: contract.CodeNotASession, store.KindDamaged: contract.CodeDamagedSession,
		store.KindUnreadable: contract.CodeUnreadable, store.KindReadOnly: contract.CodeStoreWrite,
		store.KindNoSpace: contract.CodeStoreWrite, store.KindIO: contract.CodeStoreWrite, store.KindBusy: contract.CodeBusy,
	} {
		_, got, ok := storeFailure(fmt.Errorf("wrapped: %w", &store.Error{Kind: kind, ID: "x"}))
		require.True(t, ok, kind)
		require.Equal(t, code, got, kind)
	}
	_, _, ok := storeFailure(&store.Error{Kind: store.KindConflict})
	require.False(t, ok, "a conflict is tried again")
}

func TestEntryIDIsTheFirstFreeOne(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	taken := func(id string) (bool, error) { return used[id], nil }
	first, err := freeID("op", taken)
	require.NoError(t, err)
	require.Len(t, first, 8)
	used[first] = true
	second, err := freeID("op", taken)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	again, err := freeID("op", taken)
	require.NoError(t, err)
	require.Equal(t, second, again)
}

func TestSkipDamagedCoversWhatCanBeReachedAndLeavesABackup(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lines := strings.SplitAfter(chat(6), "\n")
	lines[5] = "{\"type\":\"message\",\"id\":\"u00000\n" // the third turn's question is lost
	before := strings.Join(lines, "")
	path := r.write("s.jsonl", before)
	request := r.request("s.jsonl", 20)
	refused := r.compact(request)
	require.Equal(t, contract.CodeDamagedSession, refused.Reason)
	require.Contains(t, refused.Message, "line")
	request.Settings.SkipDamaged = true
	o := r.compact(request)
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.NotEmpty(t, o.Warnings)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(after), before), "existing bytes changed")
	backup, err := os.ReadFile(path + ".recap-backup-1")
	require.NoError(t, err)
	require.Equal(t, before, string(backup))
}

// TestT1OpenCallsRefuse is case T1, variant 5: the file ends with two calls that are not answered yet.
func TestT1OpenCallsRefuse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	open := chat(6) + `{"type":"message","id":"c0000001","parentId":"r0000005","timestamp":"2026-05-04T09:00:04.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"toolu_B1","name":"bash","arguments":{"command":"grep -rn billing deploy/"}},{"type":"toolCall","id":"toolu_B2","name":"read","arguments":{"path":"deploy/cron.txt"}}],"api":"anthropic-messages","provider":"anthropic","model":"demo-large","usage":{"input":360,"output":52,"cacheRead":0,"cacheWrite":0,"totalTokens":412},"stopReason":"toolUse","timestamp":1777885204000}}` + "\n"
	path := r.write("s.jsonl", open)
	r.age(path, 2*time.Second)
	o := r.compact(r.request("s.jsonl", 20))
	require.Equal(t, contract.StateSkipped, o.State)
	require.Equal(t, contract.CodeCallInFlight, o.Reason)
	require.Zero(t, r.model.count())
	for i, id := range []string{"toolu_B1", "toolu_B2"} {
		parent := "c0000001"
		if i > 0 {
			parent = "d0000000"
		}
		appendLine(t, path, fmt.Sprintf(`{"type":"message","id":"d%07d","parentId":"%s","timestamp":"2026-11-30T11:59:59.000Z","message":{"role":"toolResult","toolCallId":"%s","toolName":"x","content":[{"type":"text","text":"ok"}],"isError":false}}`, i, parent, id))
	}
	require.Equal(t, contract.StateCommitted, r.compact(r.request("s.jsonl", 20)).State)
}
