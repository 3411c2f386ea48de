package labelled

import (
	"fmt"
	"regexp"
	"strings"

	"recap/internal/compaction/gate/outline"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
	"recap/internal/eval/control"
	"recap/internal/eval/probe"
)

// style is a way to write a good summary that a strict reader could take offence at.
type style struct {
	name   string
	on     int
	change func(*Case) *Case
	write  func(*Case) string
}

var styles = []style{
	{name: "plain", write: func(c *Case) string { return c.notes().String() }},
	{name: "update", on: onUpdate, write: func(c *Case) string { return c.notes().String() }},
	{name: "turn-prefix", on: onPrefix, write: func(c *Case) string { return c.notes().String() }},
	{name: "terse", write: terse},
	{name: "extra-sections", write: func(c *Case) string {
		return c.notes().String() + "\n\n## Environment\n- " + c.Session.Narrative()[1] + "\n\n## Open Risks\n- " + c.Session.Narrative()[0]
	}},
	{name: "localised-headings", write: localised},
	{name: "code-heavy", write: codeHeavy},
	{name: "short-session", change: short, write: func(c *Case) string {
		return "## Goal\n" + c.Session.Narrative()[0] + "\n\n## Critical Context\n- “" + lastAsk(c) + "”"
	}},
	{name: "fenced", write: func(c *Case) string { return "```markdown\n" + c.notes().String() + "\n```" }},
	{name: "wrapped", write: func(c *Case) string { return "<summary>\n" + c.notes().String() + "\n</summary>" }},
	{name: "preamble", write: func(c *Case) string { return preambles[c.Session.Language] + "\n\n" + c.notes().String() }},
	{name: "leaked-thinking", write: func(c *Case) string {
		return "<think>\nThe user wants notes. I should keep every path.\n</think>\n\n" + c.notes().String()
	}},
	{name: "quoted-refusal", write: func(c *Case) string {
		n := c.notes()
		n.Add(n.Sections()[0], "`I'm sorry, but I can't help with that.` "+c.Session.Narrative()[2])
		return n.String()
	}},
	{name: "none-sections", write: func(c *Case) string {
		n := c.notes()
		for _, h := range n.Sections() {
			if len(n.Lines(h)) == 0 && h != outline.Progress {
				n.Add(h, "(none)")
			}
		}
		return n.String()
	}},
	{name: "other-bullets", write: func(c *Case) string {
		text := strings.ReplaceAll(c.notes().String(), "\n- ", "\n* ")
		return strings.ReplaceAll(text, "## Constraints & Preferences", "## **Constraints and Preferences**:")
	}},
	{name: "line-suffixes", write: func(c *Case) string {
		n := c.notes()
		for _, f := range c.Session.Facts {
			if f.Probe.Class == probe.Path {
				n.Replace("`"+f.Needle+"`", "`/srv/dev/harbor/"+f.Needle+":42`")
			}
		}
		return n.String()
	}},
	{name: "hex-case", write: func(c *Case) string {
		n := c.notes()
		for _, f := range c.Session.Facts {
			if f.Probe.ID == "commit" {
				n.Replace(f.Needle, strings.ToUpper(f.Needle))
			}
		}
		return n.String()
	}},
	{name: "thousands", write: func(c *Case) string {
		n := c.notes()
		for _, f := range c.Session.Facts {
			if f.Probe.ID == "timeout" && len(f.Needle) > 3 {
				n.Replace(f.Needle, f.Needle[:1]+","+f.Needle[1:])
			}
		}
		return n.String()
	}},
	{name: "table", write: func(c *Case) string {
		var b strings.Builder
		b.WriteString(c.notes().String() + "\n\n## Additional Notes\n| | |\n|---|---|\n")
		for _, f := range control.Reached(c.Session, c.Request) {
			if f.Probe.Class == probe.Path {
				fmt.Fprintf(&b, "| `%s` | %s |\n", f.Needle, f.Probe.ID)
			}
		}
		return strings.TrimSpace(b.String())
	}},
	{name: "verbatim-request", write: func(c *Case) string {
		n := c.notes()
		n.Add(outline.Constraints, "“"+clip(c.Session.First, 300)+"”")
		return n.String()
	}},
	{name: "crlf", write: func(c *Case) string { return strings.ReplaceAll(c.notes().String(), "\n", "\r\n") }},
	{name: "quoted-markup", write: func(c *Case) string {
		return c.notes().String() + "\n\n## Additional Notes\n```\n<tool_call>{\"name\": \"bash\"}</tool_call>\n```"
	}},
	{name: "no-narrative-items", write: func(c *Case) string {
		n := c.notes()
		n.Drop(c.Session.Narrative()[2])
		n.Drop(c.Session.Narrative()[1])
		return n.String()
	}},
	{name: "masked-secret", write: func(c *Case) string {
		n := c.notes()
		n.Add(outline.CriticalContext, "`API_KEY=[redacted]`, `$GIT_TOKEN`")
		return n.String()
	}},
	{name: "double-spaced", write: func(c *Case) string { return strings.ReplaceAll(c.notes().String(), "\n", "\n\n") }},
}

