package eval

import (
	"crypto/sha256"
	"encoding/hex"
)

// reportVersion is raised when a field changes its meaning.
const reportVersion = 1

// Report is everything that was measured. Equal options give an equal report, but for Speed.
type Report struct {
	Version  int    `json:"version"`
	Seed     uint64 `json:"seed"`
	Corpus   string `json:"corpus"` // digest of the generated sessions
	Sessions int    `json:"sessions"`
	Facts    int    `json:"facts"`

	Coverage Coverage   `json:"coverage"`
	Real     *Real      `json:"real,omitempty"`
	Ledgers  []Ledger   `json:"ledgers"`
	Controls []Controls `json:"controls"`
	Decay    []Curve    `json:"decay"`
	Gate     Gate       `json:"gate"`
	Sameness Sameness   `json:"sameness"`
	Speed    *Speed     `json:"speed,omitempty"`
}

// corpus is the digest of the generated sessions.
func (e *engine) corpus() string {
	sum := sha256.New()
	for _, s := range e.sessions {
		sum.Write(s.Data(len(s.Segments) - 1))
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}
