package session

import (
	"strconv"
	"strings"
)

// Words before a summary in the context. They must not read as an order: the summary was written by
// a model.
const (
	compactionLead = "Earlier parts of this conversation were replaced by the summary below, which a model wrote. " +
		"Take it as what has happened so far, continue from it, and do not repeat finished work."
	branchLead = "The conversation returned from another branch. What happened there, in short:"
	prunedText = "[Output truncated]"
)

// ToModel turns messages of a context into those a provider is sent: roles user, developer,
// assistant and toolResult only (spec/summary §1.8, DESIGN §11). Messages that say nothing are
// dropped; the input is not changed.
func ToModel(messages []Message) []Message {
	out := make([]Message, 0, len(messages))
	for i := range messages {
		out = appendForModel(out, messages[i])
	}
	return out
}

func appendForModel(out []Message, m Message) []Message {
	switch m.Role {
	case RoleUser:
		return append(out, attributed(m, "user"))
	case RoleDeveloper:
		return append(out, attributed(m, "agent"))
	case RoleAssistant:
		if len(m.Content) == 0 {
			return out // a reply that failed before its first word
		}
		return append(out, m)
	case RoleToolResult:
		if m.PrunedAt != 0 {
			kept := m.Text("")
			if kept == "" {
				kept = prunedText
			}
			m.Content = textBlock(kept)
		}
		return append(out, attributed(m, "agent"))
	case RoleCompactionSummary:
		content := textBlock(compactionLead + "\n\n<summary>\n" + StripSummaryTags(m.Summary) + "\n</summary>")
		for _, b := range m.Content {
			if b.Type == BlockText {
				b.Text = StripSummaryTags(b.Text)
			}
			content = append(content, b)
		}
		made := made(m, RoleUser, content)
		made.Attribution, made.ProviderPayload = "agent", m.ProviderPayload
		return append(out, made)
	case RoleBranchSummary:
		made := made(m, RoleDeveloper, textBlock(branchLead+"\n\n"+StripSummaryTags(m.Summary)))
		made.Attribution = "agent"
		return append(out, made)
	case RoleCustom, RoleHookMessage:
		return appendCustom(out, m)
	case RoleBashExecution, RolePythonExecution:
		if m.ExcludeFromContext {
			return out
		}
		return append(out, attributed(made(m, RoleUser, textBlock(executionText(&m))), "user"))
	case RoleFileMention:
		return appendFiles(out, m)
	}
	return out
}

// appendCustom renders what an extension put in: for the model it comes from the developer, except a
// skill that the user called. Developer messages hold no images, so those follow as a user message.
func appendCustom(out []Message, m Message) []Message {
	if len(m.Content) == 0 || m.CustomType == OutcomeRecord {
		return out
	}
	if m.CustomType == "skill-prompt" {
		return append(out, made(m, RoleUser, m.Content))
	}
	var words, images []Block
	for _, b := range m.Content {
		if b.Type == BlockImage {
			images = append(images, b)
		} else {
			words = append(words, b)
		}
	}
	if len(words) > 0 {
		out = append(out, made(m, RoleDeveloper, words))
	}
	if len(images) > 0 {
		out = append(out, made(m, RoleUser, images))
	}
	return out
}

func appendFiles(out []Message, m Message) []Message {
	var words strings.Builder
	var images []Block
	for _, f := range m.Files {
		if f.Image {
			images = append(images, Block{Type: BlockImage, MimeType: f.MimeType, DataLen: f.DataLen})
			continue
		}
		if words.Len() > 0 {
			words.WriteByte('\n')
		}
		words.WriteString(`<file path="` + strings.ReplaceAll(f.Path, `"`, "&quot;") + "\">\n" + f.Content + "\n</file>")
	}
	if words.Len() > 0 {
		out = append(out, attributed(made(m, RoleDeveloper, textBlock(words.String())), "agent"))
	}
	if len(images) > 0 {
		out = append(out, attributed(made(m, RoleUser, images), "user"))
	}
	return out
}

// executionText renders a command the user ran, or code, with what came of it. Fences are longer
// than any run of backticks inside.
func executionText(m *Message) string {
	var t strings.Builder
	if m.Role == RolePythonExecution {
		fence := fenceFor(m.Command, 3)
		t.WriteString("Python run by the user:\n" + fence + "python\n" + m.Command + "\n" + fence + "\n")
	} else {
		fence, pad := fenceFor(m.Command, 1), ""
		if strings.HasPrefix(m.Command, "`") || strings.HasSuffix(m.Command, "`") {
			pad = " "
		}
		t.WriteString("Command run by the user: " + fence + pad + m.Command + pad + fence + "\n")
	}
	if m.Output == "" {
		t.WriteString("(no output)")
	} else {
		fence := fenceFor(m.Output, 3)
		t.WriteString(fence + "\n" + strings.TrimSuffix(m.Output, "\n") + "\n" + fence)
	}
	switch {
	case m.Cancelled:
		t.WriteString("\n(cancelled)")
	case m.ExitCode != nil && *m.ExitCode != 0:
		t.WriteString("\n(exit code " + strconv.Itoa(*m.ExitCode) + ")")
	}
	switch {
	case m.Truncated && m.FullOutputPath != "":
		t.WriteString("\n(output truncated; all of it is in " + m.FullOutputPath + ")")
	case m.Truncated:
		t.WriteString("\n(output truncated)")
	}
	return t.String()
}

// fenceFor returns a run of at least n backticks that s does not contain.
func fenceFor(s string, n int) string {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(n, longest+1))
}

func textBlock(s string) []Block { return []Block{{Type: BlockText, Text: s}} }

// made is a message for the model that stands for m.
func made(m Message, role string, content []Block) Message {
	return Message{EntryID: m.EntryID, Role: role, Content: content, Attribution: m.Attribution, Timestamp: m.Timestamp}
}

func attributed(m Message, who string) Message {
	if m.Attribution == "" {
		m.Attribution = who
	}
	return m
}
