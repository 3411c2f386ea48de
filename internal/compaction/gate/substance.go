package gate

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"recap/internal/compaction/gate/outline"
	"recap/internal/contract"
)

// The letters an answer must have besides markup. A small session may have a small summary.
const (
	minLetters      = 40
	minLettersSmall = 12
)

// letters counts letters outside headings and markup. Characters of scripts that write a word in one
// or two of them count as two. Digits count: they are often the point.
func letters(lines []outline.Line) int {
	n := 0
	for _, l := range lines {
		if l.Heading.Level > 0 || placeholder(l) {
			continue
		}
		for _, r := range l.Text {
			switch {
			case r < utf8.RuneSelf: // most of what there is
				if 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' {
					n++
				}
			case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
				n += 2
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				n++
			}
		}
	}
	return n
}

var placeholders = regexp.MustCompile(`(?i)^[\[(<{]*\s*(?:none|none found|n/?a|null|nil|nothing|nothing (?:yet|here|to report)|empty|tbd|todo|` +
	`summary(?: (?:goes )?here)?|your summary(?: here)?|insert summary(?: here)?|placeholder|lorem ipsum.*|` +
	`no (?:content|conversation|messages?)(?: to summari[sz]e)?|untitled|\.{2,}|…|无|暂无|なし|нет|لا شيء|nenhum[ao]?|ninguno)\s*[\])>}]*\.?$`)

// placeholder reports whether the line says only that there is nothing.
func placeholder(l outline.Line) bool {
	s := l.Text
	if item, ok := l.ListItem(); ok {
		s = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(item, "[ ]"), "[x]"))
	}
	s = strings.Trim(strings.TrimSpace(s), "*_`")
	return s == "" || (len(s) < 80 && placeholders.MatchString(s))
}

// checkSubstance is G1.
func checkSubstance(in *Input, d *document, _ *Measurements) contract.Code {
	limit := minLetters
	if in.Small() {
		limit = minLettersSmall
	}
	if d.letters < limit {
		return CodeNoSubstance
	}
	return ""
}

// refusals are the ways to decline, in the languages sessions are held in. Each needs the first
// person and the act that is declined, so that a report about an inability does not match.
var refusals = regexp.MustCompile(`(?i)` + strings.Join([]string{
	// English
	`\bI(?:'m|’m| am) (?:really |very |so |truly )?(?:sorry|afraid)\b`,
	`\b(?:sorry|apologies),? (?:but )?I\b`,
	`\bI (?:must |have to |need to |will have to )?(?:respectfully |politely )?(?:decline|refuse)\b`,
	`\bI(?:'m|’m| am) (?:not able|unable|not comfortable|not permitted|not allowed) (?:to |with |in )?(?:\w+ )?(?:help|assist|summari[sz]|provid|process|complet|continu|fulfil|comply|do (?:that|this)|share|engag)`,
	`\bI (?:can(?:'t|’t|not)|could(?:n't|n’t| not)|won(?:'t|’t)|will not|do not|don(?:'t|’t)) (?:be able to )?(?:\w+ )?(?:help|assist|summari[sz]e|comply|fulfil|engage|provide|process|do (?:that|this)|have access|see any|continue with)`,
	`\bas an? (?:AI|artificial|language model|large language)`,
	`\bthere is no conversation\b`, `\bplease (?:share|provide|paste|send) (?:me )?(?:the|a|your) (?:\w+ )?(?:conversation|transcript|excerpt|text)`,
	// Portuguese, Spanish, French, German, Italian
	`(?:^|\P{L})(?:desculpe|sinto muito|lamento),? `, `não (?:posso|consigo|poderei) (?:ajud|resum|fornec|atend|cumpr|continu|process|fazer)`,
	`(?:^|\P{L})lo siento`, `no puedo (?:ayud|resum|proporcion|cumpl|continu|proces|hacer)`,
	`(?:^|\P{L})(?:désolé|je regrette)`, `je ne (?:peux|suis) pas (?:aider|résumer|en mesure|vous aider|capable|traiter|fournir|continuer)`,
	`(?:es )?tut mir leid`, `(?:kann|darf|werde) (?:ich )?(?:dir |ihnen |dabei |das |diese[rsn]? |leider )*(?:nicht|keine) (?:\S+ ){0,3}(?:helfen|zusammenfass|bereitstell|verarbeit)`,
	`(?:^|\P{L})mi dispiace`, `non posso (?:aiut|riassum|forn|continu|elabor)`,
	// Russian
	`(?:^|\P{L})(?:извините|простите|к сожалению),? ?(?:но )?я`, `я не (?:могу|смогу|в состоянии) (?:\S+ )?(?:помочь|резюмир|обобщ|предостав|выполн|обработ|продолж|сделать)`,
	// Chinese, Japanese, Korean, Arabic
	`(?:抱歉|对不起|很遗憾|不好意思)[，,。]`, `我(?:无法|不能|没有办法|不便)(?:帮助|协助|总结|概括|提供|处理|继续|完成|满足)`,
	`(?:申し訳(?:ありません|ございません)|すみませんが|恐れ入りますが)`, `(?:要約|対応|お手伝い|提供|回答|処理)(?:する(?:こと)?は?|することが)?(?:でき(?:ません|かねます)|いたしかねます)`,
	`죄송(?:합니다|하지만)`, `(?:도와|요약해|제공해) ?드릴 수 없`,
	`(?:آسف|أعتذر|عذرًا|عذراً|معذرة)`, `لا (?:أستطيع|يمكنني|أقدر) (?:\S+ )?(?:مساعد|تلخيص|تقديم|المساعدة|معالجة|إكمال)`,
}, "|"))

