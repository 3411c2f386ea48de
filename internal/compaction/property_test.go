package compaction_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recap/internal/compaction"
	"recap/internal/session"
)

// script draws a session: turns with parallel calls, notes between calls and results, metadata,
// abandoned branches, dangling calls, and text with markers M<n>. that name each message once.
func script(t *rapid.T) (text string, marks []string) {
	var list []map[string]any
	leaf, n := "", 0
	add := func(e map[string]any) {
		if leaf != "" {
			e["parentId"] = leaf
		}
		list = append(list, e)
		leaf = e["id"].(string)
	}
	id := func() string { n++; return fmt.Sprintf("id%d", n) }
	mark := func() string {
		m := fmt.Sprintf("M%d.", n)
		marks = append(marks, m)
		return m + strings.Repeat(" wörd", rapid.IntRange(0, 40).Draw(t, "size"))
	}
	call := 0
	for range rapid.IntRange(1, 14).Draw(t, "steps") {
		switch rapid.SampledFrom([]string{"user", "says", "tools", "tools", "tools", "note", "settings", "label", "branch", "bash"}).Draw(t, "step") {
		case "user":
			add(user(id(), mark()))
		case "says":
			add(says(id(), mark()))
		case "note":
			add(entry("custom_message", id(), "customType", "note", "content", mark(), "display", true))
		case "settings":
			add(entry("model_change", id(), "provider", "p", "modelId", "m"))
		case "label":
			if leaf != "" {
				add(entry("label", id(), "targetId", leaf, "label", "here"))
			}
		case "bash":
			add(message(id(), map[string]any{"role": "bashExecution", "command": "run", "output": mark()}))
		case "branch": // an abandoned branch: entries that are not on the path
			if leaf != "" {
				list = append(list, with(user(id(), "abandoned"), "parentId", leaf))
			}
		case "tools":
			var ids []string
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				call++
				ids = append(ids, fmt.Sprint("call", call%7))
			}
			add(calls(id(), "read", "f.go", ids...))
			for _, c := range ids {
				if rapid.IntRange(0, 9).Draw(t, "between") == 0 {
					add(entry("custom", id(), "customType", "state"))
				}
				add(answers(id(), c, mark()))
			}
		}
	}
	return lines(list...), marks
}

// TestEveryMessageIsSummarisedOrKeptOverTwoCompactions compacts a random session, goes on, and
// compacts again: each message is in the summariser's input or in the kept tail, exactly once, and
// what the first compaction kept is covered by the second.
func TestEveryMessageIsSummarisedOrKeptOverTwoCompactions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, marks := script(t)
		f := parse(t, text)
		p := prepare2(t, f, rapid.IntRange(1, 300).Draw(t, "keep"))
		if p == nil {
			return
		}
		after := commit(t, text, p, "k1", "SUM-ONE", "SUM-ONE-PREFIX")
		require.True(t, strings.HasPrefix(after, text))
		c := contextOf(t, after)
		require.NoError(t, validatePairs(session.ToModel(c.Messages)))
		kept := texts(session.ToModel(c.Messages))
		for _, m := range marks {
			require.Equalf(t, 1, strings.Count(sent(p), m)+strings.Count(kept, m), "%s\n%s\n---\n%s", m, sent(p), kept)
		}

		more := after + mustLine(with(user("z1", "M9001. go on"), "parentId", "k1")) + mustLine(with(says("z2", "M9002. done"), "parentId", "z1"))
		f = parse(t, more)
		q := prepare2(t, f, rapid.IntRange(1, 300).Draw(t, "keep again"))
		if q == nil {
			return
		}
		last := texts(session.ToModel(contextOf(t, commit(t, more, q, "k2", "SUM-TWO", "SUM-TWO-PREFIX")).Messages))
		for _, m := range append(marks, "M9001.", "M9002.") {
			first := strings.Count(sent(p), m)
			require.Equalf(t, 1, first+strings.Count(sent(q), m)+strings.Count(last, m), m)
		}
		require.Equal(t, 1, strings.Count(sent(q), assembled(p, "SUM-ONE", "SUM-ONE-PREFIX")), "the previous summary goes in once")
		require.NotContains(t, last, "SUM-ONE")
	})
}

// prepare2 is prepare for sessions that may also have no message at all.
func prepare2(t *rapid.T, f *session.File, keep int) *compaction.Prepared {
	p, err := compaction.Prepare(input(f, keep))
	if err != nil {
		var skip *compaction.Skip
		require.ErrorAs(t, err, &skip)
		return nil
	}
	require.GreaterOrEqual(t, p.Plan.KeptTokens, 0)
	require.GreaterOrEqual(t, p.Plan.SourceTokens, 0)
	return p
}

func mustLine(e map[string]any) string {
	raw, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(raw) + "\n"
}
