package reduce_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/reduce"
	"recap/internal/compaction/reduce/artifact"
	"recap/internal/session"
)

func shake(t failer, s *script, r reduce.ShakeRules) reduce.Pass {
	t.Helper()
	return must(t)(s.tail(t).Shake(r))
}

func TestSHK01WholeResultsAreBlanked(t *testing.T) {
	t.Parallel()
	s := newScript()
	old := s.tool("bash", object{}, words(5000))
	s.tool("skill", object{}, words(5000))
	s.read("skill://x", words(5000))
	s.tool("bash", object{}, words(5000), object{"prunedAt": 3})
	s.tool("bash", object{}, "")
	s.tool("bash", object{}, "ok")
	recent := s.tool("bash", object{}, words(16_000))

	all := shake(t, s, reduce.AggressiveShakeRules())
	require.Equal(t, map[string]string{old: "[shaken ~5000 tokens]", recent: "[shaken ~16000 tokens]"}, decided(all))
	require.Equal(t, 21_000-12, all.Freed())

	gentle := shake(t, s, reduce.DefaultShakeRules())
	require.Equal(t, map[string]string{old: "[shaken ~5000 tokens]"}, decided(gentle))

	gate := reduce.DefaultShakeRules()
	gate.MinSavings = 4984
	require.Len(t, shake(t, s, gate).Decisions, 1)
	gate.MinSavings++
	require.Empty(t, shake(t, s, gate).Decisions)
	require.Empty(t, shake(t, s, gate).Document())

	after, err := s.tail(t).After(all)
	require.NoError(t, err)
	require.Equal(t, "[shaken ~5000 tokens]", after.Items[1].Message.Text(""))
	require.NotZero(t, after.Items[1].Message.PrunedAt)
}

func TestSHK02BlocksAreSplicedOut(t *testing.T) {
	t.Parallel()
	code, xml := "```go\n"+words(500)+"\n```", "<file name=\"a\">\n"+words(450)+"\n</file>"
	s := newScript()
	both := s.user("before\n" + code + "\nbetween\n" + xml + "\nafter")
	s.user("small\n```\nx\n```\n")
	s.user("open\n```\n" + words(500))
	s.user("open\n<file>\n" + words(500))
	s.calls("id", "write", object{"content": code})
	p := shake(t, s, reduce.AggressiveShakeRules())
	require.Len(t, p.Decisions, 1)
	require.Equal(t, both, p.Decisions[0].EntryID)
	after, err := s.tail(t).After(p)
	require.NoError(t, err)
	require.Equal(t, "before\n[shaken ~503 tokens]\nbetween\n[shaken ~456 tokens]\nafter", after.Items[0].Message.Text(""))
	require.Equal(t, "### region 1 (user code, ~503 tok)\n\n"+code+"\n\n### region 2 (user file, ~456 tok)\n\n"+xml+"\n\n", p.Document())
}

func TestSHK03UselessResultsBypassTheWindow(t *testing.T) {
	t.Parallel()
	s := newScript()
	useless := s.tool("grep", object{}, words(5000), object{"useless": true})
	s.tool("grep", object{}, words(5000), object{"useless": true, "isError": true})
	require.Equal(t, map[string]string{useless: "[shaken ~5000 tokens]"}, decided(shake(t, s, reduce.DefaultShakeRules())))
}

func TestSHK04TextsOfEveryForm(t *testing.T) {
	t.Parallel()
	code := "```\n" + words(500) + "\n```"
	s := newScript()
	var ids []string
	for _, content := range []any{code, []any{text("look"), text(code)}} {
		for _, role := range []string{"user", "developer"} {
			ids = append(ids, s.message(object{"role": role, "content": content}))
		}
		ids = append(ids, s.entry("custom_message", object{"customType": "note", "content": content, "display": true}))
	}
	ids = append(ids, s.says(code))
	signed := text(code)
	signed["textSignature"] = "c2ln"
	s.message(object{"role": "assistant", "content": []any{signed}})
	s.entry("branch_summary", object{"fromId": "root", "summary": code})
	p := shake(t, s, reduce.AggressiveShakeRules())
	require.Len(t, p.Decisions, len(ids))
	for i, d := range p.Decisions {
		require.Equal(t, ids[i], d.EntryID)
	}
}

