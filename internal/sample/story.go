package sample

import (
	"fmt"
	"slices"
	"strings"
)

// run tells the story: turn after turn until the file is long enough, then one last question.
func (g *generator) run() {
	h := header{Type: "session", Version: g.o.Version, ID: g.o.SessionID, Timestamp: g.tick(1), Cwd: g.o.Cwd}
	if g.v1() {
		h.Version, h.Provider, h.ModelID = 0, g.provider, g.model
	}
	g.write(h)
	g.settings()

	planted, compacted := 0, 0
	for turn := 0; g.err == nil; turn++ {
		done := g.progress()
		if compacted < g.o.Compactions && done >= float64(compacted+1)/float64(g.o.Compactions+1) && turn > 1 {
			g.compact()
			compacted++
		}
		if done >= 1 && planted == len(g.o.Facts) && compacted == g.o.Compactions {
			break
		}
		var fact string
		if planted < len(g.o.Facts) && (done >= 1 || done >= (float64(planted)+0.5)/float64(len(g.o.Facts)+1)) {
			fact = g.o.Facts[planted]
			planted++
		}
		g.turn(turn, fact)
		g.between(turn)
	}
	g.user(g.p.question)
	g.story.Turns--
	g.story.Question = g.p.question
}

// progress is how much of the file is written, from 0 to 1 and beyond.
func (g *generator) progress() float64 {
	done := float64(g.story.Entries+1) / float64(g.o.Entries)
	if g.o.Bytes > 0 {
		done = min(done, float64(g.n)/float64(g.o.Bytes))
	}
	return done
}

func (g *generator) settings() {
	g.write(modelChangeEntry{g.base("model_change", 1), g.provider, g.model})
	g.write(thinkingLevelEntry{g.base("thinking_level_change", 1), "medium"})
}

// turn is one request and the work on it.
func (g *generator) turn(n int, fact string) {
	e := &episodes[n%len(episodes)]
	request := g.p.requests[n%len(episodes)]
	if n%3 == 1 {
		request += " " + g.p.rules[(n/3)%len(g.p.rules)]
	}
	if round := n / len(episodes); round > 0 {
		request += fmt.Sprintf(" (#%d)", 100+n)
	}
	if fact != "" {
		request += "\n\n" + fact
	}
	b := g.user(request)
	if fact != "" {
		g.story.Facts = append(g.story.Facts, Fact{Text: fact, Entry: g.story.Entries, ID: b.ID})
	}

	g.step(fmt.Sprintf(pick(g.r, g.p.thoughts), e.symbol), fmt.Sprintf(pick(g.r, g.p.look), e.path()),
		g.readCall(e.path(), goFile(g.r, e, 6+g.r.IntN(14))),
		call{tool: "grep", args: grepArgs{e.symbol, "internal"}, output: grepOutput(g.r, e, 3+g.r.IntN(12))})
	g.trouble(n, e)
	test := fmt.Sprintf("go test ./internal/%s -run %s -v", e.pkg, e.test)
	g.step("", "", bashCall(test, testFailure(g.r, e), true))
	g.detour(n, e)
	g.step(fmt.Sprintf(pick(g.r, g.p.thoughts), e.symbol), fmt.Sprintf(pick(g.r, g.p.failing), e.test)+" "+fmt.Sprintf(pick(g.r, g.p.fix), e.symbol),
		g.editCall(e.path(), e.before, e.after, diff(e)))
	for range g.r.IntN(3) {
		g.step("", "", bashCall(test, testFailure(g.r, e), true))
		g.step("", pick(g.r, g.p.again),
			g.editCall(e.path(), e.after, e.after+fmt.Sprintf(" // case %d", 2+g.r.IntN(7)), diff(e)))
	}
	g.step("", "", bashCall(test, testSuccess(g.r, e), false), g.editCall(e.testPath(), "\t}\n}", "\t}\n\t// the boundary itself\n}", "Edited "+e.testPath()))
	g.step("", "", bashCall("go test ./... 2>&1 | tail -n 20", g.suite(), false))
	if n%4 == 1 {
		g.step("", "", bashCall("git status && git diff --stat", gitStatus(e, "fix/harbor"), false))
	}
	done := fmt.Sprintf(pick(g.r, g.p.done), e.symbol, e.path())
	if n%2 == 0 {
		done += " " + g.p.decisions[(n/2)%len(g.p.decisions)]
	}
	g.step("", done)
}

func (g *generator) suite() string {
	var b strings.Builder
	for i := range episodes {
		b.WriteString(testSuccess(g.r, &episodes[i]))
	}
	return b.String()
}

