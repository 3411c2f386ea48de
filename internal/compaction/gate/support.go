package gate

import (
	"strings"

	"recap/internal/compaction/gate/anchor"
)

// The numbers of the checks on invented and changed values (spec/gate §4b, G8 and G9).
const (
	inventedShare  = 50 // at most one invented anchor in so many is let pass in prose
	strippedItems  = 3  // list items that may be taken out before the answer itself is in doubt
	searches       = 64 // full searches of the source for one answer
	nearCandidates = 24 // unknown values that are compared with all of the source
)

// supporter answers whether the source has an anchor. Most questions are answered by a look into a
// table; the number of searches through the text is bounded, so the cost stays linear.
type supporter struct {
	src      *Source
	extra    string // folded: what the caller gave besides the conversation
	searches int
}

func newSupporter(in *Input) *supporter {
	parts := append([]string{in.Instruction}, in.Given...)
	for _, a := range in.given() {
		parts = append(parts, a.Text)
	}
	if in.Ask != nil {
		parts = append(parts, in.Ask.Text)
	}
	parts = append(parts, in.Ledger.paths()...)
	return &supporter{src: in.Digest, extra: fold(strings.Join(parts, "\n")), searches: searches}
}

// has reports whether an anchor is in the source, as it is or in a form derived from it: another
// directory prefix, a file name alone, a position behind it, an abbreviated hash.
func (s *supporter) has(a anchor.Anchor) bool {
	if a.Norm == "" {
		return true
	}
	if _, ok := s.src.anchors[a.Norm]; ok {
		return true
	}
	if _, ok := s.src.numbers[a.Norm]; ok {
		return true
	}
	if a.Kind == anchor.Path && s.path(a.Norm) {
		return true
	}
	if wellKnown[a.Norm] {
		return true
	}
	if s.searches == 0 {
		return false
	}
	s.searches--
	if contains(s.src.folded, a) || contains(s.extra, a) {
		return true
	}
	// Of a directory the end must be known: its beginning is where the work happens.
	end, ok := lastTwo(a.Norm)
	return ok && a.Kind == anchor.Path && !anchor.HasExtension(a.Norm) && strings.Contains(s.src.folded, end)
}

// lastTwo returns the last two parts of a path.
func lastTwo(norm string) (string, bool) {
	i := strings.LastIndexByte(norm, '/')
	if i < 1 {
		return "", false
	}
	i = strings.LastIndexByte(norm[:i], '/')
	return norm[i+1:], i >= 0
}

