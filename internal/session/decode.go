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
	r := reader{b: body}
	return r.entry(e)
}

// entry decodes the object of an entry.
func (r *reader) entry(e *Entry) (m Message, ok bool, err error) {
	body := r.b
	switch e.Type {
	case TypeMessage, TypeCustomMessage, TypeBranchSummary:
	case TypeCompaction:
		v, good := object(body)
		if !good {
			return Message{}, false, notJSON(e)
		}
		c := decodeCompaction(v)
		m, ok = c.message()
		return stamped(m, ok, e)
	default:
		return Message{}, false, nil
	}
	r.i = skipSpace(body, 0)
	good := false
	if e.Type == TypeMessage {
		good = r.each(func(key string) {
			if key == "message" {
				m, ok = r.message()
				return
			}
			r.skip()
		})
	} else {
		m, good = r.message()
		ok = good
	}
	if !good || r.bad || skipSpace(body, r.i) != len(body) {
		return Message{}, false, notJSON(e)
	}
	switch e.Type {
	case TypeCustomMessage:
		m.Role = RoleCustom
	case TypeBranchSummary:
		m.Role = RoleBranchSummary
		ok = ok && m.Summary != ""
	}
	return stamped(m, ok, e)
}

// stamped completes a message by what its entry says.
func stamped(m Message, ok bool, e *Entry) (Message, bool, error) {
	if !ok {
		return Message{}, false, nil
	}
	m.EntryID = e.ID
	if m.Timestamp == 0 {
		m.Timestamp = isoMillis(e.Timestamp)
	}
	return m, true, nil
}

// decodeMessage reads a checked message object; ok is false when v is no object.
func decodeMessage(v gjson.Result) (Message, bool) {
	r := reader{b: []byte(v.Raw)}
	m, ok := r.message()
	return m, ok && !r.bad
}

// message reads a stored message object; ok is false when the value is no object.
func (r *reader) message() (m Message, ok bool) {
	var python string
	ok = r.each(func(key string) {
		switch key {
		case "role":
			m.Role = r.role()
		case "content":
			m.Content = r.content()
		case "timestamp":
			m.Timestamp = r.millis()
		case "attribution":
			m.Attribution = r.text()
		case "api":
			m.API = r.text()
		case "provider":
			m.Provider = r.text()
		case "model":
			m.Model = r.text()
		case "stopReason":
			m.StopReason = r.text()
		case "errorMessage":
			m.ErrorMessage = r.text()
		case "usage":
			m.Usage = r.usage()
		case "retryRecovery":
			m.RetryRecovered = false
			r.each(func(key string) {
				if key == "status" {
					m.RetryRecovered = r.text() == "recovered"
					return
				}
				r.skip()
			})
		case "toolCallId":
			m.ToolCallID = r.text()
		case "toolName":
			m.ToolName = r.text()
		case "isError":
			m.IsError = r.isTrue()
		case "useless":
			m.Useless = r.isTrue()
		case "prunedAt":
			m.PrunedAt = r.millis()
		case "command":
			m.Command = r.text()
		case "code":
			python = r.text()
		case "output":
			m.Output = r.text()
		case "exitCode":
			m.ExitCode = r.number()
		case "cancelled":
			m.Cancelled = r.isTrue()
		case "truncated":
			m.Truncated = r.isTrue()
		case "excludeFromContext":
			m.ExcludeFromContext = r.isTrue()
		case "fullOutputPath":
			m.FullOutputPath = r.text()
		case "customType":
			m.CustomType = r.text()
		case "display":
			m.Display = r.isTrue()
		case "summary":
			m.Summary = r.text()
		case "fromId":
			m.FromID = r.text()
		case "tokensBefore":
			m.TokensBefore = r.number()
		case "files":
			m.Files = r.files()
		case "demotedReasoningSource":
			m.DemotedReasoning = r.peek() == '{'
			r.skip()
		default:
			r.skip()
		}
	})
	if m.Role == RolePythonExecution {
		m.Command = python
	}
	return m, ok
}

// role reads a role, without allocating for those that are known.
func (r *reader) role() string {
	q := r.chars()
	if q.escaped {
		return r.decoded(q)
	}
	return validUTF8(knownRole(q.raw))
}

