package settings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"recap/internal/tokens"
)

// Retired keys.
const (
	thresholdTokens  = "compaction.thresholdTokens"
	thresholdPercent = "compaction.thresholdPercent"
	compactionModel  = "compactionModel" // also in compaction and in each of modelOverrides
	overrides        = "modelOverrides"
	snapcompact      = "snapcompact" // how keys of the strategy of that name begin
)

// LegacyStrategies are the strategies of older agents. Each counts as summary now; off also turns
// compaction off.
var LegacyStrategies = []string{"snap", "snapcompact", "shake", "shake-summary", "context-full", "handoff", strategyOff}

const strategyOff = "off"

// Retired reports whether a dotted key was a setting once: Migrate knows what became of it.
func Retired(name string) bool {
	switch name {
	case thresholdTokens, thresholdPercent, compactionModel, "compaction." + compactionModel:
		return true
	}
	return Dropped(name) || strings.HasPrefix(name, overrides+".") && strings.HasSuffix(name, "."+compactionModel)
}

// Dropped reports whether nothing became of a retired key.
func Dropped(name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(name, "compaction."), snapcompact)
}

// Migrate turns the values of one source into settings as they are today: retired strategies and
// keys become their successors, and every step is noted (spec/summary §12.5). Values of keys that
// are none are left out. The given values stay as they are.
func Migrate(values []Value) Loaded {
	m := migration{in: map[string]Value{}, out: Loaded{Values: map[string]Value{}}}
	for _, v := range values {
		m.in[v.Key] = v
		m.plain(v)
	}
	m.strategy()
	m.threshold()
	m.model(values)
	for _, v := range values {
		if Dropped(v.Key) {
			m.note(v, "is retired and has no effect")
		}
	}
	slices.SortStableFunc(m.out.Notes, func(a, b Note) int { return cmp.Compare(a.Line, b.Line) })
	return m.out
}

type migration struct {
	in  map[string]Value
	out Loaded
}

func (m *migration) note(at Value, format string, args ...any) {
	m.out.Notes = append(m.out.Notes, Note{Where: at.Where, Line: at.Line, Key: at.Key, Message: fmt.Sprintf(format, args...)})
}

func (m *migration) bad(at Value, message string) {
	m.out.Problems = append(m.out.Problems, Problem{Where: at.Where, Line: at.Line, Key: at.Key, Message: message})
}

// become makes a value that was found under a retired key the value of its successor.
func (m *migration) become(key, text string, from Value) {
	m.out.Values[key] = Value{Key: key, Text: text, Where: from.Where, Line: from.Line, From: cmp.Or(from.From, from.Key)}
}

// plain takes a value that is still a setting, in the form recap.yaml would have it.
func (m *migration) plain(v Value) {
	k, ok := Lookup(v.Key)
	if !ok || v.Key == "compaction.strategy" || v.Text == "" && k.Default == "" {
		return
	}
	switch k.Type {
	case Bool, Enum:
		v.Text = strings.ToLower(v.Text)
	case Int:
		if n, ok := wholeNumber(v.Text); ok {
			if v.Key == "compaction.modelContextWindow" && n < 0 { // older files: -1 = unset
				return
			}
			if c := k.Clamp(n); c != n {
				m.note(v, "%d counts as %d", n, c)
				n = c
			}
			v.Text = strconv.FormatInt(n, 10)
		}
	case Threshold:
		t := tokens.ParseThreshold(v.Text)
		if t.Kind == tokens.KindAuto && t.Invalid == "" {
			v.Text = "auto"
		} else if t.Invalid != "" {
			m.note(v, "%s is neither auto, a percentage (85%%) nor a number of tokens (170000): it counts as auto", quote(v.Text))
			m.out.Values[v.Key] = v
			return
		}
	case Chain, URL:
	}
	if wrong := k.Check(v.Text); wrong != "" {
		m.bad(v, wrong)
		return
	}
	m.out.Values[v.Key] = v
}

// strategy knows one strategy and many that were.
func (m *migration) strategy() {
	v, ok := m.in["compaction.strategy"]
	token := strings.ToLower(v.Text)
	switch {
	case !ok || token == "":
		return
	case token == StrategySummary:
		v.Text = token
		m.out.Values[v.Key] = v
		return
	case token == strategyOff:
		m.note(v, "the strategy off is retired: compaction.enabled is false instead")
		m.become("compaction.enabled", "false", v)
	case slices.Contains(LegacyStrategies, token):
		m.note(v, "the strategy %s is retired: summary is used", token)
	default:
		m.note(v, "the strategy %s is unknown: summary is used", quote(v.Text))
	}
	m.become("compaction.strategy", StrategySummary, v)
}

// threshold folds the two retired ways to say it into one: they count only while the threshold is
// plain auto, tokens before percent.
func (m *migration) threshold() {
	current := m.in["compaction.threshold"]
	t := tokens.ParseThreshold(current.Text)
	settled := "compaction.threshold"
	taken := t.Kind != tokens.KindAuto || t.Invalid != ""
	for _, old := range []struct{ key, unit string }{{thresholdTokens, ""}, {thresholdPercent, "%"}} {
		v, ok := m.in[old.key]
		if !ok || v.Text == "" {
			continue
		}
		n, err := strconv.ParseFloat(strings.ReplaceAll(v.Text, "_", ""), 64)
		switch {
		case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
			m.bad(v, quote(v.Text)+" is no number")
		case n <= 0: // what older agents write for unset
		case taken:
			m.note(v, "is retired and has no effect beside %s", settled)
		default:
			text := strconv.FormatFloat(n, 'f', -1, 64) + old.unit
			m.note(v, "is retired: read as compaction.threshold %s", text)
			m.become("compaction.threshold", text, v)
			taken, settled = true, old.key
		}
	}
}

// model finds the candidate that older agents kept elsewhere: beside the chain, at the top, or with
// the first model that has one.
func (m *migration) model(values []Value) {
	settled := ""
	if m.in["compaction.model"].Text != "" {
		settled = "compaction.model"
	}
	for _, of := range []func(key string) bool{
		func(key string) bool { return key == "compaction."+compactionModel },
		func(key string) bool { return key == compactionModel },
		func(key string) bool { return strings.HasPrefix(key, overrides+".") && Retired(key) },
	} {
		for _, v := range values {
			if v.Text == "" || !of(v.Key) {
				continue
			}
			if settled != "" {
				m.note(v, "is retired and has no effect beside %s", settled)
				continue
			}
			m.note(v, "is retired: read as compaction.model %s", quote(v.Text))
			m.become("compaction.model", v.Text, v)
			settled = v.Key
		}
	}
}

// quote shows a text of any length as one short word.
func quote(text string) string {
	const most = 60
	if len(text) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return strconv.Quote(text)
}
