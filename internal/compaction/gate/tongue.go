package gate

import (
	"strings"
	"unicode"
)

// tongueName guesses the language of prose: by script, and for Latin script by function words. It
// returns "" where the text does not tell.
func tongueName(text string) string {
	var scripts [len(scriptNames)]int
	ukrainian := 0
	for _, r := range text {
		if r < 0x80 {
			if r|0x20 >= 'a' && r|0x20 <= 'z' {
				scripts[latin]++
			}
			continue
		}
		if strings.ContainsRune("іїєґІЇЄҐ", r) {
			ukrainian++
		}
		for i := range scriptTables {
			if unicode.Is(scriptTables[i], r) {
				scripts[i]++
				break
			}
		}
	}
	// Kana among Han is Japanese, and one character of these scripts says as much as three letters of
	// the Latin ones, of which every technical text is full.
	if kana := scripts[hiragana]; kana > 0 && kana*6 >= scripts[han] {
		scripts[hiragana] += scripts[han]
		scripts[han] = 0
	}
	best, count := latin, scripts[latin]/3
	for i, n := range scripts {
		if i != latin && n > count {
			best, count = i, n
		}
	}
	switch {
	case best == latin:
		return latinTongue(text)
	case scriptNames[best] == "Russian" && ukrainian*20 >= count:
		return "Ukrainian"
	}
	return scriptNames[best]
}

const (
	latin    = 0
	hiragana = 1
	han      = 2
)

var (
	scriptNames  = [...]string{"Latin", "Japanese", "Chinese", "Korean", "Russian", "Greek", "Arabic", "Hebrew", "Thai", "Hindi"}
	scriptTables = [...]*unicode.RangeTable{
		unicode.Latin, kana, unicode.Han, unicode.Hangul, unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew, unicode.Thai, unicode.Devanagari,
	}
	kana = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x3041, Hi: 0x3096, Stride: 1}, {Lo: 0x30A1, Hi: 0x30FA, Stride: 1}}}
)

// The evidence that function words must give.
const (
	functionWords  = 3
	functionShare  = 12  // at least one in so many words
	functionMargin = 1.4 // against the language that comes second
)

func latinTongue(text string) string {
	var counts [len(latinNames)]int
	total := 0
	seen := map[string]bool{} // the same few letters over and over are no evidence
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		total++
		if len(word) > 14 {
			continue
		}
		word = strings.ToLower(word)
		if len(word) == 1 && seen[word] {
			continue
		}
		seen[word] = true
		for _, i := range latinWords[word] {
			counts[i]++
		}
	}
	best, second := -1, 0
	for i, n := range counts {
		switch {
		case best < 0 || n > counts[best]:
			if best >= 0 {
				second = max(second, counts[best])
			}
			best = i
		default:
			second = max(second, n)
		}
	}
	n := counts[best]
	if n < functionWords || n*functionShare < total || float64(n) < functionMargin*float64(second) {
		return ""
	}
	return latinNames[best]
}

var latinNames = [...]string{"English", "German", "French", "Spanish", "Portuguese", "Italian", "Dutch", "Polish", "Turkish", "Swedish"}

// latinWords maps a function word to the languages that have it.
var latinWords = func() map[string][]int {
	m := map[string][]int{}
	for i, words := range [...]string{
		"i a how my we me so just please now here show there the and is are this that with for have has been not but from was were it its you can must should will to of in on at by as be or an if when which who what after before into than then there they still only no all any each do does did",
		"der die das und ist nicht mit ein eine einen einem einer auf für wir ich auch wird werden noch aber sind oder den dem des im zu zum zur von bei nach als wie wenn dass es sie hat wurde wurden nur kein keine sich am vor über muss",
		"le les des est dans une un pour pas avec sur qui vous nous je mais aussi cette ce sont être et du au aux par que ne plus il elle ont a été sans en se la de son sa ou où doit fait tout",
		"el los las una un por con para está pero como más esto hay cuando también ese muy del al que se no lo su sus en y es fue han ha sin ya o si le les debe todo toda este esta entre sobre hasta de la",
		"o os a as um uma não com para mas como está isso você também são quando pelo pela ou ao à aos às que do da dos das no na nos nas em por sem foi e é se seu sua ainda já nunca porque elas eles deve este esta todo toda de mais",
		"il lo gli una un non con per che sono della del dei delle questo questa anche ma come quando nel nella perché ho è e si da al alla ai di ha le la i in deve stato più senza",
		"het een niet van met voor dat zijn ook maar wordt worden naar heb heeft nog wel of moet je de en in is te op aan bij om als die er dit deze door uit over geen",
		"nie jest się na do tak jak ale czy dla tego już są przez może był oraz z w i o to że po od za ze nad przed tylko jeszcze być został",
		"bir ve bu için ile değil çok ama gibi daha olarak ne var yok mi kadar sonra da de o her ya veya en henüz olan önce",
		"och är det att inte en ett som med för på jag men kan ska vi den till av har de om från eller när efter måste bara inga vid",
	} {
		for w := range strings.FieldsSeq(words) {
			m[w] = append(m[w], i)
		}
	}
	return m
}()
