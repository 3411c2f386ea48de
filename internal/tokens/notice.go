package tokens

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"recap/internal/contract"
)

// Notice tells the user of a session where its threshold lies when that is not where the setting
// says (spec/summary §2.6).
type Notice struct {
	Level   string `json:"level"` // info or warning
	Message string `json:"message"`
}

// The levels of a Notice.
const (
	NoticeInfo    = "info"
	NoticeWarning = "warning"
)

// ThresholdOf is the threshold of an operation, with the retired key it was read from.
func ThresholdOf(s contract.Settings) Threshold {
	t := ParseThreshold(s.Threshold)
	t.Legacy = s.ThresholdFrom
	return t
}

// Notices tells what there is to tell about a threshold on a window of that many tokens, once for
// each setting and window. Announced holds what was told before; pass the second result the next
// time. It is plain text, so it can be stored with the session. An unknown window (0 or less) has
// nothing to tell.
func Notices(t Threshold, window int, reserve *int, announced []string) ([]Notice, []string) {
	if window <= 0 {
		return nil, announced
	}
	list := notices(t, window, reserve)
	key := announcement(t, window)
	if len(list) == 0 || slices.Contains(announced, key) {
		return nil, announced
	}
	return list, append(slices.Clone(announced), key)
}

// announcement names a setting on a window.
func announcement(t Threshold, window int) string {
	key := strconv.Itoa(window) + " " + string(t.Kind)
	if t.Value != 0 {
		key += " " + number(t.Value)
	}
	if t.Legacy != "" {
		key += " " + t.Legacy
	}
	if t.Invalid != "" {
		key += " " + excerpt(t.Invalid)
	}
	return key
}

func notices(t Threshold, window int, reserve *int) []Notice {
	var list []Notice
	r := Resolve(t, window, reserve)
	at := describe(t, r, window)
	if t.Invalid != "" {
		list = append(list, Notice{NoticeWarning, fmt.Sprintf(
			"compaction.threshold is %s, which is neither auto, a percentage (85%%) nor a number of tokens (170000): compacting at %s instead. Set it to one of these.",
			excerpt(t.Invalid), at)})
	}
	if t.Kind == KindAbsolute && r.Clamped {
		list = append(list, Notice{NoticeInfo, fmt.Sprintf(
			"The compaction threshold of %s tokens is beyond what this model's window of %s holds: compacting at %s. A model with a larger window uses all of it.",
			Short(int(min(t.Value, math.MaxInt32*1024))), Short(window), at)})
	}
	if t.Legacy != "" {
		list = append(list, Notice{NoticeInfo, fmt.Sprintf(
			"Compacting at %s, as the retired setting %s says. Set compaction.threshold instead.", at, t.Legacy)})
	}
	return list
}

// describe says where a threshold lies and why there.
func describe(t Threshold, r Resolved, window int) string {
	at := Short(r.Tokens)
	switch t.Kind {
	case KindPercent:
		return fmt.Sprintf("%s (%s%% of %s)", at, number(min(max(t.Value, 1), 99)), Short(window))
	case KindAbsolute:
		if r.Clamped {
			return fmt.Sprintf("%s (fixed %s, capped by the window)", at, Short(int(min(t.Value, math.MaxInt32*1024))))
		}
		return at + " (fixed)"
	case KindReserve:
		return fmt.Sprintf("%s (%s window minus reserveTokens)", at, Short(window))
	case KindAuto:
	}
	return fmt.Sprintf("%s (auto: %s window minus reserve)", at, Short(window))
}

// Short renders a number of tokens for people: 950, 170k, 1M, 1.5M.
func Short(n int) string {
	switch {
	case n >= 999_500: // else 999,600 were 1000k
		return number(math.Round(float64(n)/1e5)/10) + "M"
	case n >= 1000:
		return number(math.Round(float64(n)/1000)) + "k"
	}
	return strconv.Itoa(n)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// excerpt quotes what a person set, bounded.
func excerpt(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return strconv.Quote(text)
}