// trouble breaks a turn the way real ones break: an overloaded provider, an impatient user.
func (g *generator) trouble(n int, e *episode) {
	switch n % 7 {
	case 2:
		g.reply(nil, 0, "error", `529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	case 5:
		begun := []rune(fmt.Sprintf(pick(g.r, g.p.fix), e.symbol))
		g.reply([]any{textBlock{"text", string(begun[:2*len(begun)/3])}}, 0, "aborted", "Request was aborted")
		g.user(g.p.goOn)
		g.story.Turns--
	}
}

// detour is what only some turns have.
func (g *generator) detour(n int, e *episode) {
	switch n % 6 {
	case 0:
		g.step("", "", bashCall(e.command, logOutput(g.r, 20+g.r.IntN(60)), false),
			g.readCall("testdata/"+e.pkg+".json", jsonOutput(g.r, 10+g.r.IntN(40))))
	case 1:
		g.step("", "", bashCall(e.command, stackTrace(g.r, e), true))
	case 2:
		g.step("", "", call{tool: "read", args: pathArg{"docs/dashboard.png"}, output: "Read image file [image/png]", image: true})
	case 3:
		g.step("", "", g.writeCall("docs/"+e.pkg+".md", "# "+title(e.pkg)+"\n\nHow `"+e.symbol+"` decides, and why.\n\n## Goal\n\nOne rule, one test.\n"))
	case 4:
		g.step("", "", bashCall(e.command, jsonOutput(g.r, 8+g.r.IntN(30)), false))
	case 5:
		path := "internal/" + e.pkg + "/missing.go"
		g.step("", "", call{tool: "read", args: pathArg{path}, output: "ENOENT: no such file or directory, open '" + path + "'", failed: true})
	}
}

// between writes what stands between turns. All of it but the settings needs the tree of version 3.
func (g *generator) between(n int) {
	switch n % 9 {
	case 1:
		g.write(thinkingLevelEntry{g.base("thinking_level_change", 5), pick(g.r, []string{"low", "medium", "high"})})
	case 4:
		if g.provider = "openai"; g.model == "demo-large-4" {
			g.model = "demo-coder-2"
		}
		g.thinking = false
		g.write(modelChangeEntry{g.base("model_change", 5), g.provider, g.model})
	case 6:
		g.provider, g.model, g.thinking = "anthropic", "demo-large-4", true
		g.write(modelChangeEntry{g.base("model_change", 5), g.provider, g.model})
	}
	if n%5 == 3 {
		b := g.base("message", 30)
		out := "4c1d2e0 berth: refuse touching slots\n9a77b31 tide: keep the planner in UTC\n03fe5aa roster: keep the file's order\n"
		g.write(messageEntry{b, bashMessage{"bashExecution", "git log --oneline -3", out, 0, false, false, g.millis()}})
		g.context += tokens(out)
	}
	if g.v1() {
		return
	}
	switch n {
	case 0:
		g.write(sessionInfoEntry{g.base("session_info", 2), "Harbour scheduler: planner bugs"})
		g.write(customEntry{g.base("custom", 2), "plan-mode", map[string]any{"enabled": false, "steps": 3}})
	case 2:
		if !g.o.Linear {
			g.branch()
		}
	case 3:
		g.write(customMessageEntry{g.base("custom_message", 9), "ci-status", g.p.note, true})
		g.context += tokens(g.p.note)
	}
}

// branch tells a piece of the story that was given up: a request, some work, and back to where it
// began, with a summary of it.
func (g *generator) branch() {
	fork, context, cached, modified := g.leaf, g.context, g.cached, slices.Clone(g.modified)
	g.aside = true
	g.user(g.p.aside)
	g.story.Turns--
	e := &episodes[1]
	for _, c := range []call{
		g.writeCall("internal/berth/queue.go", goFile(g.r, e, 3)),
		bashCall("go test ./internal/berth -bench Queue", "BenchmarkQueueCancel-8   \t    1204\t    981223 ns/op\nok  \tharbor/internal/berth\t2.113s\n", false),
	} {
		g.step("", "", c)
	}
	g.step("", g.p.asideDone)
	g.aside = false
	g.leaf, g.context, g.cached, g.modified = fork, context, cached, modified
	b := g.base("branch_summary", 20)
	g.write(branchSummaryEntry{
		b, fork, g.p.abandoned,
		&fileSets{ReadFiles: []string{}, ModifiedFiles: []string{"internal/berth/queue.go"}}, false,
	})
	g.context += tokens(g.p.abandoned)
	g.write(labelEntry{g.base("label", 3), fork, "before the queue experiment"})
}

// compact writes a compaction that keeps the last turn.
func (g *generator) compact() {
	before := g.context
	b := g.base("compaction", 60)
	c := compactionEntry{base: b, Summary: g.summary(), TokensBefore: before}
	if g.v1() {
		c.FirstKeptIndex = g.turnEntry // the header is number 0
	} else {
		c.FirstKeptEntryID = g.turnID
		c.Details = &fileSets{ReadFiles: without(g.read, g.modified), ModifiedFiles: append([]string{}, g.modified...)}
		g.story.Compactions = append(g.story.Compactions, b.ID)
	}
	g.write(c)
	g.context = systemTokens + tokens(c.Summary) + before - g.turnContext
	g.cached = systemTokens
}

func without(list, drop []string) []string {
	out := []string{}
	for _, p := range list {
		if !slices.Contains(drop, p) {
			out = append(out, p)
		}
	}
	return out
}

// summary is what a summariser could have written at this point.
func (g *generator) summary() string {
	var done strings.Builder
	for i := range min(g.story.Turns, len(episodes)) {
		e := &episodes[i]
		fmt.Fprintf(&done, "- [x] `%s` in `%s` fixed, covered by `%s`\n", e.symbol, e.path(), e.test)
	}
	return fmt.Sprintf("## Goal\n%s\n\n## Constraints & Preferences\n- %s\n- %s\n\n## Progress\n### Done\n%s### In Progress\n- [ ] none\n\n"+
		"## Key Decisions\n- **UTC inside**: %s\n\n## Next Steps\n1. Wait for the next request.\n\n## Critical Context\n- Branch `fix/harbor`, two commits ahead of origin; nothing else uncommitted.\n",
		g.story.First, g.p.rules[0], g.p.rules[1], done.String(), g.p.decisions[0])
}
