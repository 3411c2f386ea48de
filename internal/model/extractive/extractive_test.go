package extractive_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"recap/internal/compaction/gate"
	"recap/internal/compaction/gate/outline"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/model"
	"recap/internal/model/extractive"
	"recap/internal/sample"
	"recap/internal/tokens"
)

var languages = []string{"en", "pt", "ja", "zh", "ar", "ru"}

func headings(text string) (found []outline.Heading, open bool) {
	lines, open := outline.Scan(text)
	for _, l := range lines {
		if l.Heading.Level > 0 {
			found = append(found, l.Heading)
		}
	}
	return found, open
}

// markdownHeadings is what a Markdown parser takes for the document's headings.
func markdownHeadings(text string) []outline.Heading {
	source := []byte(text)
	var found []outline.Heading
	for n := goldmark.DefaultParser().Parse(gmtext.NewReader(source)).FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			var title []byte
			for i := range h.Lines().Len() {
				at := h.Lines().At(i)
				title = append(title, at.Value(source)...)
			}
			found = append(found, outline.Heading{Level: h.Level, Title: string(title)})
		}
	}
	return found
}

// body returns what stands under a heading, up to the next one.
func body(t testing.TB, text string, h outline.Heading) string {
	t.Helper()
	_, after, found := strings.Cut("\n"+text, "\n"+h.String()+"\n")
	require.True(t, found, "%s is missing in:\n%s", h, text)
	if i := strings.Index(after, "\n#"); i >= 0 {
		after = after[:i]
	}
	return after
}

func TestExtractHasTheSectionsAndPassesTheGate(t *testing.T) {
	t.Parallel()
	for _, lang := range languages {
		for _, part := range []contract.Part{contract.PartHistory, contract.PartTurnPrefix} {
			t.Run(lang+"/"+string(part), func(t *testing.T) {
				t.Parallel()
				blocks, _ := story(t, sample.Options{Seed: 11, Language: lang})
				req := &transcript.Request{Part: part, Conversation: blocks}
				text, source := extractive.Summarize(req, 13107)
				found, open := headings(text)
				require.False(t, open)
				require.Empty(t, cmp.Diff(outline.Of(part), found))
				r := gate.Judge(gate.Input{
					Part: part, Text: text, Finished: true, Source: blocks, SourceTokens: source, MaxOutput: 13107, Extractive: true,
				})
				require.Equal(t, contract.VerdictAccept, r.Verdict, "%v\n%s", r.Reasons, text)
				require.Equal(t, text, r.Text)
			})
		}
	}
}

// TestHistoryCanBeResumedFrom: a reader of the extract must find what the work is about, where it
// stands and what is asked of them.
func TestHistoryCanBeResumedFrom(t *testing.T) {
	t.Parallel()
	for _, lang := range languages {
		blocks, s := story(t, sample.Options{Seed: 12, Language: lang, Facts: []string{"The staging database listens on port 6543."}})
		text, _ := extractive.Summarize(history(blocks, ""), 0)
		require.Contains(t, body(t, text, outline.Goal), s.First)
		require.Contains(t, body(t, text, outline.CriticalContext), s.Question)
		require.Contains(t, text, "port 6543")
		require.Contains(t, body(t, text, outline.Constraints), "internal/gen")
		require.Contains(t, body(t, text, outline.KeyDecisions), "UTC")
		require.Contains(t, body(t, text, outline.Done), "internal/berth/allocate.go")
		require.Contains(t, body(t, text, outline.Blocked), "missing.go")
		require.Contains(t, body(t, text, outline.CriticalContext), "git log --oneline -3", "a command the user ran is no request")
		require.NotContains(t, text, "Command run by the user")
		require.NotContains(t, body(t, text, outline.Done), "no result")
		require.Contains(t, body(t, text, outline.AdditionalNotes), "4471")
	}
}

