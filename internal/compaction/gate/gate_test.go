package gate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/gate"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// good is a summary as a model writes it.
const good = `## Goal
Move the nightly billing job to the name invoice-sync without missing a run.

## Constraints & Preferences
- Never import rows with status=draft
- The staging database listens on port 6543

## Progress
### Done
- [x] Renamed the unit file in ` + "`jobs/billing.yaml`" + `
- [x] Changed the cron entry in ` + "`deploy/cron.txt`" + ` to 03:40
### In Progress
- [ ] README section about the new name
### Blocked
- The push was refused: "I can't push" was what the user reported

## Key Decisions
- **03:40 instead of 03:15**: the backup holds the lock until half past three

## Next Steps
1. Run the smoke test with:
` + "```bash\n./scripts/smoke.sh --job invoice-sync\n```" + `
2. Ask for a review.

## Critical Context
- Branch fix/rename, two files uncommitted.

## Additional Notes
- The user prefers short commit messages.`

// input is a judgement on a session of a usual size.
func input(text string) gate.Input {
	return gate.Input{Part: contract.PartHistory, Text: text, Finished: true, SourceTokens: 3000, MaxOutput: 13_107}
}

func small(text string) gate.Input {
	in := input(text)
	in.SourceTokens = 180
	return in
}

func change(old, repl string) string { return strings.Replace(good, old, repl, 1) }

