package compaction_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/contract"
	"recap/internal/session"
	"recap/internal/tokens"
)

func filler(n int) string { return strings.Repeat("word ", n*4/5) } // about n tokens

func TestNothingToDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		code       contract.Code
	}{
		{"header only", lines(), contract.CodeEmptySession},
		{"only settings", lines(entry("model_change", "m", "provider", "p", "modelId", "x"), entry("thinking_level_change", "t", "thinkingLevel", "high")), contract.CodeEmptySession},
		{"ends in a compaction", lines(user("a", filler(100)), says("b", "ok"), compacted("c", "a", "S")), contract.CodeNothingToCompact},
		{"FREE-05 within the budget", lines(user("a", "hello"), says("b", "hi")), contract.CodeNothingToCompact},
		{"only excluded output before the tail", lines(
			message("a", map[string]any{"role": "bashExecution", "command": "x", "output": filler(50), "excludeFromContext": true}), user("b", filler(100))), contract.CodeNothingToCompact},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := skipOf(t, input(parse(t, tt.text), 60))
			require.Equal(t, tt.code, s.Code)
			require.Equal(t, contract.StateSkipped, s.State)
			require.NotContains(t, s.Message, "\n")
		})
	}
}

func TestADamagedPathIsRefused(t *testing.T) {
	t.Parallel()
	orphaned := lines(user("a", filler(100)), says("b", "ok"), with(user("c", filler(100)), "parentId", "gone"), says("d", filler(100)))
	s := skipOf(t, input(parse(t, orphaned), 50))
	require.Equal(t, contract.StateFailed, s.State)
	require.Equal(t, contract.CodeDamagedSession, s.Code)
	for _, part := range []string{"line 4", "gone", "2 entries", "--skip-damaged"} {
		require.Contains(t, s.Message, part)
	}

	in := input(parse(t, orphaned), 50)
	in.Settings.SkipDamaged = true
	p, err := compaction.Prepare(in)
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, p.Plan.Coverage.TurnPrefix)
	require.Contains(t, strings.Join(p.Plan.Warnings, "\n"), "gone")

	cycle := lines(with(user("a", filler(100)), "parentId", "b"), says("b", filler(100)))
	in = input(parse(t, cycle), 50)
	in.Settings.SkipDamaged = true
	require.Equal(t, contract.CodeDamagedSession, skipOf(t, in).Code)
}

func TestThresholdHoldsAutomaticRequestsBack(t *testing.T) {
	t.Parallel()
	reply := message("b", map[string]any{"role": "assistant", "content": []any{block(filler(100))}, "stopReason": "stop", "usage": map[string]any{"input": 900, "output": 100, "totalTokens": 1000}})
	f := parse(t, lines(user("a", filler(100)), reply))
	for _, tt := range []struct {
		reason    contract.Reason
		window    int
		threshold string
		code      contract.Code
	}{
		{contract.ReasonManual, 0, "", contract.CodeNone},
		{contract.ReasonOverflow, 100_000, "", contract.CodeNone},
		{contract.ReasonIncomplete, 100_000, "", contract.CodeNone},
		{contract.ReasonThreshold, 100_000, "", contract.CodeBelowThreshold},
		{contract.ReasonThreshold, 100_000, "999", contract.CodeNone},
		{contract.ReasonThreshold, 100_000, "1000", contract.CodeBelowThreshold},
		{contract.ReasonMidTurn, 1000, "50%", contract.CodeNone},
		{contract.ReasonThreshold, 0, "1", contract.CodeBelowThreshold},
	} {
		in := input(f, 50)
		in.Reason, in.Window, in.Settings.Threshold = tt.reason, tt.window, tt.threshold
		if tt.code != contract.CodeNone {
			require.Equal(t, tt.code, skipOf(t, in).Code, tt)
			continue
		}
		p := prepare(t, in)
		require.NotNil(t, p, tt)
		require.Equal(t, 1000, *p.Plan.TokensBefore)
	}
	in := input(f, 50)
	in.Reason, in.Window, in.Settings.Threshold = contract.ReasonThreshold, 1000, "170k"
	require.Contains(t, strings.Join(prepare(t, in).Plan.Warnings, "\n"), `"170k"`)
}

