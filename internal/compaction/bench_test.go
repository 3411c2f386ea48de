package compaction_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"recap/internal/compaction"
	"recap/internal/session"
)

// bigSession is a session of n turns of about 9.5 KB in four entries, as coding agents write them:
// signed thinking, a call, a long result. With compactedAt ≥ 0 that turn is followed by a compaction.
func bigSession(n, compactedAt int) string {
	var b strings.Builder
	b.Grow(n*10_000 + 1000)
	b.WriteString(lines())
	signature := strings.Repeat("c2lnbmF0dXJl", 60)
	thinking := strings.Repeat("The parser reads a row before the lock is taken; that is the race. ", 12)
	output := strings.Repeat(`internal/store/row.go:118:\tif err := s.lock(ctx, row.ID); err != nil {\n`, 95)
	parent := "null"
	put := func(id, rest string) {
		fmt.Fprintf(&b, `{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-05-01T00:00:01.000Z","message":%s}`+"\n", id, parent, rest)
		parent = `"` + id + `"`
	}
	for i := range n {
		put(fmt.Sprintf("u%07d", i), fmt.Sprintf(`{"role":"user","content":"Question %d: where does the importer lose the second row of a batch, and why only under load?","timestamp":1}`, i))
		put(fmt.Sprintf("a%07d", i), fmt.Sprintf(`{"role":"assistant","content":[{"type":"thinking","thinking":"%s","thinkingSignature":"%s"},{"type":"text","text":"I look at the rows around the lock."},{"type":"toolCall","id":"t%d","name":"bash","arguments":{"command":"grep -rn lock internal/store","timeout":30}}],"provider":"anthropic","model":"demo","usage":{"input":1000,"output":100,"totalTokens":1100},"stopReason":"toolUse"}`, thinking, signature, i))
		put(fmt.Sprintf("r%07d", i), fmt.Sprintf(`{"role":"toolResult","toolCallId":"t%d","toolName":"bash","content":[{"type":"text","text":"%s"}],"isError":false}`, i, output))
		put(fmt.Sprintf("b%07d", i), `{"role":"assistant","content":[{"type":"text","text":"The lock is taken after the read. I move it up and run the tests again."}],"provider":"anthropic","model":"demo","usage":{"input":1100,"output":100,"totalTokens":1200},"stopReason":"stop"}`)
		if i == compactedAt {
			fmt.Fprintf(&b, `{"type":"compaction","id":"k%07d","parentId":%s,"timestamp":"2026-05-01T00:00:01.000Z","summary":"So far so good.","firstKeptEntryId":"u%07d","tokensBefore":1000}`+"\n", i, parent, i)
			parent = fmt.Sprintf(`"k%07d"`, i)
		}
	}
	return b.String()
}

// BenchmarkPrepare plans and renders a session of about 95 MB in 40,000 entries.
func BenchmarkPrepare(b *testing.B) {
	const turns = 10_000
	for _, tt := range []struct {
		name        string
		compactedAt int
	}{{"first", -1}, {"compacted-near-the-end", turns - 20}} {
		b.Run(tt.name, func(b *testing.B) {
			f, err := session.Parse([]byte(bigSession(turns, tt.compactedAt)))
			if err != nil {
				b.Fatal(err)
			}
			in := input(f, 10_000)
			in.Parallel = runtime.GOMAXPROCS(0)
			b.SetBytes(f.Log.Entries[len(f.Log.Entries)-1].Offset)
			b.ReportAllocs()
			for b.Loop() {
				p, err := compaction.Prepare(in)
				if err != nil {
					b.Fatal(err)
				}
				for _, r := range p.Requests() {
					r.UserText()
				}
			}
		})
	}
}