func TestFailureIsBlockedUntilTheSameThingSucceeds(t *testing.T) {
	t.Parallel()
	test := call("bash", "command", `"go test ./a"`)
	broken := []transcript.Block{
		user("Fix it."), agent("", test), result("bash", "--- FAIL: TestA\nFAIL\n\nCommand exited with code 1", true),
	}
	text, _ := extractive.Summarize(history(broken, ""), 0)
	require.Contains(t, body(t, text, outline.Blocked), "`go test ./a`")
	require.Contains(t, body(t, text, outline.Blocked), "> --- FAIL: TestA")

	fixed := append(broken, agent("", test), result("bash", "ok", false), agent("It passes."))
	whole, _ := extractive.Summarize(history(fixed, ""), 0)
	require.Equal(t, "- (none)\n", body(t, whole, outline.Blocked))

	later, _ := extractive.Summarize(history(fixed[3:], text), 0)
	require.NotContains(t, body(t, later, outline.Blocked), "go test ./a", "settled in the next range")
	elsewhere, _ := extractive.Summarize(history([]transcript.Block{user("Now the docs."), agent("Done.")}, text), 0)
	require.Contains(t, body(t, elsewhere, outline.Blocked), "`go test ./a`", "still open")
}

func TestPendingQuestionIsVerbatimAndReplacedWhenAnswered(t *testing.T) {
	t.Parallel()
	ask := "Which port does staging use?\n\n  - 6543\n  - or 5432?"
	first, _ := extractive.Summarize(history([]transcript.Block{user("Hello there."), agent("Hello."), user(ask)}, ""), 0)
	require.Contains(t, body(t, first, outline.CriticalContext), "  > Which port does staging use?\n  >\n  >   - 6543\n  >   - or 5432?\n")

	second, _ := extractive.Summarize(history([]transcript.Block{agent("It is 6543.")}, first), 0)
	require.NotContains(t, body(t, second, outline.CriticalContext), "Unanswered")
	require.Contains(t, body(t, second, outline.Done), "Which port does staging use?")
	require.Contains(t, body(t, second, outline.Done), "It is 6543.")

	asked, _ := extractive.Summarize(history([]transcript.Block{user("Deploy."), agent("To staging or to production?")}, second), 0)
	require.Contains(t, body(t, asked, outline.CriticalContext), "> To staging or to production?")
	require.Contains(t, body(t, asked, outline.NextSteps), "answer")
}

// TestQuotationsAreClean: terminal codes, lone carriage returns and our own tags are made harmless,
// everything else stays.
func TestQuotationsAreClean(t *testing.T) {
	t.Parallel()
	text, _ := extractive.Summarize(history([]transcript.Block{user("one\rtwo\r\n\x1b[31mthree\x1b[0m\a\n</summary> <b>四</b>")}, ""), 0)
	require.Contains(t, text, "> one\n  > two\n  > three\n  > <\\/summary> <b>四</b>\n")
}

// TestLongRequestsAreCutBetweenCharacters: beginning and end stay, and no character is broken.
func TestLongRequestsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"é", "👩‍👩‍👧‍👦", "e\u0301", "請", "ب\u064e"} {
		text, _ := extractive.Summarize(history([]transcript.Block{user("BEGIN " + strings.Repeat(unit, 9000) + " END")}, ""), 900)
		require.Contains(t, text, "BEGIN "+unit)
		require.Contains(t, text, unit+" END")
		require.Contains(t, text, "characters left out")
		require.True(t, utf8.ValidString(text))
		for l := range strings.SplitSeq(text, "\n") {
			if strings.Contains(l, unit+unit) && strings.HasPrefix(strings.TrimSpace(l), ">") {
				rest := strings.ReplaceAll(l, unit, "")
				require.Empty(t, strings.Trim(rest, " >BEGIND"), "a character was broken in %q", l)
			}
		}
	}
}

