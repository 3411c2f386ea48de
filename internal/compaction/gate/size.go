package gate

import "recap/internal/contract"

// The floor of G5: a summary below it cannot hold what its source was about.
const (
	thinTokens   = 250
	thinPerMille = 15
	thinSections = 2 // an answer with so many sections is terse rather than thin: half the floor
)

// checkSize is the upper half of G5: a summary that is as large as what it replaces is no gain, and
// the policy may want less. It is asked twice: of the answer, and of the answer with what was appended.
func checkSize(in *Input, d *document, _ *Measurements) contract.Code {
	size := tokenCount(d.text)
	switch {
	case in.Small() || in.Extractive:
		return ""
	case 10*size > 9*in.SourceTokens:
		return CodeNotSmaller
	case in.Budget > 0 && size > in.Budget:
		return CodeTooLong
	}
	return ""
}

// checkThin is the lower half of G5, asked of what the model wrote. It scales with the source that
// the answer itself covers, and with the room the model had.
func checkThin(in *Input, d *document, _ *Measurements) contract.Code {
	if in.Small() || in.Extractive {
		return ""
	}
	source := in.SourceTokens
	if in.hasSource() {
		source = min(source, in.Digest.tokens+tokenCount(in.Digest.previous))
	}
	floor := min(thinTokens, source*thinPerMille/1000)
	if d.known >= thinSections {
		floor /= 2
	}
	if in.MaxOutput > 0 {
		floor = min(floor, in.MaxOutput/2)
	}
	if tokenCount(d.text) < floor {
		return CodeTooThin
	}
	return ""
}
