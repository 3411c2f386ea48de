package sample

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"
)

// systemTokens is what the prompt holds besides the conversation: system text and tool schemas.
const systemTokens = 6800

// generator writes one session, entry by entry.
type generator struct {
	o     Options
	w     io.Writer
	buf   bytes.Buffer // records not yet given to w
	n     int64        // bytes of all records so far
	err   error
	enc   *json.Encoder
	r     *rand.Rand
	p     *phrases
	story Story

	now      time.Time
	leaf     string
	ids      map[string]bool
	provider string
	model    string
	thinking bool
	aside    bool // entries go on a branch that will be abandoned

	context int // tokens a reply's prompt has
	cached  int // of them, how many the provider has seen

	turnID      string // the user message of the running turn
	turnEntry   int
	turnContext int // context when the turn began
	read        []string
	modified    []string
}

func newGenerator(w io.Writer, o Options) *generator {
	g := &generator{
		o: o, w: w, r: rand.New(rand.NewPCG(o.Seed, 0x68617262)), p: speak(o.Language),
		now: o.Start, ids: map[string]bool{}, provider: "anthropic", model: "demo-large-4", context: systemTokens, thinking: true,
	}
	g.enc = json.NewEncoder(&g.buf)
	g.enc.SetEscapeHTML(false)
	return g
}

func (g *generator) close() error {
	g.flush()
	g.story.Bytes = g.n
	g.story.Leaf = g.leaf
	if g.v1() {
		g.story.Leaf = ""
	}
	return g.err
}

func (g *generator) v1() bool { return g.o.Version == 1 }

// write encodes one record.
func (g *generator) write(v any) {
	if g.err != nil {
		return
	}
	before := g.buf.Len()
	g.err = g.enc.Encode(v)
	g.n += int64(g.buf.Len() - before)
	if g.buf.Len() >= 64<<10 {
		g.flush()
	}
}

// flush hands what was encoded to the writer.
func (g *generator) flush() {
	if g.err == nil {
		_, g.err = g.w.Write(g.buf.Bytes())
	}
	g.buf.Reset()
}

// tick moves the clock on by up to so many seconds.
func (g *generator) tick(seconds int) string {
	g.now = g.now.Add(time.Duration(200+g.r.IntN(1000*seconds)) * time.Millisecond)
	return g.now.UTC().Format("2006-01-02T15:04:05.000Z")
}

func (g *generator) millis() int64 { return g.now.UnixMilli() - int64(g.r.IntN(900)) }

// base makes the next entry of a type, under the leaf.
func (g *generator) base(kind string, seconds int) base {
	b := base{Type: kind, Timestamp: g.tick(seconds)}
	g.story.Entries++
	if g.v1() {
		return b
	}
	for b.ID == "" || g.ids[b.ID] {
		b.ID = fmt.Sprintf("%08x", g.r.Uint32())
	}
	g.ids[b.ID] = true
	b.ParentID = nullable{id: g.leaf, set: true}
	g.leaf = b.ID
	if g.aside {
		g.story.Abandoned = append(g.story.Abandoned, b.ID)
	}
	return b
}

// tokens is the usual estimate of a text.
func tokens(s string) int { return (len(s) + 3) / 4 }

func (g *generator) user(text string) base {
	b := g.base("message", 240)
	g.turnID, g.turnEntry, g.turnContext = b.ID, g.story.Entries, g.context
	content := any([]any{textBlock{"text", text}})
	if g.r.IntN(5) == 0 {
		content = text
	}
	g.write(messageEntry{b, userMessage{"user", content, g.millis()}})
	g.context += tokens(text)
	if g.story.First == "" {
		g.story.First = text
	}
	g.story.Turns++
	return b
}

// call is one tool call with the result it will get.
type call struct {
	tool   string
	args   any
	output string
	failed bool
	image  bool
}

type pathArg struct {
	Path string `json:"path"`
}

type editArgs struct {
	Path    string `json:"path"`
	OldText string `json:"oldText"`
	NewText string `json:"newText"`
}

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type bashArgs struct {
	Command string `json:"command"`
}

type grepArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

func (g *generator) readCall(path, output string) call {
	g.read = touch(g.read, path)
	return call{tool: "read", args: pathArg{path}, output: output}
}

func (g *generator) editCall(path, before, after, output string) call {
	g.modified = touch(g.modified, path)
	return call{tool: "edit", args: editArgs{path, before, after}, output: output}
}

func (g *generator) writeCall(path, content string) call {
	g.modified = touch(g.modified, path)
	return call{tool: "write", args: writeArgs{path, content}, output: fmt.Sprintf("Wrote %d bytes to %s", len(content), path)}
}

func bashCall(command, output string, failed bool) call {
	return call{tool: "bash", args: bashArgs{command}, output: output, failed: failed}
}

func touch(list []string, path string) []string {
	if slices.Contains(list, path) {
		return list
	}
	return append(list, path)
}

// step is one reply of the agent with the results of its calls. A reply that thinks has a signed
// thinking block.
func (g *generator) step(thought, text string, calls ...call) {
	var content []any
	size := 0
	if thought != "" && g.thinking {
		signature := g.signature()
		content = append(content, thinkingBlock{"thinking", thought, signature})
		size += tokens(thought) + tokens(signature)
	}
	if text != "" {
		content = append(content, textBlock{"text", text})
		size += tokens(text)
	}
	ids := make([]string, len(calls))
	for i, c := range calls {
		ids[i] = g.callID()
		content = append(content, toolCallBlock{"toolCall", ids[i], c.tool, c.args})
		size += tokens(c.tool) + argTokens(c.args)
	}
	stop := "stop"
	if len(calls) > 0 {
		stop = "toolUse"
	}
	g.reply(content, size, stop, "")
	for i, c := range calls {
		g.result(ids[i], c)
	}
}

// callID makes a tool call id as the provider of the moment does.
func (g *generator) callID() string {
	if g.provider == "openai" {
		return "call_" + g.letters(24) + "|fc_" + g.letters(40)
	}
	return "toolu_01" + g.letters(22)
}

func argTokens(args any) int {
	raw, err := json.Marshal(args)
	if err != nil {
		return 0
	}
	return (len(raw) + 3) / 4
}

// reply writes an assistant message with a usage that fits its prompt.
func (g *generator) reply(content []any, size int, stop, failure string) {
	b := g.base("message", 40)
	var u usage
	if failure == "" {
		u = usage{Input: 3 + g.r.IntN(9), Output: size, CacheRead: g.cached, CacheWrite: g.context - g.cached}
		u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
		u.Cost = price(u)
		g.cached = g.context
		g.context += size
		g.story.ContextTokens = u.TotalTokens
	}
	if content == nil {
		content = []any{}
	}
	api := "anthropic-messages"
	if g.provider == "openai" {
		api = "openai-responses"
	}
	g.write(messageEntry{b, assistantMessage{"assistant", content, api, g.provider, g.model, u, stop, failure, g.millis()}})
}

func price(u usage) cost {
	c := cost{
		Input: 3e-6 * float64(u.Input), Output: 15e-6 * float64(u.Output),
		CacheRead: 0.3e-6 * float64(u.CacheRead), CacheWrite: 3.75e-6 * float64(u.CacheWrite),
	}
	c.Total = c.Input + c.Output + c.CacheRead + c.CacheWrite
	return c
}

func (g *generator) result(id string, c call) {
	b := g.base("message", 9)
	content := []any{textBlock{"text", c.output}}
	g.context += tokens(c.output)
	if c.image {
		content = append(content, imageBlock{"image", png(g.r, 160, 90), "image/png"})
		g.context += 1200
	}
	g.write(messageEntry{b, toolResultMessage{"toolResult", id, c.tool, content, c.failed, g.millis()}})
}

func (g *generator) signature() string { return g.letters(180+g.r.IntN(160)) + "==" }

func (g *generator) letters(n int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[g.r.IntN(len(alphabet))]
	}
	return string(out)
}
