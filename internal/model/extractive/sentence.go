package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences longer or shorter than this are no rules anyone states.
const (
	sentenceMin = 8   // bytes
	sentenceMax = 480 // bytes
)

// scanned bounds how much of one message is searched for sentences: beyond that it is a paste.
const scanned = 64 << 10

// eachSentence calls f for every sentence of prose in s: fenced blocks are skipped.
func eachSentence(s string, f func(string)) {
	if len(s) > scanned {
		s = strings.ToValidUTF8(s[:scanned], "")
	}
	fenced := false
	for l := range strings.SplitSeq(s, "\n") {
		t := strings.TrimSpace(l)
		if strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			fenced = !fenced
			continue
		}
		if !fenced && len(t) >= sentenceMin {
			splitSentences(strings.TrimLeft(t, "-*>#•· \t"), f)
		}
	}
}

func splitSentences(l string, f func(string)) {
	start := 0
	emit := func(end int) {
		if s := strings.TrimSpace(l[start:end]); len(s) >= sentenceMin && len(s) <= sentenceMax {
			f(s)
		}
		start = end
	}
	for i := 0; i < len(l); {
		r, size := utf8.DecodeRuneInString(l[i:])
		i += size
		switch r {
		case '。', '！', '？':
			emit(i)
		case '.', '!', '?', '؟', '।', '۔':
			if i == len(l) || l[i] == ' ' {
				emit(i)
			}
		}
	}
	emit(len(l))
}

// markers tell what kind of statement a sentence is. Words match whole words in lower case, phrases
// anywhere: scripts without spaces and expressions of several words need them.
type markers struct {
	words   map[string]struct{}
	phrases []string // ASCII only
	foreign []string // searched only in sentences with other characters
}

func marks(words string, phrases ...string) markers {
	m := markers{words: map[string]struct{}{}}
	for _, w := range strings.Fields(words) {
		m.words[w] = struct{}{}
	}
	for _, p := range phrases {
		if isASCII(p) {
			m.phrases = append(m.phrases, p)
		} else {
			m.foreign = append(m.foreign, p)
		}
	}
	return m
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// in reports whether the sentence, in lower case, has one of the markers.
func (m markers) in(lower string) bool {
	found := false
	eachWord(lower, func(w string) bool {
		_, found = m.words[w]
		return !found
	})
	if found {
		return true
	}
	for _, p := range m.phrases {
		if strings.Contains(lower, p) {
			return true
		}
	}
	if isASCII(lower) {
		return false
	}
	for _, p := range m.foreign {
		if strings.Contains(lower, p) {
			return true
		}
	}
	return false
}

func eachWord(s string, f func(string) bool) {
	start := -1
	for i, r := range s {
		if unicode.IsLetter(r) || unicode.IsMark(r) || r == '\'' || r == '’' {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && !f(s[start:i]) {
			return
		}
		start = -1
	}
	if start >= 0 {
		f(s[start:])
	}
}

// Statements worth keeping, in the languages sessions are held in.
var (
	constraintMarks = marks(
		`must mustn't mustn’t never always only don't don’t avoid forbidden required ensure prefer shouldn't shouldn’t prohibited
		nunca sempre somente apenas jamais evite evitar deve devem deveria obrigatório proibido prefira
		siempre solo sólo jamás debe deben evita prohibido prefiero
		toujours seulement uniquement interdit doit doivent éviter jamais
		nie niemals immer nur muss müssen darf dürfen vermeide verboten
		никогда всегда только нельзя должен должна должно должны обязательно запрещено запрещается избегай
		يجب فقط أبدا أبدًا أبداً دائما دائمًا دائماً ممنوع تجنب لازم`,
		"do not ", "make sure", "should not", "at most", "at least", "no more than", "instead of", "leave out",
		"não use", "não quero", "não faça", "não mexa", "não altere", "não pode", "no uses", "no quiero", "ne pas", "ne touche",
		"не надо", "не трогай", "не используй", "не меняй", "لا تستخدم", "لا تغير", "لا تلمس", "لا تحذف", "لا أريد",
		"必ず", "絶対", "決して", "常に", "のみ", "だけに", "だけを", "だけで", "しないで", "してはいけ", "禁止", "べき", "なければな", "避けて", "ないでください",
		"必须", "不要", "不能", "不得", "禁止", "永远", "总是", "始终", "只能", "只用", "绝不", "务必", "避免", "一律",
		"반드시", "절대", "항상", "하지 마", "해야 ", "금지",
	)
	decisionMarks = marks(
		`decided decide decision chose choose chosen agreed settled opted picked
		decidi decidimos decidido escolhi escolhemos optei optamos
		decidí elegí elegimos opté
		décidé choisi
		entschieden beschlossen
		решил решила решили решено выбрали выбрал договорились
		قررت قررنا اخترت اخترنا اتفقنا`,
		"let's use", "let's go with", "let’s use", "going with", "go with", "we will use", "we'll use", "i'll use", "instead of",
		"rather than", "the reason is", "em vez de", "vamos usar", "vou usar", "en lugar de", "vamos a usar", "au lieu de",
		"statt ", "вместо", "будем использовать", "будет использ", "بدلا من", "بدلاً من", "سنستخدم", "سأستخدم",
		"决定", "选择", "改用", "而不是", "采用", "決め", "採用", "代わりに", "ことにし", "ことにする", "결정", "대신",
	)
	planMarks = marks(
		`next todo remaining afterwards
		próximo próxima falta faltam depois
		siguiente falta después
		ensuite reste prochain
		danach nächste nächster
		далее затем осталось следующий
		التالي بعدها المتبقي`,
		"still need", "still to do", "then i", "i'll ", "i will ", "left to do", "a seguir", "a continuación", "noch zu", "следующ", "بعد ذلك",
		"接下来", "下一步", "还需要", "剩下", "次に", "次は", "残り", "これから", "다음",
	)
)

// asks reports whether a text ends with a question.
func asks(s string) bool {
	s = strings.TrimRight(strings.TrimSpace(s), "*_)）”\"' ")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟") ||
		strings.HasSuffix(s, "ですか。") || strings.HasSuffix(s, "ますか。") || strings.HasSuffix(s, "吗。")
}