// TestGoodAnswersAreAccepted holds the good ones, the ugly ones among them: a gate that refuses these
// costs its users money.
func TestGoodAnswersAreAccepted(t *testing.T) {
	t.Parallel()
	prefix := "## Original Request\nRename the job.\n\n## Early Progress\n- Read the unit file.\n\n## Context for Suffix\n- The cron entry is next."
	for name, in := range map[string]gate.Input{
		"complete":                            input(good),
		"T3 over-rejection guard":             input(good + "\nThe user said \"I can't push\" and then ran `git push --force`."),
		"T1 SUMMARY-TWO before sections":      small("SUMMARY-TWO: billing is renamed.\n\n" + good),
		"T1 SUMMARY-TWO on one line":          small("SUMMARY-TWO: the user wants billing renamed to invoice-sync, cron at 03:40."),
		"T2 marker after sections":            small(good + "\n\nGOOD-SUMMARY-Z port 6543 status=draft"),
		"a preface on a large session":        input("State of the work on the billing job.\n\n" + good),
		"sections left out":                   input("## Goal\nMove the nightly billing job to another name.\n\n## Next Steps\n1. Run the smoke test with the new name"),
		"terse, without full stops":           input("## Goal\nrename billing to invoice-sync\n\n## Progress\n### Done\n- [x] unit file, cron entry\n\n## Critical Context\n- port 6543, branch fix/rename"),
		"extra sections":                      input(strings.Replace(good, "## Key Decisions", "## Ideas\n- A queue.\n\n## Key Decisions", 1)),
		"headings in other spelling":          input(strings.NewReplacer("Constraints & Preferences", "Constraints and Preferences:", "## Goal", "## **GOAL**").Replace(good)),
		"explicit none":                       input(change("- [ ] README section about the new name", "- (none)")),
		"an empty last section":               input(change("\n- The user prefers short commit messages.", "")),
		"headings quoted in a fence":          input(good + "\n\n```markdown\n## Goal\n## Goal\n```"),
		"headings quoted in a block quote":    input(good + "\n> ## Goal\n> ## Progress"),
		"a tool call quoted in a fence":       input(good + "\n```xml\n<invoke name=\"bash\">\n</invoke>\n```"),
		"a tool call in a code span":          input(good + "\n- The model printed `<tool_calls><invoke name=\"bash\">` as text"),
		"turn prefix":                         {Part: contract.PartTurnPrefix, Text: prefix, Finished: true, SourceTokens: 2500},
		"assembled text":                      {Text: good + "\n\n---\n\n**Turn Context (split turn):**\n\n" + prefix + "\n\n<files>\n# jobs/\nbilling.yaml (RW)\n</files>", Finished: true, SourceTokens: 2500},
		"Japanese with English headings":      input("## Goal\n請求ジョブの名前を invoice-sync に変える。\n\n## Blocked\n利用者は「プッシュできません」と報告した。\n\n## Next Steps\n1. スモークテストを実行する"),
		"Chinese headings":                    input("## 目标\n把计费任务改名为 invoice-sync,夜间任务不能漏跑,暂存库端口是 6543。\n\n## 进展\n- 单元文件已改,定时任务已改\n\n## 下一步\n1. 运行冒烟测试,然后请求评审"),
		"Arabic":                              input("## Goal\nنقل مهمة الفوترة إلى الاسم invoice-sync دون تفويت أي تشغيل.\n\n## Next Steps\n1. تشغيل اختبار الدخان"),
		"Russian that reports an inability":   input("## Goal\nПереименовать задачу.\n\n### Blocked\n- Пользователь пишет: «я не могу отправить ветку».\n\n## Next Steps\n1. Проверить права"),
		"small: only a line":                  small("Renamed billing to invoice-sync."),
		"small: larger than its source":       {Part: contract.PartHistory, Text: good, Finished: true, SourceTokens: 60},
		"ends in a table":                     input(good + "\n\n| file | state |\n| --- | --- |\n| jobs/billing.yaml | done |"),
		"ends in a path":                      input(good + "\n- jobs/billing.yaml"),
		"ends in a preposition":               input(good + "\n- The port that the daemon listens on and the file it belongs to"),
		"ends in a lone letter":               input(good + "\n- The user chose plan a"),
		"ends in a word of another language":  input(good + "\n- Every worker must be stopped but must not die"),
		"rules and dot leaders":               input(good + "\n\n" + strings.Repeat("-", 400) + "\n\n" + strings.Repeat("=", 300) + "\n\nunit " + strings.Repeat(".", 300) + " 7\n"),
		"a list of alike lines":               input(good + "\n" + alikeLines(7)),
		"a hex dump in a fence":               input(good + "\n```\n" + strings.Repeat("00 00 00 00 ", 60) + "\n```"),
		"a stutter of the user's, quoted":     input(good + "\n> " + strings.Repeat("please ", 60)),
		"sorry as a quotation":                input("## Goal\nWord the e-mail \"I'm sorry, I can't help with refunds\" better.\n\n## Next Steps\n1. Show it to the user"),
		"small: a quoted refusal, no section": small("Earlier the bot answered \"I'm sorry, I cannot help with that\"; the user wants that text changed in replies.go."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gate.Judge(in)
			require.Equal(t, contract.VerdictAccept, r.Verdict, "%v %v %+v", r.Reasons, r.Repairs, r.Measurements)
			require.Empty(t, r.Reasons)
			require.Equal(t, strings.TrimSpace(in.Text), r.Text)
			require.True(t, r.Accepted())
		})
	}
}

func alikeLines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("- [x] Changed the import of package ledger to invoice in file number " + strings.Repeat("i", i+1) + ".go and ran its tests\n")
	}
	return b.String()
}

