package settings

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"recap/internal/contract"
	"recap/internal/tokens"
)

// Type says what the text of a value must look like.
type Type string

// The types of settings.
const (
	Bool      Type = "true or false"
	Int       Type = "whole number"
	Enum      Type = "one of"
	Threshold Type = "threshold" // auto, 85%, 170000 or reserve
	Chain     Type = "chain"     // names of model candidates, separated by commas
	URL       Type = "url"
)

// Key is one setting: what may be written for it and what holds when nothing is.
type Key struct {
	Name    string // dotted: compaction.keepRecentTokens
	Type    Type
	Default string   // as a person would write it; "" = unset, which no number stands for
	Min     int64    // of an Int
	Max     int64    // of an Int, 0 = none
	Clamped bool     // a number outside of Min and Max counts as the nearer of them
	OneOf   []string // of an Enum
	Doc     string
}

// Table lists every setting, sections together.
var Table = []Key{
	{Name: "compaction.enabled", Type: Bool, Default: "true", Doc: "whether sessions are compacted without anybody asking; idle compaction has its own switch"},
	{Name: "compaction.strategy", Type: Enum, Default: StrategySummary, OneOf: []string{StrategySummary}, Doc: "how history is compacted: summary"},
	{Name: "compaction.threshold", Type: Threshold, Default: "auto", Doc: "when automatic compaction starts: auto, 85%, 170000 or reserve"},
	{Name: "compaction.reserveTokens", Type: Int, Doc: "tokens kept free for the answer; unset is not the same as 16384"},
	{Name: "compaction.keepRecentTokens", Type: Int, Default: "10000", Min: 1, Doc: "tokens of recent messages that stay as they are"},
	{Name: "compaction.midTurnEnabled", Type: Bool, Default: "true", Doc: "whether a turn may be compacted between two of its requests"},
	{Name: "compaction.autoContinue", Type: Bool, Default: "true", Doc: "whether the agent goes on by itself after an automatic compaction"},
	{Name: "compaction.supersedeReads", Type: Bool, Default: "true", Doc: "whether a file's older reads give way to a newer one"},
	{Name: "compaction.dropUseless", Type: Bool, Default: "true", Doc: "whether results that a tool marked as uneventful are dropped"},
	{Name: "compaction.remote", Type: Bool, Default: "true", Doc: "whether a provider that can compact on its side is asked to"},
	{Name: "compaction.remoteEndpoint", Type: URL, Doc: "URL of a summariser of your own; empty = a model candidate writes the summary"},
	{Name: "compaction.model", Type: Chain, Doc: "candidates in the order they are asked; empty = the session's own model"},
	{Name: "compaction.modelContextWindow", Type: Int, Default: "0", Doc: "window, in tokens, that every candidate is taken to have; 0 = its own"},
	{Name: "compaction.modelFallbackStrategy", Type: Enum, Default: contract.FallbackAuto, OneOf: []string{contract.FallbackAuto, contract.FallbackConfiguredOnly}, Doc: "who is asked after compaction.model: auto = the session's own model and others, configured-only = nobody"},
	{Name: "compaction.handoffSaveToDisk", Type: Bool, Default: "false", Doc: "whether a handoff document is also written beside the session"},
	{Name: "compaction.idleEnabled", Type: Bool, Default: "false", Doc: "whether sessions nobody is using are compacted"},
	{Name: "compaction.idleThresholdTokens", Type: Int, Default: "200000", Doc: "smallest context, in tokens, that idle compaction takes; 0 = it takes nothing"},
	{Name: "compaction.idleTimeoutSeconds", Type: Int, Default: "300", Min: 60, Max: 3600, Clamped: true, Doc: "silence, in seconds, before idle compaction: 60 to 3600"},
	{Name: "branchSummary.enabled", Type: Bool, Default: "false", Doc: "whether leaving a branch offers a summary of it"},
	{Name: "branchSummary.reserveTokens", Type: Int, Default: "16384", Doc: "tokens of the window kept free when a branch is summarised"},
	{Name: "contextPromotion.enabled", Type: Bool, Default: "false", Doc: "whether a model with a larger window is tried before compaction"},
	{Name: "display.collapseCompacted", Type: Bool, Default: "true", Doc: "whether only what follows the newest compaction is shown"},
	{Name: "retry.enabled", Type: Bool, Default: "true", Doc: "whether a candidate is asked again after a transient failure"},
	{Name: "retry.maxRetries", Type: Int, Default: "10", Max: 60, Doc: "tries after the first"},
	{Name: "retry.baseDelayMs", Type: Int, Default: "500", Min: 1, Doc: "first delay in milliseconds; it doubles up to 60 s"},
	{Name: "retry.maxDelayMs", Type: Int, Default: "300000", Doc: "longest delay of the agent's own turns, in milliseconds; recap reads it and waits by retry.maxWait"},
}

// Lookup finds a setting by its dotted name.
func Lookup(name string) (Key, bool) {
	i := slices.IndexFunc(Table, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return Table[i], true
}

// Check says what is wrong with a value, "" if nothing is. The empty text means unset and is right
// wherever unset is the default. The answer never repeats a URL, which may hold a password.
func (k Key) Check(text string) string {
	if text == "" && k.Default == "" {
		return ""
	}
	switch k.Type {
	case Bool:
		if text != "true" && text != "false" {
			return fmt.Sprintf("%q is neither true nor false", text)
		}
	case Int:
		n, ok := wholeNumber(text)
		if !ok {
			return fmt.Sprintf("%q is no whole number", text)
		}
		return k.checkRange(n)
	case Enum:
		if !slices.Contains(k.OneOf, text) {
			return fmt.Sprintf("%q is unknown (known: %s)", text, strings.Join(k.OneOf, ", "))
		}
	case Threshold:
		if tokens.ParseThreshold(text).Invalid != "" {
			return fmt.Sprintf("%q is neither auto, reserve, a percentage nor a number of tokens", text)
		}
	case URL:
		return checkURL(text)
	case Chain: // any names: whether they are configured is for the configuration to say
	}
	return ""
}

func (k Key) checkRange(n int64) string {
	switch {
	case k.Clamped || n >= k.Min && (k.Max == 0 || n <= k.Max):
		return ""
	case k.Max > 0:
		return fmt.Sprintf("must be between %d and %d, is %d", k.Min, k.Max, n)
	case k.Min == 0:
		return fmt.Sprintf("must not be negative, is %d", n)
	}
	return fmt.Sprintf("must be at least %d, is %d", k.Min, n)
}

// Clamp brings the number of a clamped setting within its range.
func (k Key) Clamp(n int64) int64 {
	if !k.Clamped {
		return n
	}
	return max(k.Min, min(n, k.Max))
}

func checkURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "is no URL of the form http://host"
	}
	if u.User != nil {
		return "holds credentials: put the key into a model candidate's apiKeyEnv or apiKeyFile"
	}
	return ""
}

// wholeNumber reads a number as settings files hold it: 16384, 16_384, 1.6e4. Numbers an agent could
// not hold exactly are none.
func wholeNumber(text string) (int64, bool) {
	text = strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}
