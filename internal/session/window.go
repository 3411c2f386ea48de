package session

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// ServerWindow is a provider's own compaction of the history: an opaque list of items that only the
// provider that made it can replay (spec/summary §10.2, §10.3).
type ServerWindow struct {
	Provider, API, Model string
	CompactedAt          string          // ISO
	Items                json.RawMessage // JSON array, verbatim
}

// ServerWindow returns the valid server-side window of a compaction. A malformed one is absent.
func (c *Compaction) ServerWindow() (ServerWindow, bool) {
	v := get(view(c.PreserveData), "remoteCompaction")
	if !v.IsObject() {
		return ServerWindow{}, false
	}
	var w ServerWindow
	version, sealed := 0, false
	each(v, func(key string, v gjson.Result) {
		switch key {
		case "version":
			version = count(v)
		case "provider":
			w.Provider = text(v)
		case "api":
			w.API = text(v)
		case "model":
			w.Model = text(v)
		case "compactedAt":
			w.CompactedAt = text(v)
		case "window":
			w.Items, sealed = nil, false
			if !v.IsArray() {
				return
			}
			w.Items = raw(v)
			v.ForEach(func(_, item gjson.Result) bool {
				sealed = sealed || (get(item, "type").Str == "compaction" && get(item, "encrypted_content").Type == gjson.String)
				return !sealed
			})
		}
	})
	ok := version == 1 && sealed && w.Provider != "" && w.API != "" && w.Model != "" && w.CompactedAt != ""
	return w, ok
}

// ReplayableBy reports whether a session on the given provider can be sent the window.
func (w *ServerWindow) ReplayableBy(provider string) bool {
	return w.Provider == provider && (w.API == "openai-responses" || w.API == "azure-openai-responses")
}
