package gate

import (
	"regexp"
	"slices"

	"recap/internal/compaction/gate/outline"
	"recap/internal/contract"
)

const (
	turnedShare = 0.8 // of a prohibition's words that its opposite shares
	turnedTerms = 3
)

var (
	// prohibition is how users forbid.
	prohibition = regexp.MustCompile(`(?i)\b(?:never|must not|mustn'?t|do not|don'?t|don’t|nunca|jamais|não|niemals|nie|no)\b|никогда|нельзя|\p{L}*не |禁止|不要|不得|ないで|してはいけ|ممنوع|لا `)
	// leaving is how prohibitions are worded without a "not".
	leaving = regexp.MustCompile(`(?i)skip|filter|exclu|drop|without|avoid|ignor|omit|leave|left|out|refus|block|untouched|unchanged|preserv|keep|kept|instead|rather|except|off-limits|pular|evitar|sem |ohne|пропус|исключ|кроме|跳过|排除|避|除|ない|不|勿|عدم|لا |دون`)
)

// polarTerms only say which way a rule points.
var polarTerms = map[string]bool{"never": true, "must": true, "always": true, "don": true, "nunca": true, "sempre": true, "jamais": true, "должен": true, "никогд": true}

// heaviestFirst sorts by weight and keeps the order otherwise.
func heaviestFirst(list []Anchor) []Anchor {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b Anchor) int { return weights[b.Class] - weights[a.Class] })
	return out
}

// checkConstraints refuses an answer whose rules have one of the user's prohibitions without its
// "not" (spec/gate §5a: polarity).
func checkConstraints(in *Input, d *document, m *Measurements) contract.Code {
	if in.Extractive {
		return ""
	}
	var rules [][]string
	for _, a := range in.Digest.mined {
		if a.Class != ClassConstraint || !prohibition.MatchString(a.Text) {
			continue
		}
		terms := slices.DeleteFunc(keyTerms(a.Text), func(t string) bool { return polarTerms[t] })
		if len(terms) >= turnedTerms {
			rules = append(rules, terms)
		}
	}
	if len(rules) == 0 {
		return ""
	}
	under := false
	for _, l := range d.lines {
		if l.Heading.Level > 0 {
			i := outline.FindTitle([]outline.Heading{outline.Constraints, outline.KeyDecisions}, l.Heading.Title)
			under = i >= 0
			continue
		}
		if !under || l.Fenced || l.Quoted || l.Blank() || forbids.MatchString(l.Text) || leaving.MatchString(l.Text) {
			continue
		}
		terms := slices.DeleteFunc(keyTerms(l.Text), func(t string) bool { return polarTerms[t] })
		set := map[string]bool{}
		for _, t := range terms {
			set[t] = true
		}
		for _, rule := range rules {
			if shareOf(rule, set) >= turnedShare && len(terms) <= len(rule)+2 {
				m.note(CodeConstraint, l.Text)
				return CodeConstraint
			}
		}
	}
	return ""
}
