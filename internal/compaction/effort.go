package compaction

import "slices"

// efforts are the reasoning levels in rising order.
var efforts = []string{"minimal", "low", "medium", "high", "xhigh", "max"}

// EffortOff asks a candidate for no reasoning.
const EffortOff = "off"

// Effort resolves the reasoning level of a summary request (spec/summary §5.4): unset, inherit and
// auto mean high, off stays off, anything else is asked for as it is. supported lists the levels a
// candidate knows: nil when that is unknown, empty when it has no such control. A level it lacks
// becomes the next lower one it has, else its lowest; changed says so, for a warning. The result ""
// sends no reasoning option.
func Effort(level string, supported []string) (effort string, changed bool) {
	switch level {
	case EffortOff, "none":
		return EffortOff, false
	case "", "inherit", "auto":
		level = "high"
	}
	if supported == nil || slices.Contains(supported, level) {
		return level, false
	}
	lowest := ""
	for _, e := range slices.Backward(efforts) {
		if !slices.Contains(supported, e) {
			continue
		}
		lowest = e
		if slices.Index(efforts, e) < slices.Index(efforts, level) {
			return e, true
		}
	}
	return lowest, true
}
