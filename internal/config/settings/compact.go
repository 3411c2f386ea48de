package settings

import (
	"strings"
	"unicode"

	"recap/internal/contract"
)

// StrategySummary is the strategy that lets a model write a summary.
const StrategySummary = contract.StrategySummary

// SplitCompact reads what a person typed behind /compact: a strategy if the first word is one, in
// any case, and a focus for the summary. Any other first word belongs to the focus. Both are empty
// when nothing was typed (spec/summary §3.7).
func SplitCompact(typed string) (strategy, focus string) {
	typed = strings.TrimSpace(typed)
	word := typed
	if i := strings.IndexFunc(typed, unicode.IsSpace); i >= 0 {
		word = typed[:i]
	}
	if strings.EqualFold(word, StrategySummary) {
		return StrategySummary, strings.TrimSpace(typed[len(word):])
	}
	return "", typed
}
