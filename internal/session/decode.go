package session

import (
	"fmt"

	"github.com/tidwall/gjson"
)

// EntryError says that the stored object of an entry cannot be read.
type EntryError struct {
	ID   string
	Line int
	Msg  string
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("line %d: entry %s: %s", e.Line, clip(e.ID), e.Msg)
}

func notJSON(e *Entry) *EntryError {
	return &EntryError{ID: e.ID, Line: e.Line, Msg: "its stored object is not JSON; run session check"}
}

// object checks that body is exactly one JSON object.
func object(body []byte) (gjson.Result, bool) {
	s := scan{line: body}
	i := skipSpace(body, 0)
	if i >= len(body) || body[i] != '{' {
		return gjson.Result{}, false
	}
	end, ok := s.object(i)
	if !ok || skipSpace(body, end) != len(body) {
		return gjson.Result{}, false
	}
	return view(body[i:end]), true
}

// DecodeEntry returns the message that an entry yields: that of a message entry, a custom message,
// a branch summary or a compaction with a summary. ok is false for every other entry. The error is
// an *EntryError when body is no JSON object. Nothing of the result shares memory with body.
func DecodeEntry(e *Entry, body []byte) (m Message, ok bool, err error) {
	switch e.Type {
	case TypeMessage, TypeCustomMessage, TypeBranchSummary, TypeCompaction:
	default:
		return Message{}, false, nil
	}
	v, good := object(body)
	if !good {
		return Message{}, false, notJSON(e)
	}
	switch e.Type {
	case TypeMessage:
		m, ok = decodeMessage(get(v, "message"))
	case TypeCustomMessage:
		m, ok = decodeMessage(v)
		m.Role = RoleCustom
	case TypeBranchSummary:
		m, ok = decodeMessage(v)
		m.Role = RoleBranchSummary
		ok = ok && m.Summary != ""
	case TypeCompaction:
		c := decodeCompaction(v)
		m, ok = c.message()
	}
	if !ok {
		return Message{}, false, nil
	}
	m.EntryID = e.ID
	if m.Timestamp == 0 {
		m.Timestamp = isoMillis(e.Timestamp)
	}
	return m, true, nil
}

// decodeMessage reads a stored message object; ok is false when v is no object.
func decodeMessage(v gjson.Result) (m Message, ok bool) {
	if !v.IsObject() {
		return Message{}, false
	}
	var python string
	each(v, func(key string, v gjson.Result) {
		switch key {
		case "role":
			m.Role = validUTF8(knownRole([]byte(v.Str)))
		case "content":
			m.Content = decodeContent(v)
		case "timestamp":
			m.Timestamp = millis(v)
		case "attribution":
			m.Attribution = text(v)
		case "api":
			m.API = text(v)
		case "provider":
			m.Provider = text(v)
		case "model":
			m.Model = text(v)
		case "stopReason":
			m.StopReason = text(v)
		case "errorMessage":
			m.ErrorMessage = text(v)
		case "usage":
			m.Usage = decodeUsage(v)
		case "retryRecovery":
			m.RetryRecovered = get(v, "status").Str == "recovered"
		case "toolCallId":
			m.ToolCallID = text(v)
		case "toolName":
			m.ToolName = text(v)
		case "isError":
			m.IsError = v.Type == gjson.True
		case "useless":
			m.Useless = v.Type == gjson.True
		case "prunedAt":
			m.PrunedAt = millis(v)
		case "command":
			m.Command = text(v)
		case "code":
			python = text(v)
		case "output":
			m.Output = text(v)
		case "exitCode":
			m.ExitCode = number(v)
		case "cancelled":
			m.Cancelled = v.Type == gjson.True
		case "truncated":
			m.Truncated = v.Type == gjson.True
		case "excludeFromContext":
			m.ExcludeFromContext = v.Type == gjson.True
		case "fullOutputPath":
			m.FullOutputPath = text(v)
		case "customType":
			m.CustomType = text(v)
		case "display":
			m.Display = v.Type == gjson.True
		case "summary":
			m.Summary = text(v)
		case "fromId":
			m.FromID = text(v)
		case "tokensBefore":
			m.TokensBefore = number(v)
		case "files":
			m.Files = decodeFiles(v)
		case "demotedReasoningSource":
			m.DemotedReasoning = v.IsObject()
		}
	})
	if m.Role == RolePythonExecution {
		m.Command = python
	}
	return m, true
}

