package activities

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/contract"
)

// work is a session of n turns; each runs a command with the given output and answers.
func work(n int, command string, output func(i int) string, total int) string {
	var b strings.Builder
	b.WriteString(`{"type":"session","version":3,"id":"0b6c2a54-0000-4000-8000-000000000010","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/srv/demo"}` + "\n")
	parent := "null"
	add := func(id, message string) {
		fmt.Fprintf(&b, `{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-05-04T09:00:01.000Z","message":%s}`+"\n", id, parent, message)
		parent = `"` + id + `"`
	}
	for i := range n {
		add(fmt.Sprintf("u%07d", i), fmt.Sprintf(`{"role":"user","content":"Look at file %d, please.","timestamp":1777885201000}`, i))
		add(fmt.Sprintf("c%07d", i), fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":"t%d","name":"bash","arguments":{"command":"%s"}}],"api":"anthropic-messages","provider":"test","model":"model","usage":{"input":%d,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":%d},"stopReason":"toolUse","timestamp":1777885202000}`, i, command, total, total+5))
		add(fmt.Sprintf("t%07d", i), fmt.Sprintf(`{"role":"toolResult","toolCallId":"t%d","toolName":"bash","content":[{"type":"text","text":"%s"}],"isError":false,"timestamp":1777885203000}`, i, output(i)))
		add(fmt.Sprintf("r%07d", i), fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"File %d is fine."}],"api":"anthropic-messages","provider":"test","model":"model","usage":{"input":%d,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":%d},"stopReason":"stop","timestamp":1777885204000}`, i, total, total+5))
	}
	return b.String()
}

// longTail ends with an output that alone is larger than the kept tail may be.
func longTail() string {
	all := work(4, "cat file", func(i int) string { return strings.Repeat(fmt.Sprintf("line of file %d. ", i), 200) }, 4000)
	return all[:strings.LastIndex(strings.TrimSuffix(all, "\n"), "\n")+1]
}

// TestTailBoundElidesOutputsInPlaceWithABackup: the kept tail fits its budget, what was elided is in
// an artifact, and the file as it was lies beside the session.
func TestTailBoundElidesOutputsInPlaceWithABackup(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := longTail()
	path := r.write("s.jsonl", before)
	request := r.request("s.jsonl", 600)
	request.Settings.ReduceInPlace = true
	o := r.compact(request)
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Equal(t, 1, o.Reduced)

	backup, err := os.ReadFile(path + ".recap-backup-1")
	require.NoError(t, err)
	require.Equal(t, before, string(backup))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	changed := 0
	lines := strings.Split(string(after), "\n")
	for i, line := range strings.Split(strings.TrimSuffix(before, "\n"), "\n") {
		if lines[i] != line {
			changed++
			require.Contains(t, lines[i], "output elided by compaction")
			require.Contains(t, lines[i], `"toolCallId":"t3"`)
			_, address, found := strings.Cut(lines[i], "artifact://")
			require.True(t, found)
			digest, err := r.blobs.Resolve(t.Context(), contract.ArtifactBlob(address[:16]))
			require.NoError(t, err)
			original, err := r.blobs.Get(t.Context(), digest)
			require.NoError(t, err)
			require.Contains(t, string(original), strings.Repeat("line of file 3. ", 200))
		}
	}
	require.Equal(t, 1, changed)

	again := r.compact(request)
	require.Equal(t, contract.CodeAlreadyApplied, again.Reason)
	twice, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, after, twice)
}

func TestWithoutTheSettingNothingIsRewritten(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := longTail()
	path := r.write("s.jsonl", before)
	o := r.compact(r.request("s.jsonl", 600))
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(after), before))
	require.NoFileExists(t, path+".recap-backup-1")
}

// TestGRD16ReductionsThatAreEnoughAskNoModel: repeated outputs go, and the context is under its threshold.
func TestGRD16ReductionsThatAreEnoughAskNoModel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Catalog.Candidates[0].ContextWindow = 6000
	r.Catalog.Candidates[0].ID = "test/model"
	same := strings.Repeat("the same line again. ", 100)
	before := work(12, "make test", func(int) string { return same }, 0)
	path := r.write("s.jsonl", before)
	request := r.request("s.jsonl", 600)
	request.Reason = contract.ReasonThreshold
	request.Settings.Threshold = "5000"
	request.Settings.ReduceInPlace = true
	plan := r.prepare(request)
	require.Nil(t, plan.End, "%+v", plan.End)
	require.True(t, plan.Reduced)
	in := contract.CommitInput{Request: request, Plan: plan.Plan, Outcome: contract.Outcome{Operation: request.Operation, Session: request.Session}}
	o := r.commit(in)
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.Equal(t, contract.CodeReduced, o.Reason)
	require.Empty(t, o.EntryID)
	require.Equal(t, 11, o.Reduced)
	require.Zero(t, r.model.count())
	require.Len(t, entries(t, path), 49)

	second := r.commit(in)
	require.Equal(t, contract.StateCommitted, second.State, "a second run finds its rewrites made: %s", second.Message)
}

