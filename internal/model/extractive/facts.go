package extractive

import (
	"strings"
	"unicode"

	"recap/internal/compaction/transcript"
)

// facts is what one pass over a conversation finds. Its size is bounded; texts are slices of the
// blocks, not copies.
type facts struct {
	tokens int // estimate of everything read
	blocks int
	users  int

	first   string       // the first request
	weighty string       // the newest request that says more than "ok"
	turns   kept[turn]   // finished turns before the last one
	last    turn         // the turn that is running when the range ends
	actions kept[action] // of the whole range, the last ones
	early   kept[action] // of the whole range, the first ones and the last ones
	replies kept[string] // assistant texts

	constraints kept[statement]
	decisions   kept[statement]
	notes       kept[string] // developer messages
	failures    []failure    // distinct ones, oldest first
	commands    []command    // distinct ones, by last use
	files       fileList
	repository  []action // the newest look at each aspect of the repository

	seen    distinct
	pending []*action // calls of the last assistant block that wait for their results
}

// turn is one request and what came of it.
type turn struct {
	request string // "" when the range starts inside a turn
	reply   string // the last thing the agent said, best one that was not the lead-in to a call
	final   bool   // reply was no lead-in
	changed []string
	calls   int
	failed  int
	// answered says that the agent's last word came after its last call.
	answered bool
}

// weighty reports whether a message says more than "ok", "go on" or "wow".
func weighty(s string) bool {
	n := 0
	for _, r := range bounded(s, 100) {
		switch {
		case r >= 0x2E80:
			n += 3
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			n++
		}
	}
	return n >= 20
}

// statement is a sentence somebody said.
type statement struct {
	user bool
	text string
}

// The bounds of facts, in items.
const (
	turnsHead, turnsTail           = 12, 48
	statementsHead, statementsTail = 24, 40
	actionsTail                    = 10
	earlyHead, earlyTail           = 20, 20
	failuresMax                    = 24
	commandsMax                    = 24
	changedMax                     = 8 // per turn
)

func read(blocks []transcript.Block) *facts {
	f := &facts{
		blocks: len(blocks), seen: distinct{},
		turns:       keep[turn](turnsHead, turnsTail),
		actions:     keep[action](0, actionsTail),
		early:       keep[action](earlyHead, earlyTail),
		replies:     keep[string](4, 8),
		constraints: keep[statement](statementsHead, statementsTail),
		decisions:   keep[statement](statementsHead/2, statementsTail/2),
		notes:       keep[string](8, 8),
	}
	for i := range blocks {
		b := &blocks[i]
		f.tokens += size(b)
		switch b.Role {
		case transcript.User:
			f.user(b)
		case transcript.Assistant:
			f.assistant(b)
		case transcript.ToolResult:
			f.result(b)
		case transcript.Developer:
			if strings.TrimSpace(b.Text) != "" {
				f.notes.add(b.Text)
			}
		}
	}
	f.flush()
	return f
}

// size estimates the tokens of a block.
func size(b *transcript.Block) int {
	n := len(b.Text)
	for _, c := range b.Calls {
		n += len(c.Name)
		for _, a := range c.Args {
			n += len(a.Key) + len(a.JSON)
		}
	}
	return (n + 3) / 4
}

func (f *facts) empty() bool {
	return f.users == 0 && f.last.reply == "" && f.last.calls == 0 && len(f.turns.head) == 0 &&
		len(f.notes.head) == 0 && len(f.commands) == 0
}

func (f *facts) user(b *transcript.Block) {
	if strings.TrimSpace(b.Text) == "" {
		return
	}
	f.flush()
	if cmd, out, ok := ownCommand(b.Text); ok {
		f.ranByUser(cmd, out)
		return
	}
	if f.users == 0 {
		f.first = b.Text
	}
	f.users++
	if weighty(b.Text) {
		f.weighty = b.Text
	}
	if f.last.request != "" || f.last.calls > 0 || f.last.reply != "" {
		f.turns.add(f.last)
	}
	f.last = turn{request: b.Text}
	f.sentences(b.Text, true)
}

func (f *facts) assistant(b *transcript.Block) {
	f.flush()
	if text := strings.TrimSpace(b.Text); text != "" {
		if final := len(b.Calls) == 0; final || !f.last.final {
			f.last.reply, f.last.final = text, final
		}
		f.last.answered = true
		f.replies.add(text)
		f.sentences(text, false)
	}
	for i := range b.Calls {
		a := newAction(&b.Calls[i])
		f.last.calls++
		f.last.answered = false
		if a.changes() {
			f.last.touch(a.path)
		}
		f.files.add(a)
		f.pending = append(f.pending, a)
	}
}

func (t *turn) touch(path string) {
	for _, p := range t.changed {
		if p == path {
			return
		}
	}
	if len(t.changed) < changedMax {
		t.changed = append(t.changed, path)
	}
}

// result gives a tool result to the oldest waiting call of that tool.
func (f *facts) result(b *transcript.Block) {
	var a *action
	for i, p := range f.pending {
		if p.tool == b.Tool || b.Tool == "" {
			a = p
			f.pending = append(f.pending[:i:i], f.pending[i+1:]...)
			break
		}
	}
	if a == nil {
		a = &action{tool: b.Tool}
	}
	a.answered, a.output = true, b.Text
	a.failed = b.Error || (a.command != "" && looksFailed(b.Text))
	if a.failed {
		f.last.failed++
	}
	f.record(a)
}

// flush records the calls whose results are not in the range.
func (f *facts) flush() {
	for _, a := range f.pending {
		f.record(a)
	}
	f.pending = f.pending[:0]
}

func (f *facts) record(a *action) {
	f.actions.add(*a)
	f.early.add(*a)
	f.noteFailure(a)
	if a.command != "" {
		f.noteCommand(a.command, a.state())
		if aspect := repositoryAspect(a.command); aspect != "" && a.answered && !a.failed {
			f.noteRepository(a)
		}
	}
}

func (f *facts) ranByUser(cmd, out string) {
	a := &action{tool: "user shell", command: cmd, output: out, answered: true, failed: looksFailed(out)}
	f.record(a)
}

func (f *facts) sentences(text string, user bool) {
	eachSentence(text, func(s string) {
		if strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") {
			return // it announces something, and the something is elsewhere
		}
		lower := strings.ToLower(s)
		if user && constraintMarks.in(lower) && !asks(s) && f.seen.first("c"+lower) {
			f.constraints.add(statement{user: true, text: s})
		}
		if decisionMarks.in(lower) && !asks(s) && f.seen.first("d"+lower) {
			f.decisions.add(statement{user: user, text: s})
		}
	})
}