func TestTheStoredEstimateIsTheFloorOfADeflatedUsage(t *testing.T) {
	t.Parallel()
	reply := message("b", map[string]any{"role": "assistant", "content": []any{block(filler(900))}, "stopReason": "stop", "usage": map[string]any{"totalTokens": 10}})
	in := input(parse(t, lines(user("a", filler(900)), reply)), 50)
	in.Reason, in.Window, in.Settings.Threshold = contract.ReasonThreshold, 10_000, "1500"
	require.NotNil(t, prepare(t, in))
}

func TestTokensBeforeIsUnknownRightAfterACompaction(t *testing.T) {
	t.Parallel()
	used := map[string]any{"totalTokens": 90_000}
	old := message("b", map[string]any{"role": "assistant", "content": []any{block(filler(100))}, "stopReason": "stop", "usage": used})
	base := []map[string]any{user("a", filler(100)), old, compacted("c", "b", filler(20)), user("d", filler(100))}
	p := prepare(t, input(parse(t, lines(base...)), 60))
	require.Nil(t, p.Plan.TokensBefore)
	require.Equal(t, 100+100+20, p.Plan.TokensEstimate)
	e := compaction.NewEntry(&p.Plan, "S")
	require.Nil(t, e.TokensBefore)
	require.Equal(t, 220, e.Estimate)

	fresh := message("e", map[string]any{"role": "assistant", "content": []any{block("ok")}, "stopReason": "stop", "usage": map[string]any{"totalTokens": 777}})
	p = prepare(t, input(parse(t, lines(append(base, fresh)...)), 60))
	require.Equal(t, 777, *p.Plan.TokensBefore)
}

func TestFREE07ALargeUsageShrinksTheKeptTail(t *testing.T) {
	t.Parallel()
	reply := func(total int) *session.File {
		return parse(t, lines(user("a", filler(100)), says("b", filler(100)), user("c", filler(100)),
			message("d", map[string]any{"role": "assistant", "content": []any{block(filler(100))}, "stopReason": "stop", "usage": map[string]any{"input": total, "totalTokens": total}})))
	}
	in := input(reply(400), 500)
	in.NonMessage = new(int)
	require.Nil(t, prepare(t, in), "the range fits")
	in = input(reply(1600), 500)
	require.Nil(t, prepare(t, in), "what rides beside is unknown: no scaling")
	in.NonMessage = new(int)
	p := prepare(t, in)
	require.NotNil(t, p, "the provider counts four times as much")
	require.Equal(t, 125, p.Plan.KeepRecentTokens)
}

func TestFREE06WhatRidesBesideIsNoMultiplier(t *testing.T) {
	t.Parallel()
	kept := func(beside int) string {
		f := parse(t, lines(user("a", filler(100)), says("b", filler(100)), user("c", filler(100)),
			message("d", map[string]any{"role": "assistant", "content": []any{block(filler(100))}, "stopReason": "stop", "usage": map[string]any{"input": 400 + beside, "totalTokens": 400 + beside}})))
		in := input(f, 150)
		in.NonMessage = &beside
		return prepare(t, in).Plan.FirstKeptEntryID
	}
	require.Equal(t, kept(0), kept(30_000))
}

func TestKEEP01TheTailFitsTheWindow(t *testing.T) {
	t.Parallel()
	f := parse(t, lines(user("a", filler(300)), says("b", filler(300)), user("c", filler(300)), says("d", filler(300))))
	beside := 500
	in := input(f, 10_000)
	in.Window, in.NonMessage = 1000, &beside // auto threshold 850
	p := prepare(t, in)
	require.NotNil(t, p)
	require.Equal(t, 350, p.Plan.KeepRecentTokens)
	for _, change := range []func(*compaction.Input){
		func(in *compaction.Input) { in.Settings.Threshold = "85%" },
		func(in *compaction.Input) { in.Settings.Threshold = "850" },
		func(in *compaction.Input) { in.Window = 0 },
		func(in *compaction.Input) { in.NonMessage = nil },
		func(in *compaction.Input) { huge := 900; in.NonMessage = &huge },
	} {
		other := in
		change(&other)
		require.Nil(t, prepare(t, other))
	}
}

