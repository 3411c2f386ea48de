package compaction

import (
	"encoding/json"

	"github.com/tidwall/sjson"

	"recap/internal/session"
)

// notPreserved are what an earlier compaction carries for itself only: a provider's window, which is
// summarised as text now, forms of old, the archive that was drained, and our own mark (spec/summary
// §11.3, §12.6).
var notPreserved = []string{"remoteCompaction", "openaiRemoteCompaction", "compactionV2", "snapcompact", "recap"}

// Preserved is what extensions keep on the compaction that the plan builds on and that goes on to the
// new entry, nil when there is nothing.
func Preserved(l *session.Log, b session.Bodies, p *Plan) (json.RawMessage, error) {
	e := l.Find(p.Coverage.Previous)
	if e == nil || e.Type != session.TypeCompaction {
		return nil, nil
	}
	c, err := readCompaction(e, b)
	if err != nil || len(c.PreserveData) == 0 || c.PreserveData[0] != '{' {
		return nil, err
	}
	kept := []byte(c.PreserveData)
	for _, key := range notPreserved {
		if kept, err = sjson.DeleteBytes(kept, key); err != nil {
			return nil, err
		}
	}
	var left map[string]json.RawMessage
	if err := json.Unmarshal(kept, &left); err != nil || len(left) == 0 {
		return nil, nil // nothing is left that could be carried on
	}
	return kept, nil
}