// quotation matches what somebody else is quoted as saying.
var quotation = regexp.MustCompile("`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|„[^“”\n]*[“”]")

// The shape of a refusal: it comes at once and it is short.
const (
	refusalWindow  = 200 // characters
	refusalLetters = 600
)

// checkRefusal is G2. It never fires on an answer with sections: a summary may well report that
// somebody could not do something.
func checkRefusal(_ *Input, d *document, _ *Measurements) contract.Code {
	if d.known >= 2 || d.any >= 3 || (d.known == 1 && d.letters > refusalLetters) {
		return ""
	}
	var head strings.Builder
	n := 0
	for _, l := range d.lines {
		if l.Fenced || l.Quoted || l.Heading.Level > 0 {
			continue
		}
		for _, r := range l.Text {
			if n++; n > refusalWindow {
				break
			}
			head.WriteRune(r)
		}
		head.WriteByte('\n')
		if n > refusalWindow {
			break
		}
	}
	if refusals.MatchString(quotation.ReplaceAllString(head.String(), "\"\"")) {
		return CodeRefusal
	}
	return ""
}

// toolMarkup are the beginnings of tool calls as models write them when they call one in plain text.
var toolMarkup = regexp.MustCompile(`(?i)^\s*(?:<(?:antml:)?(?:tool_calls?|function_calls?|invoke name=|function=|tool_use\b|parameter name=|tools?>)|` +
	`<\|(?:tool_calls?_begin|tool_calls_section_begin|tool▁calls▁begin|python_tag|tool_call)\|?>?|` +
	`\[TOOL_CALLS?\]|<｜tool▁calls▁begin｜>|<function_calls>|` +
	`\{\s*"(?:name|tool|tool_name|function)"\s*:\s*"[\w.-]+"\s*,\s*"(?:arguments|parameters|input|args)"\s*:|` +
	`(?:<\|channel\|>commentary )?to=functions\.)`)

// checkToolCall refuses an answer that calls a tool in its text. Markup in a fence, in a quote or
// behind other words on its line is a quotation.
func checkToolCall(_ *Input, d *document, _ *Measurements) contract.Code {
	for _, l := range d.lines {
		if !l.Fenced && !l.Quoted && toolMarkup.MatchString(l.Text) {
			return CodeToolCall
		}
	}
	// A fenced tool call that is the whole answer is no quotation either.
	if d.any == 0 && len(d.lines) > 2 && d.lines[0].Fenced && toolMarkup.MatchString(d.lines[1].Text) {
		return CodeToolCall
	}
	return ""
}
