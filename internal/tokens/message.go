package tokens

import (
	"encoding/json"

	"recap/internal/session"
)

// Message estimates one message by the byte rule, fragment by fragment (spec/summary §2.2). With
// excludeEncrypted, what only the provider can read (signatures, redacted thinking) is left out: that
// variant is the floor of a stored conversation. A message of an unknown role costs nothing.
func Message(m *session.Message, excludeEncrypted bool) int {
	switch m.Role {
	case session.RoleUser, session.RoleDeveloper, session.RoleCustom, session.RoleHookMessage, session.RoleToolResult:
		return contentTokens(m.Content)
	case session.RoleAssistant:
		return assistantTokens(m.Content, excludeEncrypted)
	case session.RoleBranchSummary:
		return Text(m.Summary)
	case session.RoleCompactionSummary:
		return Text(m.Summary) + attachedTokens(m.Content)
	case session.RoleBashExecution, session.RolePythonExecution:
		return Text(m.Command) + Text(m.Output)
	case session.RoleFileMention:
		return fileTokens(m.Files)
	}
	return 0
}

// Messages sums Message over a list.
func Messages(list []session.Message, excludeEncrypted bool) int {
	sum := 0
	for i := range list {
		sum += Message(&list[i], excludeEncrypted)
	}
	return sum
}

func contentTokens(blocks []session.Block) int {
	sum := 0
	for i := range blocks {
		switch blocks[i].Type {
		case session.BlockText:
			sum += Text(blocks[i].Text)
		case session.BlockImage:
			sum += Image
		}
	}
	return sum
}

func assistantTokens(blocks []session.Block, excludeEncrypted bool) int {
	sum := 0
	for i := range blocks {
		b := &blocks[i]
		switch b.Type {
		case session.BlockText:
			sum += Text(b.Text)
		case session.BlockThinking:
			sum += Text(b.Text)
			if !excludeEncrypted {
				sum += Text(b.Signature)
			}
		case session.BlockRedactedThinking:
			if !excludeEncrypted {
				sum += Text(b.Text)
			}
		case session.BlockToolCall:
			sum += Text(b.Name) + Bytes(compactLen(b.Arguments))
		}
	}
	return sum
}

func attachedTokens(blocks []session.Block) int {
	sum := 0
	for i := range blocks {
		if blocks[i].Type == session.BlockText {
			sum += Text(blocks[i].Text)
		} else {
			sum += SummaryBlock
		}
	}
	return sum
}

func fileTokens(files []session.FileMention) int {
	sum := 0
	for i := range files {
		sum += Text(files[i].Path) + Text(files[i].Content)
		if files[i].Image {
			sum += Image
		}
	}
	return sum
}

// compactLen is the length of raw without white space between its tokens: what a compact encoder
// would write. Missing arguments count as null.
func compactLen(raw json.RawMessage) int {
	if len(raw) == 0 {
		return len("null")
	}
	return session.CompactLen(raw)
}