func TestSHK05Dedup(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.user("old")
	s.tool("bash", object{"command": "ls"}, long) // before the boundary
	keep := s.user("new")
	s.compacted(keep)
	first := s.tool("bash", object{"command": "ls", "timeout": 1}, long)
	second := s.tool("bash", object{"timeout": 1, "command": "ls"}, long)
	s.tool("bash", object{"command": "ls", "timeout": 1}, long)
	s.tool("bash", object{"command": "ls -a"}, long)
	s.tool("bash", object{"command": "ls", "timeout": 1}, long+"more")
	s.tool("zsh", object{"command": "ls", "timeout": 1}, long)
	for range 2 {
		s.tool("bash", object{"command": "e"}, long+"e", object{"isError": true})
		s.tool("bash", object{"command": "p"}, long+"p", object{"prunedAt": 1})
		s.tool("bash", object{"command": "n"}, "")
		s.tool("skill", object{}, long)
		s.read("skill://x", long)
	}
	orphan := s.answers("gone-1", "ps", long)
	s.answers("gone-2", "ps", long)
	p := must(t)(s.tail(t).Dedup())
	notice := "[shaken ~150 tokens]"
	require.Equal(t, map[string]string{first: notice, second: notice, orphan: notice}, decided(p))
	require.Contains(t, p.Document(), "### region 1 (bash, ~150 tok)\n\n"+long+"\n\n")

	// Large numbers that differ in their last digit are different arguments.
	n := newScript()
	n.tool("bash", object{"n": uint64(9007199254740993)}, long)
	n.tool("bash", object{"n": uint64(9007199254740992)}, long)
	require.Empty(t, must(t)(n.tail(t).Dedup()).Decisions)
}

func TestSHK06MarkersPointToTheArtifact(t *testing.T) {
	t.Parallel()
	s := newScript()
	id := s.message(object{"role": "toolResult", "toolCallId": "x", "toolName": "shot", "isError": false, "content": []any{
		text(words(500)), image(), text(words(100)),
	}})
	tail := s.tail(t)
	p := must(t)(tail.Shake(reduce.AggressiveShakeRules()))
	require.Equal(t, artifact.Shake, p.ArtifactKind)
	pointed := reduce.Point(p.Decisions, "7")
	require.Equal(t, "[shaken ~600 tokens; recover: artifact://7 (region 1)]", pointed[0].Edits[0].Text)
	require.Equal(t, "[shaken ~600 tokens]", p.Decisions[0].Edits[0].Text, "the pass itself does not change")
	require.Equal(t, p.Freed()-9, pointed[0].Freed)

	// The image of a shaken result stays.
	after, err := tail.After(reduce.Pass{Decisions: pointed})
	require.NoError(t, err)
	m := after.Items[0].Message
	require.Equal(t, id, m.EntryID)
	require.Len(t, m.Content, 2)
	require.Equal(t, pointed[0].Edits[0].Text, m.Content[0].Text)
	require.Equal(t, session.BlockImage, m.Content[1].Type)

	empty := newScript()
	none := shake(t, empty, reduce.AggressiveShakeRules())
	require.Empty(t, none.Decisions)
	require.Zero(t, none.Freed())
}

func TestAShakeCanBeFollowedByDroppingImages(t *testing.T) {
	t.Parallel()
	s := newScript()
	mixed := s.message(object{"role": "user", "content": []any{text("look"), image(), image()}})
	only := s.message(object{"role": "user", "content": []any{image()}})
	custom := s.entry("custom_message", object{"customType": "shot", "display": true, "content": []any{image()}})
	result := s.tool("shot", object{}, words(500), object{"content": []any{text(words(500)), image()}})
	files := s.message(object{"role": "fileMention", "files": []any{
		object{"path": "a.png", "content": "", "image": image()}, object{"path": "b.go", "content": "x"},
	}})
	s.says("thanks")
	tail, err := s.tail(t).After(shake(t, s, reduce.AggressiveShakeRules()))
	require.NoError(t, err)
	p := tail.DropImages()
	require.Equal(t, 6, p.Images())
	require.Len(t, p.Decisions, 5)
	require.Equal(t, 6*1200-3*4, p.Freed(), "where nothing else stood, a note stands")
	after, err := tail.After(p)
	require.NoError(t, err)
	shown := map[string]string{}
	for _, it := range after.Items {
		shown[it.Entry.ID] = it.Message.Text("|")
		for _, f := range it.Message.Files {
			require.False(t, f.Image)
			shown[it.Entry.ID] += f.Path + "=" + f.Content + ";"
		}
	}
	require.Equal(t, "look", shown[mixed])
	require.Equal(t, "[image removed]", shown[only])
	require.Equal(t, "[image removed]", shown[custom])
	require.Equal(t, "[shaken ~500 tokens]", shown[result])
	require.Equal(t, "a.png=[image removed];b.go=x;", shown[files])
}

