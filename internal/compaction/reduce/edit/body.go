package edit

import (
	"bytes"
	"encoding/json"

	"recap/internal/session"
)

// Body returns the stored object of an entry with the edits made; body itself does not change. An edit
// that does not fit is an *Error. A body that is no JSON object is a *session.EntryError.
func Body(e *session.Entry, body []byte, edits []Edit) ([]byte, error) {
	before, ok, err := session.DecodeEntry(e, body)
	if err != nil {
		return nil, err
	}
	if !ok || e.Type == session.TypeCompaction {
		return nil, &Error{e.ID, "it holds no message that can be edited"}
	}
	want, err := Message(before, edits)
	if err != nil {
		return nil, err
	}
	out := body
	if edits, err = ordered(e.ID, edits); err != nil {
		return nil, err
	}
	if e.Type == session.TypeMessage {
		message := last(out, "message")
		changed, err := store(e.ID, message.raw, edits)
		if err != nil {
			return nil, err
		}
		out = message.replace(out, changed)
	} else if out, err = store(e.ID, out, edits); err != nil {
		return nil, err
	}
	// What is stored must be what is live: a difference here would come back as another history.
	after, ok, err := session.DecodeEntry(e, out)
	if err != nil {
		return nil, err
	}
	if !ok || Fingerprint(&after) != Fingerprint(&want) {
		return nil, &Error{e.ID, "its stored form cannot be edited without changing more"}
	}
	return out, nil
}

// store makes the edits on the object that holds content and the other fields.
func store(id string, obj []byte, edits []Edit) ([]byte, error) {
	for i := range edits {
		e := &edits[i]
		switch e.Op {
		case Blank:
			obj = set(obj, "content", append(append([]byte{'['}, textObject(e.Text)...), ']'))
		case BlankText:
			obj = set(obj, "content", storeBlankText(last(obj, "content"), e.Text))
		case Splice:
			changed, ok := storeSplice(obj, e)
			if !ok {
				return nil, &Error{id, "it has no such text to edit"}
			}
			obj = changed
			continue
		case DropImages:
			obj = storeDropImages(obj)
			continue
		}
		if e.PrunedAt > 0 {
			obj = set(obj, "prunedAt", number(e.PrunedAt))
		}
	}
	return obj, nil
}

func storeBlankText(content value, text string) []byte {
	var kept [][]byte
	done := false
	for _, el := range elements(content) {
		switch {
		case !el.isObject() || blockType(el) != session.BlockText:
			kept = append(kept, el.raw)
		case !done:
			kept, done = append(kept, textObject(text)), true
		}
	}
	if !done {
		kept = append([][]byte{textObject(text)}, kept...)
	}
	return array(kept)
}

func storeSplice(obj []byte, e *Edit) ([]byte, bool) {
	switch e.Field {
	case Output:
		return spliceString(obj, "output", e)
	case Summary:
		return spliceString(obj, "summary", e)
	case Content:
		content := last(obj, "content")
		if content.isString() {
			return spliceString(obj, "content", e)
		}
		return spliceElement(obj, content, blocks(content), "text", e)
	case File:
		files := last(obj, "files")
		return spliceElement(obj, files, elements(files), "content", e)
	}
	return nil, false
}

// spliceElement splices the text under key in element e.Index of a list that is a member of obj.
func spliceElement(obj []byte, list value, among []value, key string, e *Edit) ([]byte, bool) {
	if e.Index < 0 || e.Index >= len(among) || !among[e.Index].isObject() {
		return nil, false
	}
	el := among[e.Index]
	changed, ok := spliceString(el.raw, key, e)
	if !ok {
		return nil, false
	}
	return list.replace(obj, el.replace(list.raw, changed)), true
}

// spliceString splices a string member of obj. A missing one is the empty text.
func spliceString(obj []byte, key string, e *Edit) ([]byte, bool) {
	text := valid(last(obj, key).string())
	if !fits(text, e.Start, e.End) {
		return nil, false
	}
	return set(obj, key, quote(text[:e.Start]+valid(e.Text)+text[e.End:])), true
}

func storeDropImages(obj []byte) []byte {
	if content := last(obj, "content"); content.isArray() {
		var kept [][]byte
		dropped, objects := 0, 0
		for _, el := range elements(content) {
			if el.isObject() {
				if blockType(el) == session.BlockImage {
					dropped++
					continue
				}
				objects++
			}
			kept = append(kept, el.raw)
		}
		if dropped > 0 {
			if objects == 0 {
				kept = append(kept, textObject(ImageRemoved))
			}
			obj = content.replace(obj, array(kept))
		}
	}
	for i := 0; ; i++ {
		files := last(obj, "files")
		all := elements(files)
		if i >= len(all) {
			return obj
		}
		file := all[i]
		if !file.isObject() || !last(file.raw, "image").isObject() {
			continue
		}
		changed := without(file.raw, "image")
		if last(changed, "content").string() == "" {
			changed = set(changed, "content", quote(ImageRemoved))
		}
		obj = files.replace(obj, file.replace(files.raw, changed))
	}
}

// blocks are the elements of a content list that are read as blocks.
func blocks(content value) []value {
	var out []value
	for _, el := range elements(content) {
		if el.isObject() {
			out = append(out, el)
		}
	}
	return out
}

func blockType(el value) string { return last(el.raw, "type").string() }

func textObject(text string) []byte {
	return append(append([]byte(`{"type":"text","text":`), quote(valid(text))...), '}')
}

func array(elements [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(elements, []byte{','})...), ']')
}

// quote writes a text as JSON, as plainly as the agents do.
func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("edit: a string cannot fail to encode: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

func number(n int64) []byte {
	raw, _ := json.Marshal(n) // an integer cannot fail
	return raw
}