func TestSplitTurnAsksTwice(t *testing.T) {
	t.Parallel()
	f := parse(t, lines(user("a", "Earlier task. "+filler(50)), says("b", "Done."), user("c", "Big task. "+filler(50)), says("d", "Early work. "+filler(50)), says("e", "Late work. "+filler(100))))
	in := input(f, 60)
	in.Focus = "the port number"
	p := prepare(t, in)
	require.True(t, p.Plan.IsSplit)
	require.Equal(t, []string{"a", "b"}, p.Plan.Coverage.Summarized)
	require.Equal(t, []string{"c", "d"}, p.Plan.Coverage.TurnPrefix)
	require.Equal(t, []string{"e"}, p.Plan.Coverage.Kept)
	require.Contains(t, p.History.UserText(), "Earlier task.")
	require.NotContains(t, p.History.UserText(), "Big task.")
	require.True(t, strings.HasSuffix(p.History.Instruction, "\n\nAdditional focus: the port number"))
	require.Contains(t, p.TurnPrefix.UserText(), "Big task.")
	require.NotContains(t, p.TurnPrefix.UserText(), "port number")
	require.Equal(t, "H\n\n---\n\n**Turn Context (split turn):**\n\nP", compaction.Assemble(&p.Plan, "H", " P\n"))
	require.Equal(t, "H", compaction.Assemble(&p.Plan, "H", ""))
	require.Equal(t, "the port number", compaction.NewEntry(&p.Plan, "S").CustomInstructions)
}

func TestSplitTurnWithoutHistory(t *testing.T) {
	t.Parallel()
	f := parse(t, lines(user("a", "The task. "+filler(50)), says("b", "Early work. "+filler(50)), says("c", "Late. "+filler(100))))
	p := prepare(t, input(f, 60))
	require.Nil(t, p.History)
	require.NotNil(t, p.TurnPrefix)
	require.Equal(t, "No prior history.\n\n---\n\n**Turn Context (split turn):**\n\nP", compaction.Assemble(&p.Plan, "", "P"))
}

func TestSplitTurnBehindAPreviousSummaryUpdatesIt(t *testing.T) {
	t.Parallel()
	f := parse(t, lines(user("a", "Old."), user("b", "The task. "+filler(50)), compacted("k", "b", "OLD-SUMMARY"), says("c", "Early. "+filler(50)), says("d", "Late. "+filler(100))))
	in := input(f, 60)
	in.Focus = "ports"
	p := prepare(t, in)
	require.Nil(t, p.TurnPrefix)
	require.False(t, p.Plan.IsSplit)
	require.Equal(t, []string{"b", "c"}, p.Plan.Coverage.Summarized)
	require.Equal(t, 1, strings.Count(p.History.UserText(), "OLD-SUMMARY"))
	require.Contains(t, p.History.Instruction, "stops in the middle of a turn")
	require.True(t, strings.HasSuffix(p.History.Instruction, "Additional focus: ports"))
}

func TestTheUpdatePromptGoesWithAPreviousSummary(t *testing.T) {
	t.Parallel()
	in := input(parse(t, lines(user("a", filler(100)), says("b", filler(100)))), 60)
	require.True(t, strings.HasPrefix(prepare(t, in).TurnPrefix.Instruction, in.Prompts.TurnPrefix))
	in = input(parse(t, lines(user("a", filler(100)), says("b", "ok"), user("c", filler(100)))), 60)
	require.Equal(t, in.Prompts.Initial, prepare(t, in).History.Instruction)
	in = input(parse(t, lines(user("a", "x"), compacted("k", "a", "S"), says("b", filler(100)), user("c", filler(100)))), 60)
	require.Equal(t, in.Prompts.Update, prepare(t, in).History.Instruction)
	require.Equal(t, in.Prompts.System, prepare(t, in).History.System)
}

func TestTheInstructionNamesTheLanguageOfTheUser(t *testing.T) {
	t.Parallel()
	in := input(parse(t, lines(user("a", "Bitte benenne den Job um und prüfe, ob das Skript noch läuft, aber nicht auf der Produktion."), says("b", "ok"), user("c", filler(100)))), 60)
	require.Contains(t, prepare(t, in).History.Instruction, "write everything but headings and quoted text in German")
}