func TestPreviousSummaryOfAModelIsCarriedBySections(t *testing.T) {
	t.Parallel()
	previous := "## Goal\nMove billing to invoice-sync.\n\n## Constraints & Preferences\n- Never import rows with status=draft\n\n" +
		"## Progress\n### Done\n- [x] Renamed the unit file\n### In Progress\n- [ ] Cron entry\n### Blocked\n- (none)\n\n" +
		"## Key Decisions\n- **Keep 03:40**: quiet hour\n\n## Next Steps\n1. Check the cron entry\n\n## Critical Context\n- Port 6543\n" +
		"  ```\n  # Goal of the unit\n  Type=oneshot\n  ```\n\n## Ideas\nA queue.\n\n---\n\n**Turn Context (split turn):**\n\n## Original Request\n" +
		"Rename it.\n\n## Context for Suffix\n- line 4\n\n<files>\n# jobs/\nbilling.yaml (RW)\n</files>"
	text, _ := extractive.Summarize(history([]transcript.Block{user("Go on."), agent("", call("read", "path", `"a.go"`))}, previous), 0)
	require.Contains(t, body(t, text, outline.Goal), "Move billing to invoice-sync.")
	require.Contains(t, body(t, text, outline.Constraints), "- Never import rows with status=draft\n")
	require.Contains(t, body(t, text, outline.Done), "- [x] Renamed the unit file\n")
	require.Contains(t, body(t, text, outline.InProgress), "- [ ] Cron entry\n")
	require.Contains(t, body(t, text, outline.KeyDecisions), "- **Keep 03:40**: quiet hour\n")
	require.Contains(t, body(t, text, outline.NextSteps), ". Check the cron entry\n")
	require.Contains(t, body(t, text, outline.AdditionalNotes), "A queue.")
	require.Contains(t, text, "Rename it.")
	require.Contains(t, text, "Type=oneshot")
	require.NotContains(t, text, "<files>")
	found, open := headings(text)
	require.False(t, open)
	require.Empty(t, cmp.Diff(outline.Of(contract.PartHistory), found))
}

// TestSmallTalkDoesNotHideTheWork: "ok" is the newest request, but not what the work is about.
func TestSmallTalkDoesNotHideTheWork(t *testing.T) {
	t.Parallel()
	work := "Move the retry budget from the client into the scheduler."
	blocks := []transcript.Block{
		user("Look at the scheduler, please, and tell me what it does."), agent("It schedules."),
		user(work), agent("Let me see:", call("edit", "path", `"/srv/app/core/a.go"`), call("edit", "path", `"/srv/app/core/sub/b.go"`)),
		result("edit", "ok", false), result("edit", "ok", false), agent("The budget is in the scheduler now."),
		user("ok"), agent("Good."),
	}
	text, _ := extractive.Summarize(history(blocks, ""), 0)
	require.Contains(t, body(t, text, outline.Goal), "> "+work)
	require.Contains(t, body(t, text, outline.Goal), "> ok\n")
	require.Contains(t, body(t, text, outline.Done), "Agent: “The budget is in the scheduler now.”")
	require.Contains(t, body(t, text, outline.Done), "Changed: `a.go`, `sub/b.go`")
	require.Contains(t, body(t, text, outline.CriticalContext), "`/srv/app/core/a.go`", "in full once")

	again, _ := extractive.Summarize(history([]transcript.Block{user("thanks"), agent("Welcome.")}, text), 0)
	require.Contains(t, body(t, again, outline.Goal), "> "+work)
}

// TestLookingIsNothingToRemember: a search without a match blocks nobody, and what only looked is not
// listed.
func TestLookingIsNothingToRemember(t *testing.T) {
	t.Parallel()
	text, _ := extractive.Summarize(history([]transcript.Block{
		user("Where is the budget?"),
		agent("", call("bash", "command", `"cd /srv && grep -rn budget ."`)), result("bash", "(no output)\n\nCommand exited with code 1", true),
		agent("", call("bash", "command", `"make check"`)), result("bash", "Command aborted", true),
		agent("", call("bash", "command", `"make lint"`)), result("bash", strings.Repeat("x=error;", 200)+"\nlint: undefined: foo\nexit status 2", false),
		agent("Nowhere yet."),
	}, ""), 0)
	require.Equal(t, "- Failed: `bash` `make lint`\n  > lint: undefined: foo\n  > exit status 2\n", body(t, text, outline.Blocked))
	require.NotContains(t, text, "Ran `cd /srv")
	require.Contains(t, text, "Ran `make check` — failed")
}

// TestSessionsThatStutterCanBeExtracted: a refusal could not be cured by asking again.
func TestSessionsThatStutterCanBeExtracted(t *testing.T) {
	t.Parallel()
	blocks := []transcript.Block{user(strings.Repeat("never ever ", 300)), agent(strings.Repeat("decided. ", 300)), user(strings.Repeat("请", 900))}
	text, source := extractive.Summarize(history(blocks, ""), 2000)
	r := gate.Judge(gate.Input{Part: contract.PartHistory, Text: text, Finished: true, Source: blocks, SourceTokens: source, Extractive: true})
	require.Equal(t, contract.VerdictAccept, r.Verdict, "%v\n%s", r.Reasons, text)
}

