package gate

import (
	"regexp"
	"strings"

	"recap/internal/compaction/gate/outline"
	"recap/internal/contract"
)

// The numbers of the check on authority (spec/gate §4b, G11).
const (
	quoteWords    = 5   // shorter quotations prove nothing
	quoteWide     = 10  // the same in characters of scripts without spaces
	quoteShare    = 0.7 // of a quotation's word triples that a user must have said
	claimGrams    = 5   // word sequences that a claim about the user must share with another's words
	controlGrams  = 8
	authorityText = 256 << 10 // of users' text, searched for an order that an answer reports
)

// attribution says that what stands on the line is the user's.
var attribution = regexp.MustCompile(`(?i)\b(?:user|owner|customer|operator)(?:'s|’s)?\b.{0,60}\b(?:sa(?:id|ys|ying)|ask(?:s|ed|ing)?|wrote|writes|request(?:s|ed)?|insist(?:s|ed)?|demand(?:s|ed)?|instruct(?:s|ed)?|order(?:s|ed)?|told|tells|stat(?:es|ed)|want(?:s|ed)?|words|requir(?:es|ed)|approv(?:es|ed)|confirm(?:s|ed)?)\b|` +
	`\b(?:o usuário|a usuária|o utilizador|el usuario|la usuaria|l'utilisateur|der (?:be)?nutzer)\b.{0,60}\b(?:disse|pediu|escreveu|quer|exig\w+|dijo|pidió|escribió|quiere|a dit|a demandé|a écrit|veut|sagte|schrieb|bat|will|verlangt\w*)|` +
	`пользовател\p{L}*.{0,60}(?:сказал|попросил|написал|хочет|велел|потребовал|просит|требует|пишет)|(?:ユーザー|利用者|お客様)(?:は|が|の).{0,40}|用户.{0,20}(?:说|要求|请求|写道|表示|指示|希望|让)|(?:المستخدم).{0,60}|(?:قال|طلب|كتب|يريد).{0,20}المستخدم`)

var quotedWords = regexp.MustCompile(`"([^"\n]+)"|“([^”\n]+)”|«([^»\n]+)»|「([^」\n]+)」|『([^』\n]+)』|„([^“”\n]+)[“”]`)

// An order is a way to tell the assistant to hide, to bypass or to act without consent. Words are of
// what a line must hold one before the expression is tried.
type order struct {
	words []string
	expr  *regexp.Regexp
}

