package reduce

import (
	"fmt"

	"recap/internal/compaction/reduce/artifact"
	"recap/internal/tokens"
)

// Notices that stand in the place of a pruned result. The reference agents write the same.
const (
	supersededNotice = "[Superseded by a newer read of this file]"
	uselessNotice    = "[Uneventful result elided]"
)

func agedNotice(n int) string { return fmt.Sprintf("[Output truncated - %d tokens]", n) }

// savings is what putting a notice in the place of n tokens frees.
func savings(n int, notice string) int { return max(0, n-tokens.Text(notice)) }

// marker is what stands in the place of a text that went to an artifact; artifactID is "" while, or
// when, there is none.
func marker(kind Kind, tool string, n int, artifactID string, region int) string {
	if kind == TailBound {
		text := fmt.Sprintf("[output elided by compaction: ~%d tokens of \"%s\" output removed to keep the retained tail within budget", n, tool)
		if artifactID != "" {
			text += "; recover the full output at " + artifact.URI(artifactID)
		}
		return text + "]"
	}
	verb := "shaken"
	if kind == Truncated {
		verb = "truncated"
	}
	text := fmt.Sprintf("[%s ~%d tokens]", verb, n)
	if artifactID != "" {
		text = fmt.Sprintf("[%s ~%d tokens; recover: %s (region %d)]", verb, n, artifact.URI(artifactID), region)
	}
	if kind == Truncated {
		return "\n" + text + "\n"
	}
	return text
}
