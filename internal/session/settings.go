package session

import (
	"strings"

	"github.com/tidwall/gjson"
)

// activeModel returns the model of a path: the newest model change of the default role, else what
// the newest assistant message names. Both are "" when the path has neither.
func activeModel(path []*Entry, b Bodies) (provider, model string, err error) {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Type != TypeModelChange {
			continue
		}
		v, err := readObject(path[i], b)
		if err != nil {
			return "", "", err
		}
		if provider, model, ok := decodeModelChange(v); ok {
			return provider, model, nil
		}
	}
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Type != TypeMessage || path[i].Role != RoleAssistant {
			continue
		}
		body, err := b.Body(path[i])
		if err != nil {
			return "", "", err
		}
		m, _, err := DecodeEntry(path[i], body)
		if err != nil {
			return "", "", err
		}
		if m.Model != "" {
			return m.Provider, m.Model, nil
		}
	}
	return "", "", nil
}

// decodeModelChange reads both forms: provider and modelId (pi), or model = provider/id with a role
// (Veyyon). ok is false for a change of another role than the default one.
func decodeModelChange(v gjson.Result) (provider, model string, ok bool) {
	if role := text(get(v, "role")); role != "" && role != "default" {
		return "", "", false
	}
	if id := text(get(v, "modelId")); id != "" {
		return text(get(v, "provider")), id, true
	}
	provider, model, ok = strings.Cut(text(get(v, "model")), "/")
	return provider, model, ok && model != ""
}

// thinkingLevel returns the newest thinking level of a path, "off" when none was set.
func thinkingLevel(path []*Entry, b Bodies) (string, error) {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Type != TypeThinkingLevel {
			continue
		}
		v, err := readObject(path[i], b)
		if err != nil {
			return "", err
		}
		if level := text(get(v, "thinkingLevel")); level != "" {
			return level, nil
		}
		break
	}
	return "off", nil
}

// readObject reads the stored object of an entry.
func readObject(e *Entry, b Bodies) (gjson.Result, error) {
	body, err := b.Body(e)
	if err != nil {
		return gjson.Result{}, err
	}
	v, ok := object(body)
	if !ok {
		return gjson.Result{}, notJSON(e)
	}
	return v, nil
}
