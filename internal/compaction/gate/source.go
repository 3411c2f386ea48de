package gate

import (
	"strings"

	"github.com/tidwall/gjson"

	"recap/internal/compaction/gate/anchor"
	"recap/internal/compaction/transcript"
)

// origin says whose words a stretch of the source is.
type origin uint8

const (
	fromUser origin = iota
	fromDeveloper
	fromAgent
	fromCall // arguments of a tool call
	fromTool // result of a tool
	fromPrevious
)

// Source is a digest of a conversation: everything the checks ask of it, read once, so that any number
// of answers can be judged against it at the cost of the answer. It is not changed after Read and may
// be used by several goroutines. It holds the text, so it must not outlive the operation.
type Source struct {
	folded   string // all text, ASCII in lower case, slashes forward, one stretch a line
	stretch  []stretch
	words    []uint64
	anchors  map[string]int32   // normalised anchors and file names → where in folded
	paths    map[string][]int32 // file name → offsets into places of paths with that name
	places   []string           // normalised paths
	numbers  map[string]place
	user     map[uint64]struct{} // every three words in a row of users and previous summary
	said     []string            // what users wrote, in order
	tokens   int                 // estimate of the conversation
	previous string
	mined    []Anchor
	ask      string
	answered bool // by what follows the ask in the conversation
	tongues  map[string]bool
}

type stretch struct {
	origin            origin
	textFrom, textTo  int // in folded
	wordsFrom, wordTo int // in words
}

// place remembers the first few offsets of a value.
type place struct {
	n  int
	at [3]int32
}

// pathsPerName bounds how many directories are remembered for one file name.
const pathsPerName = 16

// Read digests a conversation and the summary before it. Its cost is linear.
func Read(blocks []transcript.Block, previous string) *Source {
	s := &Source{
		anchors: map[string]int32{}, paths: map[string][]int32{}, numbers: map[string]place{}, user: map[uint64]struct{}{}, previous: previous,
	}
	var b strings.Builder
	size := len(previous) + 1
	for i := range blocks {
		eachText(&blocks[i], func(_ origin, text string) { size += len(text) + 1 })
	}
	b.Grow(size)
	add := func(o origin, text string) {
		s.stretch = append(s.stretch, stretch{origin: o, textFrom: b.Len(), textTo: b.Len() + len(text)})
		writeFolded(&b, text)
		b.WriteByte('\n')
	}
	for i := range blocks {
		eachText(&blocks[i], add)
		if blocks[i].Role == transcript.User {
			s.said = append(s.said, blocks[i].Text)
		}
	}
	s.tokens = (b.Len() + 3) / 4
	if previous != "" {
		add(fromPrevious, previous)
	}
	s.folded = b.String()
	s.index()
	s.findAsk(blocks)
	s.mined = mine(blocks, previous)
	s.tongues = tonguesOf(blocks)
	return s
}

// eachText calls f for every text of a block. Arguments that are strings are unquoted.
func eachText(b *transcript.Block, f func(origin, string)) {
	o := fromUser
	switch b.Role {
	case transcript.Assistant:
		o = fromAgent
	case transcript.ToolResult:
		o = fromTool
	case transcript.Developer:
		o = fromDeveloper
	}
	if b.Text != "" {
		f(o, b.Text)
	}
	for _, c := range b.Calls {
		for _, a := range c.Args {
			f(fromCall, argument(a))
		}
	}
}

func argument(a transcript.Arg) string {
	if strings.HasPrefix(a.JSON, `"`) {
		return gjson.Parse(a.JSON).String()
	}
	return a.JSON
}

func writeFolded(b *strings.Builder, text string) {
	from := 0
	for i := range len(text) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		} else if c == '\\' {
			c = '/'
		} else {
			continue
		}
		b.WriteString(text[from:i])
		b.WriteByte(c)
		from = i + 1
	}
	b.WriteString(text[from:])
}

func fold(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	writeFolded(&b, text)
	return b.String()
}

func (s *Source) index() {
	s.words = make([]uint64, 0, len(s.folded)/6)
	var three shingler
	three.init(3)
	for i := range s.stretch {
		st := &s.stretch[i]
		text := s.folded[st.textFrom:st.textTo]
		st.wordsFrom = len(s.words)
		forWords(text, func(w uint64) { s.words = append(s.words, w) })
		st.wordTo = len(s.words)
		if st.origin == fromUser || st.origin == fromPrevious {
			three.reset()
			for _, w := range s.words[st.wordsFrom:st.wordTo] {
				if g, ok := three.add(w); ok {
					s.user[g] = struct{}{}
				}
			}
		}
		anchor.Runs(text, func(run string, at int) { s.addRun(run, at+st.textFrom) })
	}
}

func (s *Source) addRun(run string, at int) {
	norm := run
	if strings.ContainsAny(run, `,:#~`) || strings.HasPrefix(run, ".") || strings.HasPrefix(run, "v") || strings.HasSuffix(run, "/") {
		norm = anchor.Normal(run)
	}
	if norm == "" {
		return
	}
	if c := norm[0]; '0' <= c && c <= '9' {
		if anchor.Classify(norm) == anchor.Number {
			p := s.numbers[norm]
			if p.n < len(p.at) {
				p.at[p.n] = int32(at)
				p.n++
				s.numbers[norm] = p
			}
			return
		}
	}
	if _, seen := s.anchors[norm]; seen {
		return
	}
	s.anchors[norm] = int32(at)
	slash := strings.LastIndexByte(norm, '/')
	if slash < 0 {
		return
	}
	name := norm[slash+1:]
	if _, seen := s.anchors[name]; !seen {
		s.anchors[name] = int32(at + slash + 1)
	}
	if list := s.paths[name]; len(list) < pathsPerName {
		s.paths[name] = append(list, int32(len(s.places)))
		s.places = append(s.places, norm)
	}
}

// grams calls f for every k words in a row of the stretches with an origin that want accepts.
func (s *Source) grams(k int, want func(origin) bool, f func(uint64)) {
	var h shingler
	h.init(k)
	for _, st := range s.stretch {
		if !want(st.origin) {
			continue
		}
		h.reset()
		for _, w := range s.words[st.wordsFrom:st.wordTo] {
			if g, ok := h.add(w); ok {
				f(g)
			}
		}
	}
}