// TestBadAnswersAreRefused has the rows of case T3 and their relatives; each must be told apart.
func TestBadAnswersAreRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The user wants the billing job renamed and the cron entry moved. ", 3)
	for name, tc := range map[string]struct {
		in      gate.Input
		reason  contract.Code
		verdict contract.Verdict
	}{
		"T3 m1 empty":               {input(""), gate.CodeNoSubstance, contract.VerdictNext},
		"white space":               {input(" \n\t\u200b "), gate.CodeNoSubstance, contract.VerdictNext},
		"placeholder":               {input("## Goal\n(none)\n\n## Progress\n- [ ] TBD\n\n## Next Steps\n1. N/A"), gate.CodeNoSubstance, contract.VerdictNext},
		"only headings":             {input("## Goal\n## Constraints & Preferences\n## Progress\n### Done\n### In Progress"), gate.CodeNoSubstance, contract.VerdictNext},
		"small: nothing":            {small("## Goal\n..."), gate.CodeNoSubstance, contract.VerdictNext},
		"T3 m2 thinking only":       {input("<think>I should list the port, and then"), gate.CodeThinkingOnly, contract.VerdictRetrySame},
		"closed thinking only":      {small("<thinking>\nI should list the port.\n</thinking>\n"), gate.CodeThinkingOnly, contract.VerdictRetrySame},
		"T3 m3 without its reason":  {unfinished(good), gate.CodeUnfinished, contract.VerdictRetrySame},
		"with a tool call":          {withToolCall(good), gate.CodeToolCall, contract.VerdictRetrySame},
		"T3 m4 refusal":             {small("I'm not able to help with summarising this conversation, because parts of it may be private. Please share a shorter excerpt."), gate.CodeRefusal, contract.VerdictNext},
		"refusal, large":            {input("I'm sorry, but I can't assist with that request. It seems to hold private data about people."), gate.CodeRefusal, contract.VerdictNext},
		"refusal, polite":           {input("Thank you for sharing. Unfortunately I must respectfully decline to produce this summary for policy reasons."), gate.CodeRefusal, contract.VerdictNext},
		"refusal under a heading":   {input("## Goal\nI cannot help with summarising this conversation because it may hold private data."), gate.CodeRefusal, contract.VerdictNext},
		"refusal, no conversation":  {input("It looks like there is no conversation here. Please paste the conversation you would like summarised."), gate.CodeRefusal, contract.VerdictNext},
		"refusal pt":                {input("Desculpe, não posso ajudar a resumir esta conversa, porque ela pode conter dados privados de pessoas."), gate.CodeRefusal, contract.VerdictNext},
		"refusal es":                {input("Lo siento, no puedo ayudar con el resumen de esta conversación porque contiene datos privados."), gate.CodeRefusal, contract.VerdictNext},
		"refusal fr":                {input("Désolé, je ne peux pas résumer cette conversation car elle contient des données privées."), gate.CodeRefusal, contract.VerdictNext},
		"refusal de":                {input("Es tut mir leid, ich kann dieses Gespräch nicht zusammenfassen, weil es private Daten enthält."), gate.CodeRefusal, contract.VerdictNext},
		"refusal ru":                {input("Извините, я не могу помочь с резюме этого разговора, потому что в нём могут быть личные данные."), gate.CodeRefusal, contract.VerdictNext},
		"refusal zh":                {input("抱歉,我无法总结这段对话,因为其中可能包含私人信息。请提供一段较短的摘录。"), gate.CodeRefusal, contract.VerdictNext},
		"refusal ja":                {input("申し訳ありませんが、この会話を要約することはできません。個人情報が含まれている可能性があります。"), gate.CodeRefusal, contract.VerdictNext},
		"refusal ar":                {input("عذراً، لا أستطيع المساعدة في تلخيص هذه المحادثة لأنها قد تحتوي على بيانات خاصة بأشخاص."), gate.CodeRefusal, contract.VerdictNext},
		"refusal ko":                {input("죄송합니다. 이 대화에는 개인 정보가 포함될 수 있어서 요약해 드릴 수 없습니다. 더 짧은 발췌문을 주세요."), gate.CodeRefusal, contract.VerdictNext},
		"T3 m5 tool call":           {small("<tool_calls>\n<invoke name=\"bash\">\n<parameter name=\"command\">cat README.md</parameter>\n</invoke>\n</tool_calls>"), gate.CodeToolCall, contract.VerdictRetrySame},
		"tool call as JSON":         {input("{\"name\": \"bash\", \"arguments\": {\"command\": \"cat README.md && cat deploy/cron.txt\"}}"), gate.CodeToolCall, contract.VerdictRetrySame},
		"tool call in a fence":      {input("```json\n{\"name\": \"bash\", \"arguments\": {\"command\": \"cat README.md && cat deploy/cron.txt\"}}\n```"), gate.CodeToolCall, contract.VerdictRetrySame},
		"tool call after a summary": {input(good + "\n\n<function_calls>\n<invoke name=\"bash\">\n</invoke>"), gate.CodeToolCall, contract.VerdictRetrySame},
		"open fence":                {input(good + "\n```bash\n./scripts/smoke.sh"), gate.CodeOpenFence, contract.VerdictRetrySame},
		"cut at a comma":            {input(good + "\n\nThe user prefers short messages,"), gate.CodeCutOff, contract.VerdictRetrySame},
		"cut at an article":         {input(good + "\n- Renamed the unit file and changed the"), gate.CodeCutOff, contract.VerdictRetrySame},
		"cut in a code span":        {input(good + "\n- Renamed `jobs/bill"), gate.CodeCutOff, contract.VerdictRetrySame},
		"cut among full sentences":  {input(good + "\n\nThe first part is done.\n\nThe second part is done.\n\nThen the user asked for another sche"), gate.CodeCutOff, contract.VerdictRetrySame},
		"cut in Japanese":           {input(good + "\n\n利用者は次に、"), gate.CodeCutOff, contract.VerdictRetrySame},
		"out of order":              {small("## Progress\n### Done\n- [x] Renamed the unit file.\n\n## Goal\nRename the billing job."), gate.CodeSectionOrder, contract.VerdictRetrySame},
		"repeated":                  {small(good + "\n\n## Goal\nOnce more."), gate.CodeSectionRepeated, contract.VerdictRetrySame},
		"turn prefix out of order":  {gate.Input{Part: contract.PartTurnPrefix, Finished: true, SourceTokens: 100, Text: "## Early Progress\nRead the unit file and the cron table.\n\n## Original Request\nRename it."}, gate.CodeSectionOrder, contract.VerdictRetrySame},
		"no section at all":         {input(long), gate.CodeSectionsMissing, contract.VerdictRetrySame},
		"continues the work":        {input("README written. Marker M7-wolf. Shall I also add a section about the cron entry and its time?"), gate.CodeSectionsMissing, contract.VerdictRetrySame},
		"not smaller":               {gate.Input{Part: contract.PartHistory, Finished: true, SourceTokens: 2100, Text: good + strings.Repeat("\n- "+strings.Repeat("another fact ", 3)+"word", 1) + "\n" + bulk(7600)}, gate.CodeNotSmaller, contract.VerdictRetrySame},
		"stutter":                   {input(good + "\n" + strings.Repeat("and then ", 40) + "."), gate.CodeRepetition, contract.VerdictRetrySame},
		"stutter in Chinese":        {input(good + "\n" + strings.Repeat("继续继续", 60) + "。"), gate.CodeRepetition, contract.VerdictRetrySame},
		"small: stutter":            {small("The job is renamed. " + strings.Repeat("ok ok ", 60)), gate.CodeRepetition, contract.VerdictRetrySame},
		"the same paragraph":        {input(good + strings.Repeat("\n\nThe user asked for the billing job to be renamed to invoice-sync and the agent changed the unit file.", 9)), gate.CodeRepetition, contract.VerdictRetrySame},
		"says nothing new":          {input(good + dull()), gate.CodeRepetition, contract.VerdictRetrySame},
		"the same row":              {input(good + strings.Repeat("\n- [x] Renamed the billing job to invoice-sync in the unit file and in the cron table", 12)), gate.CodeRepetition, contract.VerdictRetrySame},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gate.Judge(tc.in)
			require.Contains(t, r.Reasons, tc.reason)
			require.Equal(t, tc.verdict, r.Verdict)
			require.False(t, r.Accepted())
			require.Subset(t, gate.Reasons, r.Reasons)
		})
	}
}

