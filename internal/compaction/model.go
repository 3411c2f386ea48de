package compaction

import (
	"strings"

	"github.com/tidwall/gjson"

	"recap/internal/session"
)

// SessionModel names the model the session is used with, as provider/model: what its newest model
// change of the default role says, else its newest assistant message. "" when neither is there, and
// for a path that cannot be followed.
func SessionModel(l *session.Log, b session.Bodies) (string, error) {
	path, err := l.Path()
	if err != nil {
		return "", nil // who plans meets the broken path itself
	}
	name, err := newest(path, b, func(e *session.Entry) bool { return e.Type == session.TypeModelChange }, changedModel)
	if name != "" || err != nil {
		return name, err
	}
	return newest(path, b, func(e *session.Entry) bool { return e.Role == session.RoleAssistant }, answeringModel)
}

// newest reads the wanted entries from the end until one names a model.
func newest(path []*session.Entry, b session.Bodies, wanted func(*session.Entry) bool, name func(body []byte) string) (string, error) {
	for i := len(path) - 1; i >= 0; i-- {
		if !wanted(path[i]) {
			continue
		}
		body, err := b.Body(path[i])
		if err != nil {
			return "", err
		}
		if found := name(body); found != "" {
			return found, nil
		}
	}
	return "", nil
}

// changedModel reads a model change in both spellings: provider and modelId, or model = provider/id.
func changedModel(body []byte) string {
	v := gjson.ParseBytes(body)
	if role := v.Get("role").String(); role != "" && role != "default" {
		return ""
	}
	if id := v.Get("modelId").String(); id != "" {
		return strings.Clone(v.Get("provider").String() + "/" + id)
	}
	return strings.Clone(v.Get("model").String())
}

func answeringModel(body []byte) string {
	v := gjson.GetBytes(body, "message")
	provider, model := v.Get("provider").String(), v.Get("model").String()
	if model == "" {
		return ""
	}
	return provider + "/" + model
}
