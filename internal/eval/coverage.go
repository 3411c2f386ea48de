package eval

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"recap/internal/eval/fixture"
	"recap/internal/session"
)

// Coverage says what reached the summariser (M1) and whether every message was accounted for exactly
// once (M2).
type Coverage struct {
	Sessions    int `json:"sessions"`
	Compactions int `json:"compactions"`
	// Facts were planted where the documented truncations leave them; FactsPresent of them were in the
	// requests, or are in the kept tail. FactsCut were planted where they are cut off.
	Facts        int `json:"facts"`
	FactsPresent int `json:"factsPresent"`
	FactsCut     int `json:"factsCut"`
	// Words are all words of six letters and more that the summarised messages hold after the
	// documented truncations, each as often as it stands there.
	Words        int `json:"words"`
	WordsPresent int `json:"wordsPresent"`
	// Messages on the paths, and how many of them were summarised or kept exactly once, in order.
	Messages     int `json:"messages"`
	MessagesOnce int `json:"messagesOnce"`
	// Missing are the first few things that did not arrive.
	Missing []string `json:"missing,omitempty"`
}

const maxMissing = 10

func (c *Coverage) miss(format string, args ...any) {
	if len(c.Missing) < maxMissing {
		c.Missing = append(c.Missing, fmt.Sprintf(format, args...))
	}
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// Prompt is M1.
func (c *Coverage) Prompt() float64 {
	return min(ratio(c.FactsPresent, c.Facts), ratio(c.WordsPresent, c.Words))
}

// Span is M2.
func (c *Coverage) Span() float64 { return ratio(c.MessagesOnce, c.Messages) }

// add measures one compaction; start is the first entry that no earlier summary covers ("" = the first
// on the path).
func (c *Coverage) add(name string, st *step, start string) error {
	c.Compactions++
	path, err := st.file.Log.Path()
	if err != nil {
		return err
	}
	if err := c.spans(name, st, path, start); err != nil {
		return err
	}
	return c.words(name, st, path)
}

// spans compares what the plan accounts for with the messages on the path, one by one.
func (c *Coverage) spans(name string, st *step, path []*session.Entry, start string) error {
	var want []string
	from := start == ""
	for _, e := range path {
		from = from || e.ID == start
		if !from || !e.IsMessageLike() {
			continue
		}
		body, err := st.file.Body(e)
		if err != nil {
			return err
		}
		if _, ok, err := session.DecodeEntry(e, body); err != nil {
			return err
		} else if ok {
			want = append(want, e.ID)
		}
	}
	got := append(st.covered(), st.prepared.Plan.Coverage.Kept...)
	c.Messages += len(want)
	if slices.Equal(got, want) {
		c.MessagesOnce += len(want)
		return nil
	}
	times := map[string]int{}
	for _, id := range got {
		times[id]++
	}
	once := 0
	for _, id := range want {
		if times[id] == 1 {
			once++
		} else {
			c.miss("%s: entry %s is accounted for %d times", name, id, times[id])
		}
	}
	if once == len(want) { // then something is too much, or out of order
		once -= max(1, len(got)-len(want))
		c.miss("%s: %d messages are accounted for where the path has %d, or in another order", name, len(got), len(want))
	}
	c.MessagesOnce += max(0, once)
	return nil
}

// words looks for every word of the summarised messages in the requests.
func (c *Coverage) words(name string, st *step, path []*session.Entry) error {
	covered := map[string]bool{}
	for _, id := range st.covered() {
		covered[id] = true
	}
	want := map[string]int{}
	for _, e := range path {
		if !covered[e.ID] {
			continue
		}
		body, err := st.file.Body(e)
		if err != nil {
			return err
		}
		survivors(gjson.ParseBytes(body), func(w string) { want[w]++ })
	}
	got := map[string]int{}
	for _, req := range st.prepared.Requests() {
		eachWord(req.UserText(), func(w string) { got[w]++ })
	}
	var absent []string
	for w, n := range want {
		c.Words += n
		c.WordsPresent += min(n, got[w])
		if got[w] < n {
			absent = append(absent, w)
		}
	}
	slices.Sort(absent)
	for _, w := range absent {
		c.miss("%s: %q stands %d times in the messages, %d times in the requests", name, w, want[w], got[w])
	}
	return nil
}

// facts looks for the planted facts that the compaction covers, and for those it cut off.
func (c *Coverage) facts(s *fixture.Session, st *step) {
	var b strings.Builder
	for _, req := range st.prepared.Requests() {
		b.WriteString(req.UserText())
	}
	requests := b.String()
	kept := map[string]bool{}
	for _, id := range st.prepared.Plan.Coverage.Kept {
		kept[id] = true
	}
	for _, f := range s.Facts {
		c.Facts++
		if strings.Contains(requests, f.Needle) || kept[f.Probe.Span[0]] {
			c.FactsPresent++
		} else {
			c.miss("%s: %s", s.Name, f.Probe.ID)
		}
	}
	for _, b := range s.Buried {
		if !strings.Contains(requests, b.Text) {
			c.FactsCut++
		}
	}
}

// resultLimit is how much of a tool result the summariser reads, in UTF-16 code units.
const resultLimit = 2000

// survivors calls f for every word of a stored entry that a summariser has to be shown. It reads the
// JSON by itself, so that a message that the product's decoder loses is noticed.
func survivors(v gjson.Result, f func(string)) {
	switch v.Get("type").String() {
	case "branch_summary":
		eachWord(v.Get("summary").String(), f)
		return
	case "custom_message":
		texts(v.Get("content"), f)
		return
	}
	m := v.Get("message")
	switch m.Get("role").String() {
	case "user":
		texts(m.Get("content"), f)
	case "assistant":
		if m.Get("retryRecovered").Bool() {
			return
		}
		texts(m.Get("content"), f)
		m.Get("content").ForEach(func(_, b gjson.Result) bool {
			if b.Get("type").String() == "toolCall" {
				eachWord(b.Get("name").String(), f)
			}
			return true
		})
	case "toolResult":
		if m.Get("useless").Bool() && !m.Get("isError").Bool() {
			return
		}
		var all strings.Builder
		m.Get("content").ForEach(func(_, b gjson.Result) bool {
			if b.Get("type").String() == "text" {
				all.WriteString(b.Get("text").String())
			}
			return true
		})
		eachWord(first(all.String(), resultLimit), f)
	case "bashExecution":
		if !m.Get("excludeFromContext").Bool() {
			eachWord(m.Get("command").String(), f)
		}
	}
}

func texts(content gjson.Result, f func(string)) {
	if content.Type == gjson.String {
		eachWord(content.String(), f)
		return
	}
	content.ForEach(func(_, b gjson.Result) bool {
		if b.Get("type").String() == "text" {
			eachWord(b.Get("text").String(), f)
		}
		return true
	})
}

// first is the beginning of a text, up to its last white space where it is cut.
func first(s string, units int) string {
	n := 0
	for i, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
		if n > units {
			return s[:strings.LastIndexFunc(s[:i], unicode.IsSpace)+1]
		}
	}
	return s
}

// wordLength is from how many bytes on a word is looked for.
const wordLength = 6

func eachWord(s string, f func(string)) {
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool {
		return !(r == '_' || r == '.' || r == '/' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
	}) {
		if len(w) >= wordLength {
			f(w)
		}
	}
}