// dull is a string of paragraphs that turn the same words over and over, each in another order.
func dull() string {
	words := strings.Fields("the agent then went on with work that was planned before and looked again at what it had done so far while nobody asked for more of it")
	var b strings.Builder
	for i := range 12 {
		b.WriteString("\n\n")
		for j := range words {
			b.WriteString(words[(j*(i+3)+i)%len(words)] + " ")
		}
		b.WriteString("now.")
	}
	return b.String()
}

func unfinished(text string) gate.Input {
	in := input(text)
	in.Finished = false
	return in
}

func withToolCall(text string) gate.Input {
	in := input(text)
	in.ToolCalls = 1
	return in
}

// bulk is prose of n bytes that repeats nothing.
func bulk(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString("- " + word(i) + word(7*i+1) + " moved to " + word(13*i+5) + word(i*i+3) + ".\n")
	}
	return b.String()
}

func word(i int) string {
	const letters = "bcdfghklmnprstvz"
	const vowels = "aeiou"
	i = i*7919 + 104729
	var b strings.Builder
	for range 3 {
		b.WriteByte(letters[i%len(letters)])
		b.WriteByte(vowels[(i/16)%len(vowels)])
		i /= 5
	}
	return b.String()
}

// TestBudgetUsedUpMakesAnOpenEndSuspicious: the same end is fine with room to spare.
func TestBudgetUsedUpMakesAnOpenEndSuspicious(t *testing.T) {
	t.Parallel()
	in := input("## Goal\nRename the nightly billing job to invoice-sync everywhere\n\n## Critical Context\nThe staging database listens on the port that the readme names")
	require.Equal(t, contract.VerdictAccept, gate.Judge(in).Verdict)
	in.MaxOutput = (len(in.Text) + 3) / 4
	require.Equal(t, []contract.Code{gate.CodeCutOff}, gate.Judge(in).Reasons)
}