// TestAChangedEntryStopsTheRewrite writes nothing at all when one entry is not as it was.
func TestAChangedEntryStopsTheRewrite(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := longTail()
	path := r.write("s.jsonl", before)
	request := r.request("s.jsonl", 600)
	request.Settings.ReduceInPlace = true
	plan := r.prepare(request)
	review := r.review(plan)
	changed := strings.Replace(before, "line of file 3. line of file 3.", "somebody else was here.", 1)
	require.NoError(t, os.WriteFile(path, []byte(changed), 0o600))
	o := r.commit(contract.CommitInput{Request: request, Plan: plan.Plan, Summary: review.Summary, Review: &review})
	require.Equal(t, contract.StateStale, o.State)
	require.Equal(t, contract.CodeSessionChanged, o.Reason)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, changed, string(after))
}

// TestProgressGuard: over the bar, the rescue tiers shrink the kept tail; what is still over it is a
// dead end, said on the entry and in the outcome.
func TestProgressGuard(t *testing.T) {
	t.Parallel()
	long := func(i int) string { return strings.Repeat(fmt.Sprintf("line of file %d. ", i), 200) }
	request := func(r *rig, reason contract.Reason, inPlace bool) contract.Request {
		request := r.request("s.jsonl", 900)
		request.Reason, request.Settings.ReduceInPlace = reason, inPlace
		request.Settings.Threshold = "2500"
		return request
	}
	t.Run("GRD-12 met without rescue", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.Catalog.Candidates[0].ContextWindow = 60000
		r.write("s.jsonl", work(6, "cat file", long, 9000))
		o := r.compact(request(r, contract.ReasonThreshold, false))
		require.Equal(t, contract.StateCommitted, o.State, o.Message)
		require.False(t, o.DeadEnd)
		require.Less(t, *o.TokensAfter, 2000)
	})
	t.Run("GRD-13 dead end without leave to rewrite", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.Catalog.Candidates[0].ContextWindow = 60000
		path := r.write("s.jsonl", work(6, "cat file", long, 9000))
		request := request(r, contract.ReasonThreshold, false)
		request.Settings.Threshold = "300"
		o := r.compact(request)
		require.Equal(t, contract.StateCommitted, o.State, o.Message)
		require.True(t, o.DeadEnd)
		require.Len(t, o.Warnings, 1, "said once")
		list := entries(t, path)
		require.Contains(t, list[len(list)-1]["warning"], "freed too little context to make progress")
		require.Contains(t, o.Warnings[len(o.Warnings)-1], "freed too little context to make progress")

		again := r.compact(contract.Request{
			RequestID: "op-2", Session: request.Session, Reason: contract.ReasonThreshold, Writer: contract.WriterNone, Settings: request.Settings,
		}.Normalize())
		require.Equal(t, contract.CodeNothingToCompact, again.Reason, "no re-run on unchanged input")
	})
	t.Run("GRD-14 rescued", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.Catalog.Candidates[0].ContextWindow = 60000
		text := longTail() // its last turn, an output of 800 tokens, is kept whole
		path := r.write("s.jsonl", text)
		request := request(r, contract.ReasonOverflow, true)
		request.Settings.KeepRecentTokens = 900
		r.Catalog.Candidates[0].ContextWindow = 1000
		r.Catalog.Chain = []string{"other/large"}
		r.Catalog.Candidates = append(r.Catalog.Candidates, contract.Candidate{ID: "other/large", API: "openai-chat", ContextWindow: 200000})
		o := r.compact(request)
		require.Equal(t, contract.StateCommitted, o.State, o.Message)
		require.Equal(t, 1, o.Reduced)
		require.False(t, o.DeadEnd, o.Warnings)
		require.LessOrEqual(t, *o.TokensAfter, 850)
		require.True(t, o.WillRetry, "GRD-08, PRO-02: what overflowed is sent again")
		require.FileExists(t, path+".recap-backup-1")
		list := entries(t, path)
		require.NotContains(t, list[len(list)-1], "warning")
	})
	t.Run("GRD-14 rescue that is not enough", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		path := r.write("s.jsonl", longTail())
		request := request(r, contract.ReasonOverflow, true)
		r.Catalog.Candidates[0].ContextWindow = 100
		r.Catalog.Chain = []string{"other/large"}
		r.Catalog.Candidates = append(r.Catalog.Candidates, contract.Candidate{ID: "other/large", API: "openai-chat", ContextWindow: 200000})
		o := r.compact(request)
		require.Equal(t, contract.StateCommitted, o.State, o.Message)
		require.True(t, o.DeadEnd)
		require.False(t, o.WillRetry, "GRD-13: no retry of what does not fit")
		list := entries(t, path)
		require.Contains(t, list[len(list)-1]["warning"], "freed too little context to make progress")
	})
	t.Run("GRD-15 only images are left", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		image := `{"type":"image","data":"` + strings.Repeat("QUJD", 40) + `","mimeType":"image/png"}`
		text := work(2, "cat file", long, 4000)
		text += `{"type":"message","id":"i0000001","parentId":"r0000001","timestamp":"2026-05-04T09:00:05.000Z","message":{"role":"user","content":[{"type":"text","text":"See these."},` +
			image + `,` + image + `],"timestamp":1777885205000}}` + "\n"
		path := r.write("s.jsonl", text)
		request := request(r, contract.ReasonOverflow, true)
		r.Catalog.Candidates[0].ContextWindow = 1000
		r.Catalog.Chain = []string{"other/large"}
		r.Catalog.Candidates = append(r.Catalog.Candidates, contract.Candidate{ID: "other/large", API: "openai-chat", ContextWindow: 200000})
		o := r.compact(request)
		require.Equal(t, contract.StateCommitted, o.State, o.Message)
		require.False(t, o.DeadEnd, o.Warnings)
		require.Contains(t, strings.Join(o.Warnings, "\n"), "dropped 2 attached image(s)")
		list := entries(t, path)
		require.NotContains(t, list[len(list)-1], "warning")
		require.NotContains(t, fmt.Sprint(list[len(list)-2]), "QUJD")
	})
	t.Run("GRD-05 nothing to compact over the band", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		path := r.write("s.jsonl", work(2, "cat file", long, 5000))
		request := request(r, contract.ReasonThreshold, false)
		request.Settings.KeepRecentTokens = 50_000
		r.Catalog.Candidates[0].ContextWindow = 60000
		o := r.compact(request)
		require.Equal(t, contract.StateSkipped, o.State)
		require.Equal(t, contract.CodeNothingToCompact, o.Reason)
		require.True(t, o.DeadEnd)
		require.Len(t, o.Warnings, 1)
		require.Zero(t, r.model.count())
		require.Len(t, entries(t, path), 9)
	})
}