func TestTruncateTakesTheMiddlesOfTheLargestTexts(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.user(words(1279))
	small := s.user("begin" + words(1280) + "end!")
	large := s.tool("bash", object{}, strings.Repeat("é", 10_000)) // two bytes each
	s.tool("skill", object{}, words(9000))
	output := s.message(object{"role": "bashExecution", "command": "make", "output": words(3000)})
	summary := s.entry("branch_summary", object{"fromId": "root", "summary": words(2000)})
	file := s.message(object{"role": "fileMention", "files": []any{object{"path": "a", "content": words(2500)}}})
	thinks := s.message(object{"role": "assistant", "content": []any{
		object{"type": "thinking", "thinking": words(9000), "thinkingSignature": "x"}, text("ok"),
	}})
	tail := s.tail(t)
	rules := reduce.DefaultTruncateRules()
	require.Empty(t, must(t)(tail.Truncate(rules, 0)).Decisions)

	one := must(t)(tail.Truncate(rules, 1))
	require.Equal(t, map[string]string{large: "\n[truncated ~3976 tokens]\n"}, decided(one))
	two := must(t)(tail.Truncate(rules, one.Freed()+1))
	require.Contains(t, decided(two), output)
	require.Len(t, two.Decisions, 2)
	all := must(t)(tail.Truncate(rules, 1<<30))
	require.Len(t, all.Decisions, 5)
	for _, id := range []string{small, large, output, summary, file} {
		require.Contains(t, decided(all), id)
	}
	require.NotContains(t, decided(all), thinks)

	after, err := tail.After(reduce.Pass{Decisions: reduce.Point(one.Decisions, "12")})
	require.NoError(t, err)
	got := after.Items[3].Message.Text("")
	edge := strings.Repeat("é", 1024) // 512 tokens
	require.Equal(t, edge+"\n[truncated ~3976 tokens; recover: artifact://12 (region 1)]\n"+edge, got)
	require.Zero(t, after.Items[3].Message.PrunedAt)
}

func TestWhatWasTruncatedOnceIsNotTruncatedAgain(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.user(words(40_000))
	tail := s.tail(t)
	rules := reduce.TruncateRules{MinText: 1, Edge: 40}
	for _, id := range []string{"", "0", strings.Repeat("f", 64)} {
		p := must(t)(tail.Truncate(rules, 1<<30))
		require.Len(t, p.Decisions, 1)
		if id != "" {
			p.Decisions = reduce.Point(p.Decisions, id)
		}
		after, err := tail.After(p)
		require.NoError(t, err)
		require.Empty(t, must(t)(after.Truncate(rules, 1<<30)).Decisions, id)
	}
}

func TestRulesThatMakeNoSenseDoNoHarm(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.user("")
	s.user(words(100))
	p := must(t)(s.tail(t).Truncate(reduce.TruncateRules{MinText: -1, Edge: -100}, 1<<30))
	require.Len(t, p.Decisions, 1)
	after, err := s.tail(t).After(p)
	require.NoError(t, err)
	require.Equal(t, "\n[truncated ~100 tokens]\n", after.Items[1].Message.Text(""))
}

func TestImagesOfAReplyStay(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.message(object{"role": "assistant", "content": []any{text("see"), image()}})
	require.Empty(t, s.tail(t).DropImages().Decisions)
}