// decodeContent reads content: a string is one text block, null and foreign values are none.
func decodeContent(v gjson.Result) []Block {
	if v.Type == gjson.String {
		return []Block{{Type: BlockText, Text: text(v)}}
	}
	if !v.IsArray() {
		return nil
	}
	var blocks []Block
	v.ForEach(func(_, v gjson.Result) bool {
		if v.IsObject() {
			blocks = append(blocks, decodeBlock(v))
		}
		return true
	})
	return blocks
}

func decodeBlock(v gjson.Result) Block {
	var b Block
	var plain, thinking, data, textSig, thinkSig, callSig gjson.Result
	redacted := false
	each(v, func(key string, v gjson.Result) {
		switch key {
		case "type":
			b.Type = knownBlock(v)
		case "text":
			plain = v
		case "thinking":
			thinking = v
		case "data":
			data = v
		case "textSignature":
			textSig = v
		case "thinkingSignature":
			thinkSig = v
		case "thoughtSignature":
			callSig = v
		case "redacted":
			redacted = v.Type == gjson.True
		case "mimeType":
			b.MimeType = text(v)
		case "id":
			b.ID = text(v)
		case "name":
			b.Name = text(v)
		case "arguments":
			b.Arguments = raw(v)
		}
	})
	switch b.Type {
	case BlockThinking:
		b.Text, b.Signature = text(thinking), text(thinkSig)
		if redacted { // pi keeps the opaque data in the signature
			b.Type, b.Text, b.Signature = BlockRedactedThinking, b.Signature, ""
		}
	case BlockRedactedThinking:
		b.Text = text(data)
	case BlockImage:
		if data.Type == gjson.String {
			b.DataLen = len(data.Str)
		}
	case BlockToolCall:
		b.Signature = text(callSig)
	default:
		b.Text, b.Signature = text(plain), text(textSig)
	}
	return b
}

// knownBlock returns the type of a block, without allocating for the usual ones.
func knownBlock(v gjson.Result) string {
	switch v.Str {
	case BlockText:
		return BlockText
	case BlockThinking:
		return BlockThinking
	case BlockToolCall:
		return BlockToolCall
	case BlockImage:
		return BlockImage
	case BlockRedactedThinking:
		return BlockRedactedThinking
	}
	return text(v)
}

func decodeUsage(v gjson.Result) *Usage {
	if !v.IsObject() {
		return nil
	}
	var u Usage
	each(v, func(key string, v gjson.Result) {
		switch key {
		case "input":
			u.Input = count(v)
		case "output":
			u.Output = count(v)
		case "cacheRead":
			u.CacheRead = count(v)
		case "cacheWrite":
			u.CacheWrite = count(v)
		case "totalTokens":
			u.Total = count(v)
		case "orchestration":
			u.Orchestration = count(get(v, "input")) + count(get(v, "output")) + count(get(v, "cacheRead"))
		}
	})
	return &u
}

func decodeFiles(v gjson.Result) []FileMention {
	if !v.IsArray() {
		return nil
	}
	var files []FileMention
	v.ForEach(func(_, v gjson.Result) bool {
		var f FileMention
		each(v, func(key string, v gjson.Result) {
			switch key {
			case "path":
				f.Path = text(v)
			case "content":
				f.Content = text(v)
			case "image":
				if f.Image = v.IsObject(); f.Image {
					f.MimeType = text(get(v, "mimeType"))
					f.DataLen = len(get(v, "data").Str)
				}
			}
		})
		files = append(files, f)
		return true
	})
	return files
}