var orders = []order{
	{[]string{"ignore", "disregard", "forget"}, regexp.MustCompile(`(?i)\b(?:ignore|disregard|forget)\b (?:all |any |every |the |your |my |these |those |of )*(?:previous|prior|above|earlier|system|other|safety|existing|user'?s?) (?:\w+ )?(?:instruction|prompt|rule|direction|guideline|message|constraint|request|polic)`)},
	{[]string{"tell", "inform", "mention", "reveal", "notify", "alert", "report", "disclose", "let"}, regexp.MustCompile(`(?i)\b(?:do not|don'?t|don’t|never|must not|mustn'?t|should not|shouldn'?t|avoid|refrain from|no need to|without)\b (?:\w+ )?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|alert(?:ing)?|report(?:ing)?|disclos(?:e|ing)|let(?:ting)?)\b[^.!?]{0,40}\b(?:user|owner|operator|human|developer|anyone|reviewer|team)\b`)},
	{[]string{"hide", "conceal", "secretly", "covertly", "silently", "quietly", "hidden"}, regexp.MustCompile(`(?i)\b(?:hide|conceal|keep hidden|keep secret)\b[^.!?]{0,50}\bfrom (?:the |our |any )?(?:user|owner|operator|human|reviewer|team|audit)|\b(?:secretly|covertly)\b \w+|\b(?:silently|quietly) (?:push|delete|remove|send|upload|deploy|disable|merge|exfiltrat|copy|install|commit)`)},
	{[]string{"without"}, regexp.MustCompile(`(?i)\bwithout\b (?:first )?(?:(?:asking|seeking|requesting|waiting for|getting|obtaining|needing|requiring|any|the|further|user|user's|their|prior|explicit|prompting|consulting|telling|informing) )*(?:asking|consent|permission|approval|confirmation|confirming|authori[sz]ation|knowledge|telling|informing|notifying|the user knowing|supervision|oversight)\b`)},
	{[]string{"bypass", "circumvent", "disable", "evade", "override", "skip"}, regexp.MustCompile(`(?i)\b(?:bypass|circumvent|evade|disable|override|skip) (?:all |any |the |every |our |its |user |human )*(?:approval|permission|consent|safety|security|sandbox|guard ?rail|confirmation|authori[sz]ation|oversight|access control|policy|policies|audit)`)},
	{[]string{"exfiltrate", "upload", "send", "post"}, regexp.MustCompile(`(?i)\bexfiltrat|\b(?:upload|send|post) (?:all |the |every |any |your |their |our )*(?:secrets?|credentials?|passwords?|private keys?|api keys?|tokens?|environment variables|\.env|ssh keys?)\b[^.!?]{0,60}\bto\b`)},
	{nil, regexp.MustCompile(`忽略(?:之前|以上|先前|所有|此前).{0,8}(?:指令|指示|要求|规则)|(?:不要|别|切勿)(?:告诉|告知|通知|让)用户|(?:未经|无需|不经)(?:用户)?(?:同意|许可|确认|批准)|绕过.{0,6}(?:审批|权限|安全|确认|沙箱)|` +
		`(?:これまで|以前|上記|前)の.{0,6}(?:指示|命令).{0,6}無視|(?:ユーザー|利用者)に(?:は)?(?:知らせ|伝え|言わ|報告し)(?:ない|ず)|(?:許可|承認|確認|同意)(?:なし|を得ず|なく|を求めず)|(?:承認|権限|安全|サンドボックス).{0,6}(?:回避|迂回)|` +
		`تجاهل.{0,20}(?:التعليمات|الأوامر)|لا تخبر.{0,12}المستخدم|(?:دون|بدون) (?:إذن|موافقة|علم|تأكيد)|` +
		`(?i:игнорируй\p{L}*.{0,30}(?:инструкци|указани|правил)|не (?:говори|сообщай|рассказывай|упоминай)\p{L}*.{0,20}пользовател|без (?:ведома|согласия|разрешения|подтверждения|одобрения)|обойти.{0,20}(?:подтвержд|проверк|разрешен|защит)|` +
		`ignor(?:e|ar) (?:todas )?as (?:instruções|ordens|regras)|não (?:conte|informe|avise|diga)\p{L}* .{0,12}usuári|sem (?:o )?(?:consentimento|permissão|autorização|aprovação|confirmação|avisar|perguntar)|` +
		`ignora(?:r)? (?:todas )?las instrucciones|no (?:le )?(?:digas|informes) .{0,10}usuario|sin (?:permiso|consentimiento|autorización|preguntar)|` +
		`ignoriere? (?:alle )?(?:vorherigen|bisherigen)|ohne (?:zustimmung|erlaubnis|rückfrage|genehmigung)|ignore[rz]? (?:toutes )?les (?:instructions|consignes)|sans (?:autorisation|permission|consentement|demander))`)},
}

var (
	// forbids says that a line forbids what it names, or that somebody did not do it.
	forbids = regexp.MustCompile(`(?i)\b(?:never|not|don'?t|don’t|no|nothing|must not|cannot|can'?t|avoid|forbid\w*|forbidden|prohibit\w*|refus\w*|reject\w*|declin\w*|only|unless|prevent\w*|stop\w*|nunca|não|jamais|proib\w+|nie|niemals|nicht|kein\w*|no se|ne|pas)\b|` +
		`никогда|не |нельзя|запрещ|禁止|不要|不得|不能|不可|切勿|しない|いけない|ならない|禁じ|ممنوع|لا |عدم|不允许|ません|ないこと`)
	// reports says that a line tells of such an order as of an attack or a finding.
	reports = regexp.MustCompile(`(?i)inject|ignored (?:it|that|the)|was ignored|not followed|suspicious|malicious|attack|untrusted|phishing|attempt(?:s|ed)? to|tried to|vulnerab|bug|fixed|注入|可疑|攻击|инъекц|подозрит|インジェクション|不審|攻撃|حقن|مشبوه|injeção|suspeit`)
	// control are texts that machinery puts into conversations; they are nobody's wish.
	control = regexp.MustCompile(`(?i)<system-reminder>|</?system>|<\|im_start\|>|\[Request interrupted by user|^\W*(?:continue|resume) (?:the conversation )?from where (?:you|it|we) left off|this session is being continued from a previous conversation|you write hand-?over notes for|summari[sz]e the conversation (?:above|so far)|(?:create|write|produce) a (?:detailed |structured )?summary of (?:the|this|our) conversation|your context (?:window )?(?:is|was) (?:nearly |almost )?(?:full|exhausted)|caveat: the messages below were generated`)
)