// terse is facts only.
func terse(c *Case) string {
	n := c.notes()
	for _, l := range c.Session.Narrative()[1:] {
		n.Drop(l)
	}
	return n.String()
}

// codeHeavy adds a piece of code from the conversation.
func codeHeavy(c *Case) string {
	for _, b := range c.Request.Conversation {
		if b.Role == transcript.ToolResult && strings.HasPrefix(b.Text, "package ") && len(b.Text) > 200 {
			code := clip(b.Text, 400)
			return c.notes().String() + "\n\n## Additional Notes\n```go\n" + code + "\n```"
		}
	}
	return c.notes().String()
}

// shortTokens is about how long a short session is: under the size from which sizes are compared.
const shortTokens = 900

// short is the beginning of the conversation, up to an answer of the agent.
func short(c *Case) *Case {
	end, size := 1, 0
	for i, b := range c.Request.Conversation {
		size += len(b.Text) / 4
		if size > shortTokens {
			break
		}
		end = i + 1
	}
	return c.with(c.Request.Conversation[:end])
}

func lastAsk(c *Case) string {
	for i := len(c.Request.Conversation) - 1; i >= 0; i-- {
		if b := &c.Request.Conversation[i]; b.Role == transcript.User {
			return clip(b.Text, 400)
		}
	}
	return ""
}

// clip is the beginning of a text on its own lines, cut between characters.
func clip(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return strings.TrimSpace(s)
}

var preambles = map[string]string{
	"en": "Here is the summary:", "pt": "Segue o resumo:", "ja": "以下は要約です：", "zh": "以下是摘要：",
	"ar": "فيما يلي الملخص:", "ru": "Вот краткое изложение:",
}

// headings are the sections' titles as models translate them.
var headings = map[string]map[outline.Heading]string{
	"pt": {
		outline.Goal: "Objetivo", outline.Constraints: "Restrições e preferências", outline.Progress: "Progresso", outline.Done: "Concluído",
		outline.InProgress: "Em andamento", outline.Blocked: "Bloqueado", outline.KeyDecisions: "Decisões principais",
		outline.NextSteps: "Próximos passos", outline.CriticalContext: "Contexto crítico", outline.AdditionalNotes: "Notas adicionais",
	},
	"ja": {
		outline.Goal: "目標", outline.Constraints: "制約と好み", outline.Progress: "進捗", outline.Done: "完了", outline.InProgress: "進行中",
		outline.Blocked: "ブロック中", outline.KeyDecisions: "主な決定", outline.NextSteps: "次のステップ",
		outline.CriticalContext: "重要な文脈", outline.AdditionalNotes: "補足",
	},
	"zh": {
		outline.Goal: "目标", outline.Constraints: "约束与偏好", outline.Progress: "进展", outline.Done: "已完成", outline.InProgress: "进行中",
		outline.Blocked: "受阻", outline.KeyDecisions: "关键决定", outline.NextSteps: "下一步",
		outline.CriticalContext: "关键信息", outline.AdditionalNotes: "补充说明",
	},
	"ar": {
		outline.Goal: "الهدف", outline.Constraints: "القيود والتفضيلات", outline.Progress: "التقدم", outline.Done: "منجز",
		outline.InProgress: "قيد التنفيذ", outline.Blocked: "متوقف", outline.KeyDecisions: "القرارات الرئيسية",
		outline.NextSteps: "الخطوات التالية", outline.CriticalContext: "سياق مهم", outline.AdditionalNotes: "ملاحظات",
	},
	"ru": {
		outline.Goal: "Цель", outline.Constraints: "Ограничения и предпочтения", outline.Progress: "Ход работы", outline.Done: "Сделано",
		outline.InProgress: "В работе", outline.Blocked: "Заблокировано", outline.KeyDecisions: "Ключевые решения",
		outline.NextSteps: "Дальнейшие шаги", outline.CriticalContext: "Важный контекст", outline.AdditionalNotes: "Примечания",
	},
}

// localised writes the headings in the session's language.
func localised(c *Case) string {
	n := c.notes()
	list := headings[c.Session.Language]
	return n.Render(func(h outline.Heading) string {
		if title, ok := list[h]; ok {
			h.Title = title
		}
		return h.String()
	})
}

var listItem = regexp.MustCompile(`(?m)^(?:- (?:\[[x ]\] )?|\d+\. )`)

// flat is the notes as prose without headings.
func flat(c *Case) string {
	var lines []string
	for l := range strings.SplitSeq(c.notes().String(), "\n") {
		if l != "" && !strings.HasPrefix(l, "#") {
			lines = append(lines, listItem.ReplaceAllString(l, ""))
		}
	}
	return strings.Join(lines, " ")
}

// prefix reports whether a case is about the beginning of a turn.
func (c *Case) prefix() bool { return c.Request.Part == contract.PartTurnPrefix }