func TestWhichCompactionIsTheBase(t *testing.T) {
	t.Parallel()
	window := map[string]any{"remoteCompaction": map[string]any{"version": 1, "provider": "openai", "api": "openai-responses", "model": "m", "compactedAt": "2026-05-01T00:00:00Z", "window": []any{map[string]any{"type": "compaction", "encrypted_content": "x"}}}}
	body := []map[string]any{user("a", "AAA "+filler(50)), says("b", "BBB"), compacted("k1", "b", "TEXT-SUMMARY"), user("c", "CCC "+filler(50))}
	tail := []map[string]any{user("d", "DDD"), user("e", filler(100))}
	for _, tt := range []struct {
		name  string
		extra map[string]any
		previ string
	}{
		{"a server-side window is no base", with(compacted("k2", "c", ""), "preserveData", window), "k1"},
		{"nor a dual entry", with(compacted("k2", "c", "readable"), "preserveData", window), "k1"},
		{"nor a legacy placeholder", with(compacted("k2", "c", "placeholder"), "preserveData", map[string]any{"compactionV2": map[string]any{}}), "k1"},
		{"nor an empty one", compacted("k2", "c", "  "), "k1"},
		{"a newer text is", compacted("k2", "c", "NEWER"), "k2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list := append(append(cloneAll(body), tt.extra), cloneAll(tail)...)
			p := prepare(t, input(parse(t, lines(list...)), 60))
			require.Equal(t, tt.previ, p.Plan.Coverage.Previous)
			text := sent(p)
			require.NotContains(t, text, "AAA")
			require.Equal(t, tt.previ == "k1", strings.Contains(text, "BBB"))
			require.Equal(t, 1, strings.Count(text, "CCC"))
		})
	}
}

func cloneAll(list []map[string]any) []map[string]any {
	var out []map[string]any
	for _, e := range list {
		c := map[string]any{}
		for k, v := range e {
			c[k] = v
		}
		out = append(out, c)
	}
	return out
}

func TestAMissingBoundaryIsSummarisedOnceMoreNotLost(t *testing.T) {
	t.Parallel()
	f := parse(t, lines(user("a", "AAA"), says("b", "BBB"), compacted("k", "nowhere", "OLD"), user("c", "CCC"), user("d", filler(100))))
	p := prepare(t, input(f, 60))
	covered(t, f, p, "a")
	for _, part := range []string{"AAA", "BBB", "CCC", "OLD"} {
		require.Equal(t, 1, strings.Count(sent(p), part), part)
	}
	require.Contains(t, strings.Join(p.Plan.Warnings, "\n"), "nowhere")
}

func TestARetainedTailIsSummarised(t *testing.T) {
	t.Parallel()
	k := entry("compaction", "k", "summary", "OLD", "tokensBefore", 1, "retainedTail", []any{
		map[string]any{"role": "user", "content": "HELD-QUESTION"},
		map[string]any{"role": "assistant", "content": []any{block("HELD-ANSWER")}},
	})
	p := prepare(t, input(parse(t, lines(user("a", "GONE"), k, user("c", "CCC"), user("d", filler(100)))), 60))
	text := sent(p)
	for _, part := range []string{"OLD", "HELD-QUESTION", "HELD-ANSWER", "CCC"} {
		require.Equal(t, 1, strings.Count(text, part), part)
	}
	require.NotContains(t, text, "GONE")
}

func TestKeepNothingStartsBehindTheCompaction(t *testing.T) {
	t.Parallel()
	p := prepare(t, input(parse(t, lines(user("a", "AAA"), compacted("k", session.KeepNothing, "OLD"), user("c", "CCC"), user("d", filler(100)))), 60))
	require.NotContains(t, sent(p), "AAA")
	require.Equal(t, []string{"c"}, p.Plan.Coverage.Summarized)

	text := lines(calls("a", "read", "x.go", "t1"), answers("b", "t1", filler(100)))
	p = prepare(t, input(parse(t, text), 60))
	require.Equal(t, session.KeepNothing, p.Plan.FirstKeptEntryID)
	require.Zero(t, p.Plan.KeptTokens)
	after := contextOf(t, commit(t, text, p, "c9", "ALL", ""))
	require.Len(t, after.Messages, 1)
}