// TestT2FactsSurvive is case T2: of a small session nothing may be lost.
func TestT2FactsSurvive(t *testing.T) {
	t.Parallel()
	text, _ := extractive.Summarize(history([]transcript.Block{
		user("The staging database listens on port 6543. Marker M2-heron."), agent("Noted, 6543 for staging. Marker M3-lynx."),
		user("Never import rows with status=draft. Marker M4-swan."), agent("Draft rows are skipped. Marker M5-fox."),
	}, "PREV-SUMMARY-K: importer skeleton exists (M1-otter)."), 13107)
	for _, want := range []string{"PREV-SUMMARY-K", "M1-otter", "M2-heron", "M3-lynx", "M4-swan", "M5-fox", "6543", "status=draft"} {
		require.Contains(t, text, want)
	}
}

// TestGenerationsKeepFactsAndStayBounded: over many compactions constraints and the goal stay, and
// the text does not grow without end.
func TestGenerationsKeepFactsAndStayBounded(t *testing.T) {
	t.Parallel()
	previous := ""
	for g := range 12 {
		facts := []string{fmt.Sprintf("Never delete table ledger_%d.", g)}
		blocks, _ := story(t, sample.Options{Seed: uint64(g), Entries: 150, Facts: facts})
		text, _ := extractive.Summarize(history(blocks, previous), 6000)
		require.LessOrEqual(t, tokens.Text(text), 6000)
		require.Contains(t, body(t, text, outline.Goal), "The tide planner is one hour off")
		for old := range g + 1 {
			require.Contains(t, body(t, text, outline.Constraints), fmt.Sprintf("ledger_%d.", old), "generation %d", g)
		}
		found, open := headings(text)
		require.False(t, open)
		require.Empty(t, cmp.Diff(outline.Of(contract.PartHistory), found))
		previous = text
	}
	require.Regexp(t, `\[… \d+ items left out …\]`, previous)
}

func TestMaxOutputIsRespected(t *testing.T) {
	t.Parallel()
	for _, lang := range languages {
		blocks, _ := story(t, sample.Options{Seed: 13, Language: lang})
		for _, part := range []contract.Part{contract.PartHistory, contract.PartTurnPrefix} {
			for _, limit := range []int{8, 20, 50, 120, 299, 300, 700, 2000, 100000} {
				text, _ := extractive.Summarize(&transcript.Request{Part: part, Conversation: blocks}, limit)
				require.NotEmpty(t, text)
				require.LessOrEqual(t, tokens.Text(text), limit, "%s %s", lang, text)
				_, open := headings(text)
				require.False(t, open)
			}
		}
	}
}

// hostile generates text that tries to pass for structure.
func hostile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom([]string{
				"## Goal", "### Done", "\r## Progress", "\n## Next Steps\n", "```", "~~~~", "`", "``", "</summary>", "<summary>", "<files>", "</files>",
				"\u2028## Goal", "> ", "- [x] ", "1. ", "---", "    ## Goal", "\t", "must never", "decided", "日本語は必ず", "\u202e", "👩‍👩‍👧‍👦", "\xff",
				"\n===\n", "\n---\n", "<!--", "<pre>", "<div>\n", "[a]: b", "| a |\n| - |\n", "\n1986. ", "\n+ ",
				"Latest request, verbatim:", "[… 7 items left out …]", "# (none)", "\n\n", " ", "\n",
			}),
			rapid.StringN(0, 30, -1),
		), 0, 30).Draw(t, "parts"), "")
	})
}

func hostileBlocks(t *rapid.T) []transcript.Block {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) transcript.Block {
		b := transcript.Block{Text: hostile().Draw(t, "text")}
		b.Role = rapid.SampledFrom([]transcript.Role{transcript.User, transcript.Assistant, transcript.ToolResult, transcript.Developer}).Draw(t, "role")
		switch b.Role {
		case transcript.Assistant:
			b.Calls = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) transcript.Call {
				return transcript.Call{Name: rapid.SampledFrom([]string{"bash", "read", "edit", "x`y\n## Goal"}).Draw(t, "name"), Args: []transcript.Arg{{
					Key:  rapid.SampledFrom([]string{"path", "command", "pattern", "other"}).Draw(t, "key"),
					JSON: fmt.Sprintf("%q", hostile().Draw(t, "value")),
				}}}
			}), 0, 3).Draw(t, "calls")
		case transcript.ToolResult:
			b.Tool = rapid.SampledFrom([]string{"bash", "read", "edit", "none"}).Draw(t, "tool")
			b.Error = rapid.Bool().Draw(t, "error")
		}
		return b
	}), 0, 12).Draw(t, "blocks")
}

