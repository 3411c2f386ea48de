package gate

import (
	"strings"
	"unicode"

	"recap/internal/compaction/gate/outline"
	"recap/internal/contract"
)

// The numbers of the echo check (spec/gate §4b, G6).
const (
	echoWords    = 8
	echoShare    = 0.6  // of the conversation
	echoWide     = 0.8  // the same where a word is a character: eight of them are four words
	promptShare  = 0.2  // of the instruction
	mergedShare  = 0.97 // of the previous summary, when there was something to merge
	mergedTokens = 1000 // what counts as something
	echoMin      = 40   // sequences below which a share says nothing
)

// checkEcho is G6: how much of the answer's own prose is a copy of the conversation, of the
// instruction, or of the summary it was to bring up to date? Fences and quotes are exempt, and so is
// a summariser that quotes by design (DESIGN §11).
func checkEcho(in *Input, d *document, m *Measurements) contract.Code {
	if in.Extractive {
		return ""
	}
	if continuesTranscript(d.lines) {
		return CodeEchoesTranscript
	}
	if in.Small() {
		return ""
	}
	// The answer's sequences go into the table, the source streams past it.
	wanted, total := sequences(d.lines, true)
	if total < echoMin {
		return ""
	}
	shared := func(stream func(func(uint64))) float64 {
		copied, seen := 0, map[uint64]struct{}{}
		stream(func(g uint64) {
			if n := wanted[g]; n > 0 {
				if _, again := seen[g]; !again {
					seen[g] = struct{}{}
					copied += n
				}
			}
		})
		return float64(copied) / float64(total)
	}
	src := in.Digest
	m.Echo = shared(func(f func(uint64)) { src.grams(echoWords, func(o origin) bool { return o != fromPrevious }, f) })
	if in.Instruction != "" {
		m.EchoPrompt = shared(func(f func(uint64)) { textGrams(in.Instruction, f) })
	}
	if src.previous != "" && src.tokens >= mergedTokens {
		wanted, total = sequences(d.lines, false)
		m.EchoPrevious = shared(func(f func(uint64)) { textGrams(src.previous, f) })
	}
	switch {
	case m.Echo > echoShare && (m.Echo > echoWide || !wide(d.lines)):
		return CodeEchoesTranscript
	case m.EchoPrompt > promptShare:
		return CodeEchoesPrompt
	case m.EchoPrevious > mergedShare:
		return CodeEchoesPrevious
	}
	return ""
}

// sequences counts every eight words in a row of an answer; prose leaves fences, quotes and headings
// out.
func sequences(lines []outline.Line, prose bool) (counts map[uint64]int, total int) {
	counts = map[uint64]int{}
	var h shingler
	h.init(echoWords)
	request := false // to be told word for word
	for _, l := range lines {
		if l.Heading.Level > 0 {
			request = outline.FindTitle([]outline.Heading{outline.OriginalRequest}, l.Heading.Title) == 0
		}
		if prose && (l.Fenced || l.Quoted || l.Heading.Level > 0 || request) {
			h.reset()
			continue
		}
		forWords(l.Text, func(w uint64) {
			if g, ok := h.add(w); ok {
				counts[g]++
				total++
			}
		})
	}
	return counts, total
}

// wide reports an answer in a script without spaces.
func wide(lines []outline.Line) bool {
	all, n := 0, 0
	for _, l := range lines {
		for _, r := range l.Text {
			if unicode.IsLetter(r) {
				all++
				if r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
					n++
				}
			}
		}
	}
	return 3*n > all
}

func textGrams(text string, f func(uint64)) {
	var h shingler
	h.init(echoWords)
	forWords(text, func(w uint64) {
		if g, ok := h.add(w); ok {
			f(g)
		}
	})
}

// turnHeaders begin the segments of a transcript as a model is shown it.
var turnHeaders = []string{"[User]:", "[Assistant]:", "[Tool Call]:", "[Tool Result]:", "[Developer]:"}

// continuesTranscript reports an answer that writes turns instead of a summary.
func continuesTranscript(lines []outline.Line) bool {
	n := 0
	for _, l := range lines {
		if l.Fenced || l.Quoted {
			continue
		}
		for _, h := range turnHeaders {
			if strings.HasPrefix(l.Text, h) {
				n++
			}
		}
	}
	return n >= 2
}