func TestRepairs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text    string
		want    string
		repairs []contract.Code
	}{
		"thinking":             {"<think>\nLet me see.\n## Goal\n</think>\n\n" + good, good, []contract.Code{gate.RepairThinking}},
		"thinking, no opening": {"Let me see what the user wants.\n</think>\n\n" + good, good, []contract.Code{gate.RepairThinking}},
		"wrapper":              {"<summary>\n" + good + "\n</summary>", good, []contract.Code{gate.RepairWrapper}},
		"wrapper, attributes":  {"<Summary lang=\"en\">\n" + good + "\n</Summary>\n", good, []contract.Code{gate.RepairWrapper}},
		"nested element stays": {"<summary>\n" + good + "\n<summary>x</summary>\n</summary>", good + "\n<summary>x</summary>", []contract.Code{gate.RepairWrapper}},
		"fence":                {"```markdown\n" + good[:strings.Index(good, "## Next")] + "```", strings.TrimSpace(good[:strings.Index(good, "## Next")]), []contract.Code{gate.RepairFence}},
		"longer fence":         {"````\n" + good + "\n````", good, []contract.Code{gate.RepairFence}},
		"announcement":         {"Here is the summary:\n\n" + good, good, []contract.Code{gate.RepairPreamble}},
		"all of them": {
			"<thinking>hm</thinking>\n<summary>\nHere's the updated summary:\n" + good + "\n</summary>", good,
			[]contract.Code{gate.RepairThinking, gate.RepairWrapper, gate.RepairPreamble},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gate.Judge(input(tc.text))
			require.Equal(t, contract.VerdictRepaired, r.Verdict, "%v", r.Reasons)
			require.Equal(t, tc.want, r.Text)
			require.Equal(t, tc.repairs, r.Repairs)
			require.Subset(t, gate.Repairs, r.Repairs)
			again := gate.Judge(input(r.Text))
			require.Equal(t, contract.VerdictAccept, again.Verdict, "a repaired text needs no repair")
		})
	}
}

func TestWrapperThatIsContentStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"<summary>a</summary>\n" + good, good + "\n<summary>\n</summary>", "<summary/>\n" + good + "\n</summary>", "Text: <summary>\n" + good + "\n</summary>",
	} {
		require.Equal(t, text, gate.Judge(input(text)).Text)
	}
}