func TestFilesOfAllCompactionsEndTheSummary(t *testing.T) {
	t.Parallel()
	k := with(compacted("k", "b", "OLD"), "details", map[string]any{"readFiles": []string{"old/read.go", "src/b.go"}, "modifiedFiles": []string{"old/changed.go"}})
	f := parse(t, lines(user("a", "x"), k, calls("b", "read", "src/a.go:1-20", "t1"), answers("c", "t1", "ok"),
		calls("d", "edit", "src/b.go", "t2"), answers("e", "t2", "ok"), user("g", filler(100)), calls("h", "write", "kept.go", "t3"), answers("i", "t3", "ok")))
	p := prepare(t, input(f, 100))
	require.Equal(t, "g", p.Plan.FirstKeptEntryID)
	require.Equal(t, "S\n\n<files>\n# old/\nchanged.go (Write)\nread.go (Read)\n# src/\na.go (Read)\nb.go (RW)\n</files>",
		compaction.Assemble(&p.Plan, "S\n\n<files>\nstale (Read)\n</files>", ""))
	p.Plan.Settings.FileList = compaction.FileListFlat
	require.Equal(t, "S\n\n<read-files>\nold/read.go\nsrc/a.go\n</read-files>\n\n<modified-files>\nold/changed.go\nsrc/b.go\n</modified-files>",
		compaction.Assemble(&p.Plan, "S", ""))
	require.JSONEq(t, `{"readFiles":["old/read.go","src/a.go"],"modifiedFiles":["old/changed.go","src/b.go"]}`, string(compaction.Details(&p.Plan, session.DialectPi)))
	require.JSONEq(t, `{"base":"k","readFilesAdded":["src/a.go"],"modifiedFilesAdded":["src/b.go"]}`, string(compaction.Details(&p.Plan, session.DialectVeyyon)))
}

func TestAPlanSurvivesStorage(t *testing.T) {
	t.Parallel()
	for _, text := range []string{caseT1, caseT2} {
		p := prepare(t, input(parse(t, text), 30))
		var back compaction.Plan
		require.NoError(t, json.Unmarshal([]byte(mustJSON(t, p.Plan)), &back))
		require.Empty(t, cmp.Diff(p.Plan, back))
		require.Equal(t, compaction.PlanVersion, back.Version)
		for _, marker := range append(markers, "invoice-sync", "SUMMARY") {
			require.NotContains(t, mustJSON(t, p.Plan), marker, "a plan holds no text of the session")
		}
		require.Equal(t, 10+p.Plan.KeptTokens, compaction.TokensAfter(&p.Plan, strings.Repeat("s", 40)))
	}
}

func TestPlansDoNotDependOnParallelism(t *testing.T) {
	t.Parallel()
	var list []map[string]any
	for i := range 400 {
		id := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		list = append(list, user("u"+id, filler(1500)), calls("a"+id, "read", id+".go", "t"), answers("r"+id, "t", filler(900)))
	}
	f := parse(t, lines(list...))
	one := input(f, 5000)
	one.Parallel = 1
	many := input(f, 5000)
	many.Parallel = 7
	require.Empty(t, cmp.Diff(mustJSON(t, prepare(t, one)), mustJSON(t, prepare(t, many))))
}

func TestADanglingCallThatIsOldDoesNotBlock(t *testing.T) {
	t.Parallel()
	text := lines(user("a", filler(100)), says("b", filler(100)), calls("c", "read", "x.go", "t1"))
	in := input(parse(t, text), 50)
	p := prepare(t, in)
	require.NotNil(t, p)
	after := contextOf(t, commit(t, text, p, "k", "S", "P"))
	require.NoError(t, validatePairs(session.ToModel(after.Messages)))

	in.Now = time.Date(2026, 5, 1, 0, 5, 0, 0, time.UTC)
	require.Equal(t, contract.CodeCallInFlight, skipOf(t, in).Code)
	in = input(parse(t, text+mustJSON(t, with(user("d", "never mind"), "parentId", "c"))+"\n"), 50)
	in.Now = time.Date(2026, 5, 1, 0, 5, 0, 0, time.UTC)
	require.NotNil(t, prepare(t, in), "the user went on: nothing is running")
}

func TestContextLinesReachEveryRequest(t *testing.T) {
	t.Parallel()
	in := input(parse(t, lines(user("a", filler(50)), says("b", "ok"), user("c", filler(50)), says("d", filler(100)))), 60)
	in.Context = []string{"remember the port"}
	for _, r := range prepare(t, in).Requests() {
		require.Contains(t, r.UserText(), "<additional-context>\n- remember the port\n</additional-context>")
	}
}

