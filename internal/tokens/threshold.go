package tokens

import (
	"math"
	"strconv"
	"strings"

	"recap/internal/contract"
)

// Kind says how a threshold was given.
type Kind string

// Kinds of thresholds.
const (
	KindAuto     Kind = "auto"     // window minus budget reserve
	KindPercent  Kind = "percent"  // share of the window
	KindAbsolute Kind = "absolute" // tokens
	KindReserve  Kind = "reserve"  // window minus reserveTokens, whatever the window (Base Context)
)

// Threshold is a parsed compaction.threshold.
type Threshold struct {
	Kind  Kind
	Value float64 // percent or tokens
	// Invalid is the original text when it is none of the forms; the Kind is auto then.
	Invalid string
	// Legacy names the retired setting the value came from, "" for none.
	Legacy string
}

// ParseThreshold reads a threshold: auto (also blank and default), a percentage, a number of tokens
// (underscores allowed), or reserve. Zero, negative and non-finite values are auto. Text that is none
// of these is auto too, with Invalid set, which callers must report (spec/summary §2.4).
func ParseThreshold(raw string) Threshold {
	text := strings.TrimSpace(raw)
	switch strings.ToLower(text) {
	case "", "auto", "default":
		return Threshold{Kind: KindAuto}
	case "reserve":
		return Threshold{Kind: KindReserve}
	}
	if num, ok := strings.CutSuffix(text, "%"); ok {
		v, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
		if err != nil {
			return Threshold{Kind: KindAuto, Invalid: raw}
		}
		if !positive(v) {
			return Threshold{Kind: KindAuto}
		}
		return Threshold{Kind: KindPercent, Value: v}
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil || isHexOrWord(text) {
		return Threshold{Kind: KindAuto, Invalid: raw}
	}
	if !positive(v) {
		return Threshold{Kind: KindAuto}
	}
	return Threshold{Kind: KindAbsolute, Value: v}
}

// isHexOrWord catches the forms ParseFloat accepts and people do not mean: inf, nan, 0x1p4.
func isHexOrWord(text string) bool { return strings.ContainsAny(text, "xXnNpP") }

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) && !math.IsNaN(v) }

// WithLegacy folds the two retired settings in: they count only while the threshold is plain auto,
// tokens before percent. A threshold that could not be parsed blocks them.
func (t Threshold) WithLegacy(thresholdTokens int, thresholdPercent float64) Threshold {
	if t.Kind != KindAuto || t.Invalid != "" {
		return t
	}
	if thresholdTokens > 0 {
		return Threshold{Kind: KindAbsolute, Value: float64(thresholdTokens), Legacy: "thresholdTokens"}
	}
	if positive(thresholdPercent) {
		return Threshold{Kind: KindPercent, Value: thresholdPercent, Legacy: "thresholdPercent"}
	}
	return t
}

// Resolved is a threshold in tokens for one window.
type Resolved struct {
	Tokens  int
	Clamped bool // the value asked for was not reachable and was changed
}

// Resolve turns a threshold into tokens for a window of that many tokens. An absolute amount above
// the window is honoured up to one below it, never reinterpreted.
func Resolve(t Threshold, window int, reserve *int) Resolved {
	switch t.Kind {
	case KindPercent:
		p := min(max(t.Value, 1), 99)
		return Resolved{Tokens: int(math.Floor(float64(window) * p / 100)), Clamped: p != t.Value}
	case KindAbsolute:
		hi := absoluteCeiling(window)
		n := int(min(math.Floor(t.Value), math.MaxInt32*1024))
		return Resolved{Tokens: clampLow(n, 1, hi), Clamped: n > hi}
	case KindReserve:
		return Resolved{Tokens: clampLow(window-reserveOrDefault(reserve), 0, window-1)}
	}
	return Resolved{Tokens: clampLow(window-BudgetReserve(window, reserve), 0, window-1)}
}

// absoluteCeiling is the largest absolute threshold a window honours.
func absoluteCeiling(window int) int { return window - 1 }

// clampLow keeps v within lo and hi; lo wins when the range is inverted.
func clampLow(v, lo, hi int) int { return max(lo, min(v, hi)) }

// ShouldCompact reports whether a context of that size is over the threshold. An unknown window
// (0 or less) never is.
func ShouldCompact(context, window int, t Threshold, reserve *int) bool {
	return window > 0 && context > Resolve(t, window, reserve).Tokens
}

func reserveOrDefault(reserve *int) int {
	if reserve == nil {
		return contract.DefaultReserveTokens
	}
	return *reserve
}