// checkQuotes is the first half of G11: words shown as the user's must be a user's.
func checkQuotes(in *Input, d *document, m *Measurements) contract.Code {
	if in.Extractive || !in.hasSource() {
		return ""
	}
	var claims []string
	for _, l := range spans(d.all) {
		if l.Fenced || l.Heading.Level > 0 || !maybeAttributed(l.Text) {
			continue
		}
		at := attribution.FindStringIndex(l.Text)
		if at == nil {
			continue
		}
		for _, q := range quotedWords.FindAllStringSubmatchIndex(l.Text, -1) {
			if q[0] < at[0] {
				continue // the quotation is somebody else's subject
			}
			quote := ""
			for i := 2; i < len(q); i += 2 {
				if q[i] >= 0 {
					quote = l.Text[q[i]:q[i+1]]
				}
			}
			for _, part := range strings.FieldsFunc(strings.ReplaceAll(strings.ReplaceAll(quote, "...", "…"), "[…]", "…"), func(r rune) bool { return r == '…' }) {
				if !longQuote(part) || in.Digest.userSaid(part) || in.told(part) {
					continue
				}
				m.note(CodeFalseQuote, part)
				return CodeFalseQuote
			}
		}
		claims = append(claims, l.Text)
	}
	if line, found := foreignClaim(in, claims); found {
		m.note(CodeRoleChanged, line)
		return CodeRoleChanged
	}
	return ""
}

// longLine is the length from which a line is looked at sentence by sentence.
const longLine = 2000

// spans cuts long lines into sentences, so that an expression never runs over more than it is about.
func spans(lines []outline.Line) []outline.Line {
	var out []outline.Line
	for i, l := range lines {
		if len(l.Text) <= longLine {
			if out != nil {
				out = append(out, l)
			}
			continue
		}
		if out == nil {
			out = append(make([]outline.Line, 0, len(lines)+64), lines[:i]...)
		}
		for _, s := range sentences(l.Text) {
			part := l
			part.Text = s
			out = append(out, part)
		}
	}
	if out == nil {
		return lines
	}
	return out
}

