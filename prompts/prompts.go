// Package prompts holds the texts that summarisers are instructed with, embedded and pinned by digest
// in a test so that they cannot drift unnoticed. It imports nothing of this module.
package prompts

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
)

var (
	//go:embed system.md
	system string
	//go:embed initial.md
	initial string
	//go:embed update.md
	update string
	//go:embed turn_prefix.md
	turnPrefix string
	//go:embed mid_turn.md
	midTurn string
)

// Set is every text a compaction needs.
type Set struct {
	System     string // the summariser's role
	Initial    string // instruction for a first summary
	Update     string // instruction for a summary that builds on a previous one
	TurnPrefix string // instruction for the beginning of a split turn
	MidTurn    string // added when the conversation ends in the middle of a turn
}

// All returns the texts. They end without a newline.
func All() Set {
	return Set{
		System: trim(system), Initial: trim(initial), Update: trim(update),
		TurnPrefix: trim(turnPrefix), MidTurn: trim(midTurn),
	}
}

// Digests maps the name of each text to the SHA-256 of what is sent.
func Digests() map[string]string { return All().Digests() }

// Digests maps the name of each text of the set to its SHA-256.
func (s Set) Digests() map[string]string {
	return map[string]string{
		"system": digest(s.System), "initial": digest(s.Initial), "update": digest(s.Update),
		"turn_prefix": digest(s.TurnPrefix), "mid_turn": digest(s.MidTurn),
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func trim(text string) string {
	for len(text) > 0 && text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	return text
}