// contains looks for an anchor as a part of words: source text glues anchors to all sorts of things.
func contains(text string, a anchor.Anchor) bool {
	if a.Kind == anchor.Path || a.Kind == anchor.URL || a.Kind == anchor.ID {
		return strings.Contains(text, a.Norm)
	}
	for from := 0; ; {
		i := strings.Index(text[from:], a.Norm)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(a.Norm)
		if (i == 0 || !wordByte(text[i-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = i + 1
	}
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || c == '_'
}

// path reports whether a path is another form of one in the source: the shorter is the end of the
// longer, or leaves directories of it out. "a.go/b.go" is a way to write two names.
func (s *supporter) path(norm string) bool {
	for _, i := range s.src.paths[anchor.Base(norm)] {
		if derived(norm, s.src.places[i]) {
			return true
		}
	}
	// A name that the source has without a directory: listings are read in a directory.
	if at, ok := s.src.anchors[anchor.Base(norm)]; ok && len(s.src.paths[anchor.Base(norm)]) == 0 && at >= 0 {
		return true
	}
	parts := strings.Split(norm, "/")
	for _, p := range parts {
		if _, ok := s.src.anchors[p]; !ok || anchor.Classify(p) != anchor.File {
			return false
		}
	}
	return true
}

func derived(a, b string) bool {
	a, b = strings.TrimLeft(a, "/"), strings.TrimLeft(b, "/")
	if len(a) > len(b) {
		a, b = b, a
	}
	if strings.HasSuffix(b, "/"+a) || a == b {
		return true
	}
	if !strings.Contains(a, "/") {
		return a == anchor.Base(b)
	}
	// Directories left out in the middle: what is left is in order, and begins and ends alike.
	short, long := strings.Split(a, "/"), strings.Split(b, "/")
	if short[0] != long[0] || len(short) < 3 {
		return false
	}
	i := 0
	for _, p := range long {
		if i < len(short) && short[i] == p {
			i++
		}
	}
	return i == len(short)
}

// wellKnown are names that need no source.
var wellKnown = map[string]bool{
	"readme.md": true, "changelog.md": true, "go.mod": true, "go.sum": true, "package.json": true, "agents.md": true, "license.md": true,
	"cargo.toml": true, "pyproject.toml": true, "tsconfig.json": true, "docker-compose.yml": true, ".env": true,
}

// near finds a value of the source that a changed value comes from: at a small edit distance, or a
// number rounded.
func (s *supporter) near(a anchor.Anchor, text string, has func(string) bool) (string, bool) {
	if a.Kind == anchor.Number {
		return s.nearNumber(a, text, has)
	}
	limit := 1
	if len(a.Norm) >= 8 {
		limit = 2
	}
	base := anchor.Base(a.Norm)
	best := ""
	for norm := range s.src.anchors {
		if abs(len(norm)-len(a.Norm)) > limit || len(norm) < 4 || has(norm) || (a.Kind == anchor.Path && anchor.Base(norm) == norm) {
			continue
		}
		if a.Kind == anchor.Ticket && !strings.HasPrefix(norm, a.Norm[:strings.IndexByte(a.Norm, '-')+1]) {
			continue
		}
		if distance(a.Norm, norm, limit) <= limit && (best == "" || norm < best) {
			best = norm
		}
	}
	if best != "" {
		return best, true
	}
	// The name is one of the source's and the directory is not.
	if list := s.src.paths[base]; a.Kind == anchor.Path && anchor.HasExtension(base) && len(list) > 0 {
		for _, i := range list {
			if has(s.src.places[i]) {
				return "", false
			}
		}
		return s.src.places[list[0]], true
	}
	return "", false
}

// nearNumber also wants the same neighbourhood: numbers are alike by chance.
func (s *supporter) nearNumber(a anchor.Anchor, text string, has func(string) bool) (string, bool) {
	digits, unit := anchor.Digits(a.Norm)
	if digits < 3 && unit == "" {
		return "", false
	}
	version := strings.Count(a.Norm, ".") >= 2 // these are alike by no chance
	around := neighbours(text, a.Start, a.Start+len(a.Text))
	best := ""
	for norm, p := range s.src.numbers {
		if abs(len(norm)-len(a.Norm)) > 2 || has(norm) || (best != "" && norm > best) {
			continue
		}
		n, u := anchor.Digits(norm)
		if u != unit || (n < 3 && u == "") || !alike(a.Norm, norm, digits) {
			continue
		}
		for _, at := range p.at[:p.n] {
			// Counts grow from one summary to the next; swapped digits do not.
			if s.src.inPrevious(int(at)) && !swapped(a.Norm, norm) {
				continue
			}
			issue := a.Start > 0 && text[a.Start-1] == '#' && at > 0 && s.src.folded[at-1] == '#'
			if issue || version && strings.Count(norm, ".") >= 2 || sharesWords(around, neighbours(s.src.folded, int(at), int(at)+len(norm))) {
				best = norm
				break
			}
		}
	}
	return best, best != ""
}

// alike reports numbers one or two edits apart, one for short ones, or within a tenth of each other.
func alike(a, b string, digits int) bool {
	limit := 1
	if digits >= 5 {
		limit = 2
	}
	if distance(a, b, limit) <= limit {
		return true
	}
	x, okX := value(a)
	y, okY := value(b)
	return okX && okY && digits >= 4 && abs(x-y)*10 <= max(x, y)
}

// value reads a plain number.
func value(s string) (int, bool) {
	if len(s) > 12 {
		return 0, false
	}
	v := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return v, i > 0 && strings.IndexByte(s, '.') < 0 && strings.IndexByte(s, ':') < 0
		}
		v = v*10 + int(s[i]-'0')
	}
	return v, true
}

const neighbourhood = 60 // bytes on each side

// neighbours are the key terms around a value, on its line.
func neighbours(text string, from, to int) map[string]bool {
	begin, end := max(0, from-neighbourhood), min(len(text), to+neighbourhood)
	if i := strings.LastIndexByte(text[begin:from], '\n'); i >= 0 {
		begin += i + 1
	}
	if i := strings.IndexByte(text[to:end], '\n'); i >= 0 {
		end = to + i
	}
	set := map[string]bool{}
	for _, t := range keyTerms(strings.ToValidUTF8(text[begin:from], "") + " " + strings.ToValidUTF8(text[to:end], "")) {
		if !countNouns[t] {
			set[t] = true
		}
	}
	return set
}

// countNouns are words that stand beside any count.
var countNouns = termSet("characters lines bytes messages tests files tokens items entries more total times requests words left caracteres linhas arquivos testes mensagens zeichen zeilen строк символов файлов")

// swapped reports two numbers of the same digits in another order.
func swapped(a, b string) bool {
	var n [256]int
	for i := range len(a) {
		n[a[i]]++
	}
	for i := range len(b) {
		n[b[i]]--
	}
	return n == [256]int{}
}

// inPrevious reports whether an offset lies in the summary before.
func (s *Source) inPrevious(at int) bool {
	return s.previous != "" && at >= s.stretch[len(s.stretch)-1].textFrom
}

// sharesWords wants two words in common, or all there are on the shorter side.
func sharesWords(a, b map[string]bool) bool {
	n := 0
	for t := range a {
		if b[t] {
			n++
		}
	}
	return n >= 2 || (n == 1 && min(len(a), len(b)) == 1)
}

func abs(n int) int { return max(n, -n) }

// distance is the edit distance of two short strings, or more than limit.
func distance(a, b string, limit int) int {
	if abs(len(a)-len(b)) > limit {
		return limit + 1
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch {
	case len(a) == 0 || len(b) == 0:
		return max(len(a), len(b))
	case max(len(a), len(b)) > 3*limit+2: // what is left differs at both ends
		if len(a) != len(b) || len(a) > 64 {
			return limit + 1
		}
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal, least := row[0], i
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}