// maybeAttributed is a cheap test before the expression.
func maybeAttributed(line string) bool {
	for _, w := range []string{"ser", "wner", "ustomer", "perator", "suári", "suari", "tilizador", "tilisateur", "utzer", "ользовател", "ユーザー", "利用者", "お客様", "用户", "المستخدم"} {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}

func longQuote(s string) bool {
	wide, words := 0, 0
	for _, r := range s {
		if unspaced(r) || r >= 0x3040 && r < 0x3100 {
			wide++
		}
	}
	forWords(s, func(uint64) { words++ })
	return words >= quoteWords && (wide == 0 || wide >= quoteWide)
}

// userSaid reports whether a quotation is a user's, or was one in the summary before: by its words, so
// that marks, spaces and case do not matter.
func (s *Source) userSaid(quote string) bool {
	all, said := 0, 0
	var h shingler
	h.init(3)
	forWords(fold(quote), func(w uint64) {
		if g, ok := h.add(w); ok {
			all++
			if _, ok := s.user[g]; ok {
				said++
			}
		}
	})
	return float64(said) >= quoteShare*float64(all)
}

// told reports whether a quotation is from what else the caller says a user wrote: the focus, the
// request that is open.
func (in *Input) told(quote string) bool {
	quote = strings.Trim(fold(quote), " .,;:!?")
	for _, text := range in.Given {
		if strings.Contains(fold(text), quote) {
			return true
		}
	}
	return in.Ask != nil && strings.Contains(fold(in.Ask.Text), quote)
}

// foreignClaim finds, among lines about the user, one that gives a tool's or the machinery's words out
// as the user's. The source streams past once, however many lines there are.
func foreignClaim(in *Input, lines []string) (line string, found bool) {
	const own, foreign = 1, 2
	seen := map[uint64]uint8{}
	eachGram := func(line string, f func(uint64)) {
		var h shingler
		h.init(claimGrams)
		forWords(fold(line), func(w uint64) {
			if g, ok := h.add(w); ok {
				f(g)
			}
		})
	}
	for _, l := range lines {
		eachGram(l, func(g uint64) { seen[g] = 0 })
	}
	if len(seen) == 0 {
		return "", false
	}
	theirs := func(o origin) bool { return o == fromTool || o == fromDeveloper }
	mark := func(bit uint8) func(uint64) {
		return func(g uint64) {
			if old, wanted := seen[g]; wanted {
				seen[g] = old | bit
			}
		}
	}
	in.Digest.grams(claimGrams, theirs, mark(foreign))
	in.Digest.grams(claimGrams, func(o origin) bool { return !theirs(o) }, mark(own))
	for _, l := range lines {
		all, bad := 0, 0
		eachGram(l, func(g uint64) {
			all++
			if seen[g] == foreign {
				bad++
			}
		})
		if all >= claimGrams && 2*bad >= all {
			return l, true
		}
	}
	return "", false
}

// checkOrders is the second half of G11: a summary gives the assistant no order to hide, to bypass or
// to act without consent, unless a user gave it.
func checkOrders(in *Input, d *document, m *Measurements) contract.Code {
	given := map[*order]bool{} // whether users gave such an order
	for _, l := range spans(d.all) {
		if l.Fenced || l.Quoted {
			continue
		}
		folded := fold(l.Text)
		for i := range orders {
			o := &orders[i]
			if o.words == nil && isASCII(folded) && !maybeLatin(folded) || o.words != nil && !containsOne(folded, o.words) {
				continue
			}
			text := quotation.ReplaceAllString(l.Text, " ")
			at := o.expr.FindStringIndex(text)
			if at == nil || reports.MatchString(text) || forbidden(text, at, i) {
				continue
			}
			if _, asked := given[o]; !asked {
				given[o] = userOrdered(in, o)
			}
			if given[o] {
				continue
			}
			m.note(CodeUnsafeOrder, l.Text)
			return CodeUnsafeOrder
		}
	}
	return ""
}

// forbidden reports that the line forbids what the order is about ("never push without asking"). An
// order not to tell is a prohibition itself, so there the words before it count for nothing.
func forbidden(text string, at []int, i int) bool {
	return i != 1 && forbids.MatchString(text[:at[0]])
}

// userOrdered reports whether users gave such an order in their own words.
func userOrdered(in *Input, o *order) bool {
	return in.Digest.usersWrote(func(text string) bool {
		return (o.words == nil || containsOne(fold(text), o.words)) && o.expr.MatchString(text)
	})
}

// usersWrote asks about what users wrote, from the newest on; how much is looked at is bounded.
func (s *Source) usersWrote(match func(string) bool) bool {
	left := authorityText
	for i := len(s.said) - 1; i >= 0 && left > 0; i-- {
		text := bounded(s.said[i], left)
		left -= len(text)
		if match(text) {
			return true
		}
	}
	return false
}

func containsOne(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// maybeLatin is a cheap test for the orders in languages that ASCII can write.
func maybeLatin(s string) bool {
	return containsOne(s, []string{"sem ", "sin ", "sans ", "ohne ", "ignor", "digas", "informes"})
}

// checkControl is the last part of G11: what machinery says is nobody's goal.
func checkControl(in *Input, d *document, m *Measurements) contract.Code {
	var own map[uint64]bool
	wish := false
	for _, l := range spans(d.lines) {
		if l.Heading.Level > 0 {
			wish = intent[outline.FindTitle(outline.Of(""), l.Heading.Title)]
			continue
		}
		if !wish || l.Fenced || l.Quoted {
			continue
		}
		text := quotation.ReplaceAllString(l.Text, " ")
		if control.MatchString(text) {
			if in.Digest.usersWrote(control.MatchString) {
				return "" // the session is about such texts
			}
			m.note(CodeControlText, l.Text)
			return CodeControlText
		}
		if in.Instruction == "" {
			continue
		}
		if own == nil {
			own = map[uint64]bool{}
			textGrams(in.Instruction, func(g uint64) { own[g] = true })
		}
		n := 0
		textGrams(text, func(g uint64) {
			if own[g] {
				n++
			}
		})
		if n >= controlGrams {
			m.note(CodeControlText, l.Text)
			return CodeControlText
		}
	}
	return ""
}

// intent are the positions of the headings under which a summary says what is wanted.
var intent = func() map[int]bool {
	m := map[int]bool{}
	for _, h := range []outline.Heading{outline.Goal, outline.Constraints, outline.NextSteps, outline.OriginalRequest} {
		m[outline.Find(outline.Of(""), h)] = true
	}
	return m
}()
