package control

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"recap/internal/compaction/transcript"
	"recap/internal/eval/fixture"
	"recap/internal/eval/probe"
	"recap/internal/model/extractive"
)

// Summariser answers a request about a session of the corpus. The name labels every number it is
// behind.
type Summariser struct {
	Name string
	// Extractive says that its text is made of quotations by design, as the product's own summariser is.
	Extractive bool
	Summarise  func(s *fixture.Session, req *transcript.Request, maxOutput int) string
	// Loses tells which facts it is known to drop; nil when its loss is not known beforehand.
	Loses func(s *fixture.Session, f *fixture.Fact) bool
}

// keeping makes a summariser that keeps every fact that reaches it, but for those it loses.
func keeping(name string, loses func(s *fixture.Session, f *fixture.Fact) bool) Summariser {
	return Summariser{Name: name, Loses: loses, Summarise: func(s *fixture.Session, req *transcript.Request, _ int) string {
		var kept []fixture.Fact
		for _, f := range Reached(s, req) {
			if !loses(s, &f) {
				kept = append(kept, f)
			}
		}
		return Take(s, req, kept).String()
	}}
}

// Oracle keeps every fact that reaches it.
func Oracle() Summariser {
	return keeping("oracle", func(*fixture.Session, *fixture.Fact) bool { return false })
}

// Null keeps nothing: headings, and that there is nothing below them.
func Null() Summariser {
	return Summariser{Name: "null", Loses: func(*fixture.Session, *fixture.Fact) bool { return true }, Summarise: func(_ *fixture.Session, req *transcript.Request, _ int) string {
		n := &Notes{Part: req.Part}
		for _, h := range n.Sections() {
			n.Add(h, "(none)")
		}
		return n.String()
	}}
}

// Lossy drops a share of the facts, in percent, the same ones in every generation.
func Lossy(percent int) Summariser {
	return keeping(fmt.Sprintf("lossy-%d", percent), func(s *fixture.Session, f *fixture.Fact) bool {
		return lost(s, percent)[f.Probe.ID]
	})
}

// LossyClass drops every fact of one class.
func LossyClass(c probe.Class) Summariser {
	return keeping("lossy-"+string(c), func(_ *fixture.Session, f *fixture.Fact) bool { return f.Probe.Class == c })
}

// Fading drops a share of the facts anew in every generation, as a model does that summarises its own
// summary: a fact it was given in a previous summary is lost with the given probability.
func Fading(percent int) Summariser {
	return Summariser{Name: fmt.Sprintf("fading-%d", percent), Summarise: func(s *fixture.Session, req *transcript.Request, _ int) string {
		var kept []fixture.Fact
		r := rand.New(rand.NewPCG(hash(s.Name), hash(req.PreviousSummary)))
		for _, f := range Reached(s, req) {
			if r.IntN(100) >= percent {
				kept = append(kept, f)
			}
		}
		return Take(s, req, kept).String()
	}}
}

// lost names the facts of a session that Lossy drops.
func lost(s *fixture.Session, percent int) map[string]bool {
	r := rand.New(rand.NewPCG(hash(s.Name), uint64(percent)))
	out := map[string]bool{}
	order := r.Perm(len(s.Facts))
	for _, i := range order[:(len(order)*percent+50)/100] {
		out[s.Facts[i].Probe.ID] = true
	}
	return out
}

func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// Extractive is the product's own summariser without a model, the floor for every real one.
func Extractive() Summariser {
	return Summariser{Name: "extractive", Extractive: true, Summarise: func(_ *fixture.Session, req *transcript.Request, maxOutput int) string {
		text, _ := extractive.Summarize(req, maxOutput)
		return text
	}}
}

// Refuser declines, politely, in the language of the session or in English.
func Refuser(long bool) Summariser {
	name := "refuser"
	if long {
		name = "refuser-long"
	}
	return Summariser{Name: name, Summarise: func(s *fixture.Session, req *transcript.Request, _ int) string {
		text := refusals[s.Language][len(s.Name)%2]
		if long {
			text += "\n\n" + strings.Join(s.Narrative(), " ")
		}
		return text
	}}
}

// refusals are ways to decline, two for each language.
var refusals = map[string][2]string{
	"en": {"I'm sorry, but I can't help with summarizing this conversation.", "I am unable to assist with this request. Please share the transcript in another form."},
	"pt": {"Desculpe, mas não posso ajudar com o resumo desta conversa.", "Sinto muito, não consigo resumir este conteúdo."},
	"ja": {"申し訳ありませんが、この会話を要約することはできません。", "すみませんが、そのご依頼には対応できません。"},
	"zh": {"抱歉，我无法总结这段对话。", "对不起，我不能协助处理这个请求。"},
	"ar": {"عذرًا، لا أستطيع تلخيص هذه المحادثة.", "آسف، لا يمكنني المساعدة في هذا الطلب."},
	"ru": {"Извините, но я не могу помочь с кратким изложением этого разговора.", "К сожалению, я не могу обработать этот запрос."},
}

// Cutter stops in the middle of a sentence, at a share of the oracle's text in percent.
func Cutter(percent int) Summariser {
	return Summariser{Name: fmt.Sprintf("cutter-%d", percent), Summarise: func(s *fixture.Session, req *transcript.Request, maxOutput int) string {
		return Cut(Oracle().Summarise(s, req, maxOutput), percent)
	}}
}

// Cut ends a text about at a share of it, in the middle of a sentence.
func Cut(text string, percent int) string {
	r := []rune(text)
	end := len(r) * percent / 100
	text = strings.TrimSpace(string(r[:end]))
	return text + " and this was done because the"
}

// EchoHead copies the beginning of the conversation.
func EchoHead() Summariser {
	return Summariser{Name: "echo-head", Summarise: func(_ *fixture.Session, req *transcript.Request, _ int) string {
		return Head(req, 6000)
	}}
}

// Head is a "summary" that copies the first so many bytes of a conversation under the right headings.
func Head(req *transcript.Request, most int) string {
	n := &Notes{Part: req.Part}
	size := 0
	for i := range req.Conversation {
		b := &req.Conversation[i]
		if b.Text == "" || size >= most {
			continue
		}
		size += len(b.Text)
		n.Add(n.Sections()[0], strings.ToValidUTF8(b.Text[:min(len(b.Text), 1500)], "")+"\n")
	}
	return n.String()
}

// EchoPrompt gives the instruction back.
func EchoPrompt() Summariser {
	return Summariser{Name: "echo-prompt", Summarise: func(_ *fixture.Session, req *transcript.Request, _ int) string {
		return req.Instruction
	}}
}

// EchoPrevious gives the previous summary back and merges nothing.
func EchoPrevious() Summariser {
	return Summariser{Name: "echo-previous", Summarise: func(s *fixture.Session, req *transcript.Request, maxOutput int) string {
		if req.PreviousSummary == "" {
			return Oracle().Summarise(s, req, maxOutput)
		}
		return req.PreviousSummary
	}}
}

// Bloater writes more than it was given.
func Bloater() Summariser {
	return Summariser{Name: "bloater", Summarise: func(s *fixture.Session, req *transcript.Request, maxOutput int) string {
		var b strings.Builder
		b.WriteString(Oracle().Summarise(s, req, maxOutput))
		size := 5 * req.Tokens()
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, "\n- %d: %s", i, s.Narrative()[i%3])
		}
		return b.String()
	}}
}