// TestALegacyArchiveIsDrainedIntoTheNextSummary is §12.6: what only an archive of old holds is part of
// the previous summary, is sized with it, and is gone from the entry that replaces it.
func TestALegacyArchiveIsDrainedIntoTheNextSummary(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, previous string
		archive        map[string]any
	}{
		{"whole text", "OLD-SUMMARY\n\nARCHIVED-ONE\nARCHIVED-TWO", map[string]any{"text": "ARCHIVED-ONE\u2588ARCHIVED\x0e-TWO", "frames": []any{"aGVsbG8="}}},
		{"head and tail", "OLD-SUMMARY\n\nARCHIVED-ONE\nARCHIVED-TWO", map[string]any{"textHead": "ARCHIVED-ONE", "textTail": "ARCHIVED-TWO"}},
		{"pictures only", "OLD-SUMMARY", map[string]any{"frames": []any{"aGVsbG8="}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := with(compacted("k", "b", "OLD-SUMMARY"), "preserveData", map[string]any{"snapcompact": tt.archive})
			text := lines(user("a", "AAA"), user("b", "BBB"), k, user("c", filler(50)), user("d", filler(100)))
			p := prepare(t, input(parse(t, text), 60))
			require.Equal(t, tt.previous, p.History.PreviousSummary)
			require.Equal(t, 1, strings.Count(sent(p), "OLD-SUMMARY"))
			require.NotContains(t, sent(p), "aGVsbG8=")
			require.GreaterOrEqual(t, p.Plan.SourceTokens, tokens.Text(tt.previous)+50)

			p.Plan.Dialect = session.DialectVeyyon
			after := commit(t, text, p, "k2", "NEW-SUMMARY", "")
			require.NotContains(t, after[len(text):], "snapcompact")
			require.NotContains(t, texts(session.ToModel(contextOf(t, after).Messages)), "ARCHIVED")
		})
	}
}

// TestRSN04NoPayloadHoldsReasoning: neither part of a split turn, nor what rides beside the conversation.
func TestRSN04NoPayloadHoldsReasoning(t *testing.T) {
	t.Parallel()
	thinks := func(id, text string) map[string]any {
		return message(id, map[string]any{"role": "assistant", "stopReason": "stop", "content": []any{
			map[string]any{"type": "thinking", "thinking": "SECRET-THOUGHT", "thinkingSignature": "SIGNED"},
			map[string]any{"type": "redactedThinking", "data": "SEALED"},
			block(text),
		}})
	}
	demoted := message("x", map[string]any{"role": "developer", "content": "RESTATED", "demotedReasoningSource": map[string]any{"provider": "p", "model": "m"}})
	p := prepare(t, input(parse(t, lines(user("a", "Earlier."), thinks("b", "ANSWER-ONE"), demoted, user("c", "The task."), thinks("d", "ANSWER-TWO"), thinks("e", filler(100)))), 60))
	require.Len(t, p.Requests(), 2)
	for _, r := range p.Requests() {
		payload := string(r.Encode())
		for _, secret := range []string{"SECRET-THOUGHT", "SIGNED", "SEALED", "RESTATED"} {
			require.NotContains(t, payload, secret, r.Part)
		}
	}
	require.Contains(t, p.History.UserText(), "ANSWER-ONE")
	require.Contains(t, p.TurnPrefix.UserText(), "ANSWER-TWO")
}

// TestExcludedRuntimeMessagesReachNoRequest: what is never sent to a model is not summarised either.
func TestExcludedRuntimeMessagesReachNoRequest(t *testing.T) {
	t.Parallel()
	excluded := []map[string]any{
		entry("custom_message", "x1", "customType", session.OutcomeRecord, "content", "EXCLUDED-RECORD", "display", true, "details", map[string]any{"reason": "EXCLUDED-DETAIL"}),
		message("x2", map[string]any{"role": "bashExecution", "command": "EXCLUDED-COMMAND", "output": "EXCLUDED-OUTPUT", "excludeFromContext": true}),
		entry("custom", "x3", "customType", "state", "data", map[string]any{"text": "EXCLUDED-STATE"}),
		entry("label", "x4", "targetId", "x1", "label", "EXCLUDED-LABEL"),
		entry("session_info", "x5", "name", "EXCLUDED-NAME"),
		entry("from_the_future", "x6", "content", "EXCLUDED-UNKNOWN"),
	}
	list := append(append([]map[string]any{user("a", "SAID")}, excluded...), user("b", filler(100)))
	p := prepare(t, input(parse(t, lines(list...)), 60))
	require.Contains(t, sent(p), "SAID")
	require.NotContains(t, sent(p), "EXCLUDED")

	alone := append(cloneAll(excluded), user("b", filler(100)))
	for _, e := range alone {
		delete(e, "parentId")
	}
	s := skipOf(t, input(parse(t, lines(alone...)), 60))
	require.Equal(t, contract.CodeNothingToCompact, s.Code, "alone they are nothing to summarise")
}