// content reads content: a string is one text block, null and foreign values are none.
func (r *reader) content() []Block {
	if r.peek() == '"' {
		return []Block{{Type: BlockText, Text: r.text()}}
	}
	var blocks []Block
	if r.reuse != nil {
		blocks = r.reuse.blocks[:0]
	}
	r.items(func() {
		if r.peek() != '{' {
			r.skip()
			return
		}
		blocks = append(blocks, r.block())
	})
	if r.reuse != nil {
		r.reuse.blocks = blocks
	}
	return blocks
}

func (r *reader) block() Block {
	var b Block
	var plain, thinking, data, textSig, thinkSig, callSig chars
	redacted := false
	r.each(func(key string) {
		switch key {
		case "type":
			b.Type = r.blockType()
		case "text":
			plain = r.chars()
		case "thinking":
			thinking = r.chars()
		case "data":
			data = r.chars()
		case "textSignature":
			textSig = r.chars()
		case "thinkingSignature":
			thinkSig = r.chars()
		case "thoughtSignature":
			callSig = r.chars()
		case "redacted":
			redacted = r.isTrue()
		case "mimeType":
			b.MimeType = r.text()
		case "id":
			b.ID = r.text()
		case "name":
			b.Name = r.text()
		case "arguments":
			b.Arguments = r.value()
		default:
			r.skip()
		}
	})
	switch b.Type {
	case BlockThinking:
		b.Text, b.Signature = r.decoded(thinking), r.decoded(thinkSig)
		if redacted { // pi keeps the opaque data in the signature
			b.Type, b.Text, b.Signature = BlockRedactedThinking, b.Signature, ""
		}
	case BlockRedactedThinking:
		b.Text = r.decoded(data)
	case BlockImage:
		b.DataLen = data.length()
	case BlockToolCall:
		b.Signature = r.decoded(callSig)
	default:
		b.Text, b.Signature = r.decoded(plain), r.decoded(textSig)
	}
	return b
}

// blockType reads the type of a block, without allocating for the usual ones.
func (r *reader) blockType() string {
	q := r.chars()
	for _, known := range []string{BlockText, BlockThinking, BlockToolCall, BlockImage, BlockRedactedThinking} {
		if string(q.raw) == known {
			return known
		}
	}
	return r.decoded(q)
}

func (r *reader) usage() *Usage {
	var u *Usage
	if r.reuse != nil {
		u = &r.reuse.usage
		*u = Usage{}
	} else {
		u = new(Usage)
	}
	if !r.each(func(key string) {
		switch key {
		case "input":
			u.Input = r.count()
		case "output":
			u.Output = r.count()
		case "cacheRead":
			u.CacheRead = r.count()
		case "cacheWrite":
			u.CacheWrite = r.count()
		case "totalTokens":
			u.Total = r.count()
		case "orchestration":
			var input, output, read int
			r.each(func(key string) {
				switch key {
				case "input":
					input = r.count()
				case "output":
					output = r.count()
				case "cacheRead":
					read = r.count()
				default:
					r.skip()
				}
			})
			u.Orchestration = input + output + read
		default:
			r.skip()
		}
	}) {
		return nil
	}
	return u
}

func (r *reader) files() []FileMention {
	var files []FileMention
	r.items(func() {
		var f FileMention
		r.each(func(key string) {
			switch key {
			case "path":
				f.Path = r.text()
			case "content":
				f.Content = r.text()
			case "image":
				var mime string
				var data chars
				f.Image = r.each(func(key string) {
					switch key {
					case "mimeType":
						mime = r.text()
					case "data":
						data = r.chars()
					default:
						r.skip()
					}
				})
				f.MimeType, f.DataLen = mime, data.length()
			default:
				r.skip()
			}
		})
		files = append(files, f)
	})
	return files
}

// count reads a number of tokens or the like: 0 for anything but a non-negative number.
func (r *reader) count() int {
	if n, ok := r.float(); ok && n >= 0 && n <= 1<<53 {
		return int(n)
	}
	return 0
}

// number reads a number of any sign, nil for anything else.
func (r *reader) number() *int {
	if n, ok := r.float(); ok && n >= -(1<<53) && n <= 1<<53 {
		i := int(n)
		return &i
	}
	return nil
}

// millis reads a time as Unix milliseconds: a number is taken as such, a string as ISO time; 0 when
// it is neither.
func (r *reader) millis() int64 {
	if r.peek() == '"' {
		return isoMillis(r.text())
	}
	return int64(r.count())
}
