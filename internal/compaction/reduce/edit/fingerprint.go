package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"recap/internal/session"
)

// Fingerprint identifies what an edit can change of a message, so that an edit decided on one state is
// not made on another.
func Fingerprint(m *session.Message) string {
	raw, err := json.Marshal([]any{m.Role, m.ToolCallID, m.PrunedAt, m.Output, m.Summary, m.Content, m.Files})
	if err != nil {
		// Arguments of a tool call that were no valid JSON: they cannot come from a decoded entry.
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}