// source is a conversation of n blocks that repeats nothing.
func source(n int) []transcript.Block {
	blocks := make([]transcript.Block, n)
	for i := range blocks {
		var b strings.Builder
		for j := range 60 {
			b.WriteString(word(i*61+j) + " ")
		}
		blocks[i] = transcript.Block{Role: transcript.User, Text: b.String()}
		if i%3 == 1 {
			blocks[i].Role = transcript.Assistant
			blocks[i].Calls = []transcript.Call{{Name: "write", Args: []transcript.Arg{{Key: "content", JSON: `"` + b.String() + `"`}}}}
		}
	}
	return blocks
}

// TestEcho is G6 in its first form.
func TestEcho(t *testing.T) {
	t.Parallel()
	src := source(60)
	copied := "## Goal\n" + src[3].Text + "\n\n## Critical Context\n" + src[9].Text + src[10].Text + "."
	in := input(copied)
	in.Source = src
	r := gate.Judge(in)
	require.Equal(t, []contract.Code{gate.CodeEchoesTranscript}, r.Reasons)
	require.Greater(t, r.Measurements.Echo, 0.9)

	upper := in
	upper.Text = "## Goal\n" + strings.ToUpper(copied[8:])
	require.Equal(t, []contract.Code{gate.CodeEchoesTranscript}, gate.Judge(upper).Reasons, "case is no difference")

	for name, change := range map[string]func(*gate.Input){
		"extractive is exempt": func(in *gate.Input) { in.Extractive = true },
		"small is exempt":      func(in *gate.Input) { in.SourceTokens = 1999 },
		"own limit":            func(in *gate.Input) { in.MinSourceTokens = 50_000 },
		"another source":       func(in *gate.Input) { in.Source = []transcript.Block{{Role: transcript.User, Text: good}} },
		"form only":            func(in *gate.Input) { in.Source = nil },
		"quoted": func(in *gate.Input) {
			in.Text = "## Goal\nFind out what the words in this message of the user mean.\n\n## Critical Context\n> " + src[9].Text + src[10].Text
		},
		"fenced": func(in *gate.Input) {
			in.Text = "## Goal\nFind out what the words in this message of the user mean.\n\n## Critical Context\n```\n" + src[9].Text + src[10].Text + "\n```"
		},
	} {
		other := in
		change(&other)
		require.True(t, gate.Judge(other).Accepted(), "%s: %v", name, gate.Judge(other).Reasons)
	}
}

func TestEchoInScriptsWithoutSpaces(t *testing.T) {
	t.Parallel()
	text := "潮汐规划在时钟调整的夜里会差一个小时请查明原因并修好它昨天两艘渡轮分到了同一个泊位必须拒绝重叠的时段即使一个恰好在另一个结束时开始"
	in := input("## Goal\n" + text + "。")
	in.Source = []transcript.Block{{Role: transcript.User, Text: text}}
	require.Equal(t, []contract.Code{gate.CodeEchoesTranscript}, gate.Judge(in).Reasons)
}

// TestSizeChecksAreOffForSmallSessions: DESIGN §11.
func TestSizeChecksAreOffForSmallSessions(t *testing.T) {
	t.Parallel()
	in := gate.Input{Part: contract.PartHistory, Text: "The billing job is renamed and the cron entry moved to 03:40.", Finished: true, SourceTokens: 1999}
	require.True(t, in.Small())
	require.Equal(t, contract.VerdictAccept, gate.Judge(in).Verdict)
	in.SourceTokens = 2000
	require.False(t, in.Small())
	require.Equal(t, []contract.Code{gate.CodeSectionsMissing, gate.CodeTooThin}, gate.Judge(in).Reasons)
}

func TestReasonsComeOnceAndInOrder(t *testing.T) {
	t.Parallel()
	in := unfinished(good + "\n\n## Goal\nOnce more\n```\nopen")
	require.Equal(t, []contract.Code{gate.CodeUnfinished, gate.CodeOpenFence, gate.CodeSectionRepeated}, gate.Judge(in).Reasons)
}
