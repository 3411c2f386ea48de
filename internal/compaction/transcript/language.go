package transcript

import (
	"strings"
	"unicode"
)

// languageSample is how many bytes of users' text are looked at, from the newest on: people switch
// languages, and the notes are for the one who is writing now.
const languageSample = 64 << 10

// Language names the language the users write in, in English, or "" where the text does not tell. It
// is a guess by script and, for Latin text, by frequent words; it only serves to name the language in
// an instruction that asks for it anyway.
func Language(blocks []Block) string {
	scripts, words, seen := map[string]int{}, map[string]int{}, 0
	for i := len(blocks) - 1; i >= 0 && seen < languageSample; i-- {
		if blocks[i].Role != User {
			continue
		}
		text := prose(blocks[i].Text, languageSample-seen)
		seen += len(text)
		countScripts(text, scripts)
		countWords(text, words)
	}
	letters := 0
	for _, n := range scripts {
		letters += n
	}
	if letters < 20 {
		return ""
	}
	// A character of these scripts says about as much as three letters.
	if name := dominant(scripts, letters); name != "Latin" {
		return name
	}
	return likeliest(words)
}

// likeliest picks the language of Latin text: half of the words that say something must be its own, and
// a related language must fit clearly less.
func likeliest(words map[string]int) string {
	best, count, second := "", 0, 0
	for name, n := range words {
		switch {
		case name == anyLanguage:
		case n > count || (n == count && name < best):
			best, count, second = name, n, max(second, count)
		default:
			second = max(second, n)
		}
	}
	if count < 3 || count*2 < words[anyLanguage] || count*4 < second*5 {
		return ""
	}
	return best
}

// prose returns at most limit bytes of a text without fenced code and pasted lines that are long.
func prose(text string, limit int) string {
	var b strings.Builder
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if fenced || len(line) > 2000 {
			continue
		}
		if b.Len()+len(line) > limit {
			break
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

var scriptNames = []struct {
	table *unicode.RangeTable
	name  string
}{
	{unicode.Latin, "Latin"},
	{unicode.Hiragana, "Japanese"},
	{unicode.Katakana, "Japanese"},
	{unicode.Han, "Chinese"},
	{unicode.Hangul, "Korean"},
	{unicode.Cyrillic, "Russian"},
	{unicode.Greek, "Greek"},
	{unicode.Arabic, "Arabic"},
	{unicode.Hebrew, "Hebrew"},
	{unicode.Thai, "Thai"},
	{unicode.Devanagari, "Hindi"},
}

func countScripts(text string, into map[string]int) {
	for _, r := range text {
		if r < 0x80 {
			if r|0x20 >= 'a' && r|0x20 <= 'z' {
				into["Latin"]++
			}
			continue
		}
		if strings.ContainsRune("іїєґІЇЄҐ", r) {
			into["Ukrainian"] += 8 // letters Russian does not have
		}
		for _, s := range scriptNames {
			if unicode.Is(s.table, r) {
				into[s.name]++
				break
			}
		}
	}
}

// dominant picks the script of the prose. Latin letters count a third beside other scripts, because
// every technical text is full of them.
func dominant(scripts map[string]int, letters int) string {
	if kana := scripts["Japanese"]; kana > 0 && kana*5 >= scripts["Chinese"] {
		scripts["Japanese"] += scripts["Chinese"]
		scripts["Chinese"] = 0
	}
	if scripts["Ukrainian"]*4 >= scripts["Russian"] && scripts["Ukrainian"] > 0 {
		scripts["Ukrainian"] += scripts["Russian"]
		scripts["Russian"] = 0
	}
	best, count := "Latin", scripts["Latin"]/3
	for _, s := range []string{"Arabic", "Chinese", "Greek", "Hebrew", "Hindi", "Japanese", "Korean", "Russian", "Thai", "Ukrainian"} {
		if scripts[s] > count {
			best, count = s, scripts[s]
		}
	}
	if best != "Latin" && count*20 < letters {
		return "Latin"
	}
	return best
}

// anyLanguage counts the words that are frequent in any of the languages.
const anyLanguage = ""

// frequent maps a word to the languages it is frequent in. Related languages share many words, so these
// count for each of them.
var frequent = func() map[string][]string {
	m := map[string][]string{}
	for name, words := range map[string]string{
		"English":    "the and is are this that with for have please should what when not but from was it you can",
		"German":     "der die das und ist nicht mit ein eine auf für bitte wir ich auch wird noch aber sind oder um",
		"French":     "le les des est dans une pour pas avec sur qui vous nous je mais aussi cette sont être s'il",
		"Spanish":    "el los las una por con para está pero como más esto hay cuando también ese muy favor del y en sin sus este esta hasta desde",
		"Portuguese": "os uma não com para mas como está isso você também fazer são quando pelo ou ao à favor dos em um por sem seu sua foi tem até só já ainda nunca precisa",
		"Italian":    "il gli una non con per che sono della questo anche ma come quando nel perché ho è favore",
		"Dutch":      "het een niet van met voor dat zijn ook maar wordt naar graag deze heb nog wel of moet je",
		"Polish":     "nie jest się na że do proszę tak jak ale czy dla tego już są przez może był oraz mnie",
		"Turkish":    "bir ve bu için ile değil çok ama gibi lütfen daha olarak ne var yok şimdi mi kadar sonra",
		"Swedish":    "och är det att inte en som med för på jag men kan ska vi ett den till av har",
	} {
		for word := range strings.FieldsSeq(words) {
			m[word] = append(m[word], name)
		}
	}
	return m
}()

func countWords(text string, into map[string]int) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		if len(word) > 12 {
			continue
		}
		names := frequent[strings.ToLower(word)]
		for _, name := range names {
			into[name]++
		}
		if len(names) > 0 {
			into[anyLanguage]++
		}
	}
}