// TestTextCannotFakeStructure: whatever a session says, headings and frames of the extract are ours,
// through several generations.
func TestTextCannotFakeStructure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]contract.Part{contract.PartHistory, contract.PartTurnPrefix}).Draw(t, "part")
		previous := ""
		for range 3 {
			req := &transcript.Request{Part: part, Conversation: hostileBlocks(t), PreviousSummary: previous}
			text, _ := extractive.Summarize(req, rapid.SampledFrom([]int{0, 300, 1000}).Draw(t, "limit"))
			if text == "" {
				continue
			}
			found, open := headings(text)
			require.False(t, open, text)
			require.Empty(t, cmp.Diff(outline.Of(part), found), text)
			require.Empty(t, cmp.Diff(outline.Of(part), markdownHeadings(text)), text)
			for _, tag := range []string{"<files>", "</files>", "<summary>", "</summary>"} {
				require.NotContains(t, text, tag)
			}
			again, _ := extractive.Summarize(req, 1000)
			twice, _ := extractive.Summarize(req, 1000)
			require.Equal(t, again, twice)
			if part == contract.PartHistory {
				previous = text
			}
		}
	})
}

func TestCompleteAnswersWithEvidence(t *testing.T) {
	t.Parallel()
	c, err := extractive.New(model.Config{ID: "extractive/default"})
	require.NoError(t, err)
	require.Equal(t, "extractive:v1", c.Endpoint())
	seen := 0
	answer, err := c.Complete(t.Context(), model.Call{
		Request: *history([]transcript.Block{user("Rename the job."), agent("Renamed.")}, ""), MaxOutput: 500, Progress: func(n int) { seen = n },
	})
	require.NoError(t, err)
	require.Equal(t, "stop", answer.FinishReason)
	require.Equal(t, len(answer.Text), seen)
	require.True(t, answer.Usage.Estimated)
	require.Equal(t, tokens.Text(answer.Text), answer.Usage.OutputTokens)
	require.Positive(t, answer.Usage.InputTokens)
}

func TestCompleteFailsTyped(t *testing.T) {
	t.Parallel()
	c, err := extractive.New(model.Config{})
	require.NoError(t, err)
	for name, blocks := range map[string][]transcript.Block{
		"no blocks": nil, "white space": {user(" \n"), agent("")},
	} {
		_, err = c.Complete(t.Context(), model.Call{Request: *history(blocks, "")})
		var failed *model.Error
		require.ErrorAs(t, err, &failed, name)
		require.Equal(t, model.ClassEmpty, failed.Class, name)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Complete(done, model.Call{Request: *history([]transcript.Block{user("Hi there.")}, "")})
	var failed *model.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, model.ClassCanceled, failed.Class)
	require.ErrorIs(t, err, context.Canceled)
}

func BenchmarkSummarize(b *testing.B) {
	blocks, _ := story(b, sample.Options{Seed: 1, Bytes: 64 << 20})
	size := 0
	for i := range blocks {
		size += len(blocks[i].Text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		text, _ := extractive.Summarize(history(blocks, ""), 13107)
		require.NotEmpty(b, text)
	}
}

// TestAnyPreviousSummaryKeepsStructure: the text to update comes from anywhere.
func TestAnyPreviousSummaryKeepsStructure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		previous := ""
		for _, h := range rapid.SliceOf(rapid.SampledFrom(outline.Of(""))).Draw(t, "headings") {
			previous += h.String() + "\n" + hostile().Draw(t, "section") + "\n"
		}
		req := history(hostileBlocks(t), hostile().Draw(t, "lead")+previous)
		text, _ := extractive.Summarize(req, 2000)
		if text == "" {
			return
		}
		found, open := headings(text)
		require.False(t, open, text)
		require.Empty(t, cmp.Diff(outline.Of(contract.PartHistory), found), text)
		require.Empty(t, cmp.Diff(outline.Of(contract.PartHistory), markdownHeadings(text)), text)
	})
}
