package tokens

import "math"

// Shares of the reserve that an answer may use (spec/summary §5.4).
const (
	ShareHistory    = 0.8 // history summaries and merges
	ShareTurnPrefix = 0.5 // turn prefixes and staged segments
)

// proportional is 15 % of a window, at least one token.
func proportional(window int) int { return max(1, int(math.Floor(0.15*float64(window)))) }

// EffectiveReserve is the reserve asked for, or 15 % of the window if that is more.
func EffectiveReserve(window int, reserve *int) int {
	return max(int(math.Floor(0.15*float64(window))), reserveOrDefault(reserve))
}

// BudgetReserve is how much of a window stays free. A reserve that leaves no usable rest gives way to
// 15 % of the window: always when it reaches the window, and already at 85 % when it is only the
// default. nil means unset, which is not the same as the default given explicitly (spec/summary §2.5).
func BudgetReserve(window int, reserve *int) int {
	effective, prop := EffectiveReserve(window, reserve), proportional(window)
	if effective >= window || (reserve == nil && effective >= window-prop) {
		return prop
	}
	return effective
}

// UsableInputWindow is what of the window is left for input beside the longest answer. An output cap
// that is unknown (0) or fills the window takes nothing away.
func UsableInputWindow(window, maxOutput int) int {
	if maxOutput > 0 && maxOutput < window {
		return window - maxOutput
	}
	return window
}

// OutputBudget is the longest answer asked of a candidate with that window: the share of the reserve,
// or of 15 % of the window when the reserve would leave less than that for the request. The window
// may be unknown (0). At least one token.
func OutputBudget(window int, reserve *int, share float64) int {
	r := reserveOrDefault(reserve)
	if window > 0 {
		if prop := proportional(window); r >= window-prop {
			r = prop
		}
	}
	return max(1, int(math.Floor(share*float64(r))))
}