// TestGRD16AnOverflowGoesOnWhateverTheReducersFreed: repeated outputs go, and it is summarised all the same.
func TestGRD16AnOverflowGoesOnWhateverTheReducersFreed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	same := strings.Repeat("the same line again. ", 100)
	path := r.write("s.jsonl", work(12, "make test", func(int) string { return same }, 0))
	request := r.request("s.jsonl", 600)
	request.Reason, request.Settings.ReduceInPlace = contract.ReasonOverflow, true
	o := r.compact(request)
	require.Equal(t, contract.StateCommitted, o.State, o.Message)
	require.NotEmpty(t, o.EntryID)
	require.Positive(t, r.model.count())
	list := entries(t, path)
	require.Equal(t, "compaction", list[len(list)-1]["type"])
}

// TestAFailedAutomaticRequestIsNotRepeatedOnUnchangedInput, but on new input, by a person and by retry.
func TestAFailedAutomaticRequestIsNotRepeatedOnUnchangedInput(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.write("s.jsonl", chat(6))
	request := r.request("s.jsonl", 20)
	request.Reason = contract.ReasonOverflow
	plan := r.prepare(request)
	_, err := execute[contract.CommitResult](r, contract.ActivityConclude, contract.ConcludeInput{
		Request: request, Plan: plan.Plan, Outcome: contract.Outcome{Operation: "op-1", State: contract.StateFailed},
	})
	require.NoError(t, err)
	next := request
	next.RequestID, next.Operation = "op-2", "op-2"
	require.Equal(t, contract.CodeUnchanged, r.prepare(next).End.Reason)
	retry := request
	retry.Attempt = 2
	require.Nil(t, r.prepare(retry).End)
	person := next
	person.Reason = contract.ReasonManual
	require.Nil(t, r.prepare(person).End)
	appendLine(t, path, `{"type":"message","id":"f0000001","parentId":"r0000005","timestamp":"2026-11-30T11:59:59.000Z","message":{"role":"user","content":"One more thing."}}`)
	require.Nil(t, r.prepare(next).End)
}
