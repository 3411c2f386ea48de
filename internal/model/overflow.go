package model

import (
	"regexp"
	"strconv"
	"strings"
)

// Texts that decide a class where a provider has no code for it. All are searched without case.
var (
	// rateText guards the overflow texts: throttling speaks of "too many tokens" as well.
	rateText = regexp.MustCompile(`(?i)(?:^|[^a-z])rate.?limit|too many requests|throttl|tokens per (?:min|day)|\b[TR]P[MD]\b`)
	// dailyText is a limit that takes a day to come back.
	dailyText = regexp.MustCompile(`(?i)per (?:day|month)|\b[TR]PD\b|\bdaily\b|\bmonthly\b`)
	// tierText is OpenAI's "this request is over your whole allowance of a minute".
	tierText = regexp.MustCompile(`(?i)request too large.*?limit:? ([\d,]+).*?requested:? ([\d,]+)`)

	quotaText = regexp.MustCompile(`(?i)credit balance is too low|` +
		`reached your specified (?:workspace )?api usage limits?|exceeded your current quota|` +
		`insufficient (?:credits?|balance|funds|quota)|requires more credits|budget has been exceeded|` +
		`spend(?:ing)? limit (?:has been )?(?:reached|exceeded)`)

	// bytesText is a body that is too long in bytes, whatever it counts in tokens.
	bytesText = regexp.MustCompile(`(?i)(?:request )?body (?:is )?too large|payload too large|request entity too large|` +
		`request (?:size )?exceeds the maximum (?:size|bytes)`)

	// mediaText is a permanent refusal of images that some servers send as a 500.
	mediaText = regexp.MustCompile(`(?i)image input is not supported|does not support (?:image|vision)`)

	overflowText = regexp.MustCompile(`(?i)` + strings.Join([]string{
		`context[_ ]length[_ ]exceeded`,                         // OpenAI and most that imitate it
		`maximum context length`,                                // vLLM, OpenRouter
		`exceeds? the (?:model's )?context window`,              // OpenAI Responses
		`context window exceeded`,                               // Copilot
		`prompt is too long`,                                    // Anthropic
		`prompt too long; exceeded`,                             // Ollama, some builds
		`input length and .?max_tokens.? exceed`,                // Anthropic, with the output cap
		`input token count.*exceeds the maximum`,                // Gemini
		`number of input tokens exceeds`,                        // Bedrock
		`input is too long for (?:the )?(?:requested|selected)`, // Bedrock
		`maximum prompt length is \d+`,                          // xAI
		`maximum allowed input length of \d+`,                   // Poolside
		`reduce the length of the (?:messages|prompt)`,          // Groq, vLLM
		`exceeds the limit of \d+`,                              // Copilot
		`exceeds the available context size`,                    // llama.cpp
		`larger than the max context size`,                      // llama.cpp
		`too large to process`,                                  // llama.cpp, batch size
		`greater than the context length`,                       // LM Studio
		`input length exceeds the context length`,               // Ollama
		`context window exceeds limit`,                          // MiniMax
		`exceeded model token limit`,                            // Kimi
		`range of input length should be`,                       // DashScope
		`input too long: \d+ input tokens`,                      // Vercel
		`inputs?.? tokens \+ .?max_new_tokens.? must be <=`,     // TGI
		`requested input length \d+ exceeds`,                    // DeepInfra
		`longer than the model'?s context`,                      // Novita, Together
		`tokens in request more than max tokens allowed`,
		`max_tokens must be at least 1, got -\d+`, // vLLM, a prompt longer than its window
		`too large for model with \d+ maximum`,    // Mistral
		`configured context size is [\d,]+ tokens`,
		`your request has [\d,]+ input tokens`,
		`string too long`,
		`tokens? to keep from the initial prompt`,
		`too many tokens`,
		`token limit exceeded`,
		`model_context_window_exceeded`,
	}, "|"))
)

// numberTexts extract the counts of an overflow text. The names of the groups say what they are.
var numberTexts = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(?P<used>[\d,]+) tokens? > (?P<max>[\d,]+)`),
	regexp.MustCompile(`(?i)(?P<used>\d+) \+ \d+ > (?P<max>\d+)`),
	regexp.MustCompile(`(?i)maximum (?:context|prompt) length (?:is|of) (?P<max>[\d,]+).*?(?:resulted in|requested|has|have|contains?) ~?(?:about )?(?P<used>[\d,]+)`),
	regexp.MustCompile(`(?i)\((?P<used>[\d,]+)(?: tokens?)?\).*?(?:exceeds|longer than).*?\((?P<max>[\d,]+)`),
	regexp.MustCompile(`(?i)(?P<used>[\d,]+)(?: input)? tokens?.*?exceeds the limit of (?P<max>[\d,]+)`),
	regexp.MustCompile(`(?i)(?:prompt has|contains) (?P<used>[\d,]+) tokens.*?(?:size is|model with) (?P<max>[\d,]+)`),
	regexp.MustCompile(`(?i)requested input length (?P<used>\d+) exceeds.*?(?P<max>\d+)`),
	regexp.MustCompile(`(?i)range of input length should be \[\d+, ?(?P<max>\d+)\]`),
	regexp.MustCompile(`(?i)(?:maximum (?:context|prompt) length (?:is|of)|limit of|input length of) (?P<max>[\d,]+)`),
	regexp.MustCompile(`(?i)input too long: (?P<used>\d+) input tokens`),
}

// maxTokens is the largest count that is believed.
const maxTokens = 1e9

// readNumbers takes the counts from the first text that has any, unless fields named them.
func (f *failure) readNumbers() {
	if f.used != 0 || f.max != 0 {
		return
	}
	for _, re := range numberTexts {
		m := re.FindStringSubmatch(f.message)
		if m == nil {
			continue
		}
		for i, name := range re.SubexpNames() {
			switch name {
			case "used":
				f.used = number(m[i])
			case "max":
				f.max = number(m[i])
			}
		}
		return
	}
}

// number reads digits with optional commas; what is no sensible count is 0.
func number(s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil || n < 0 || n > maxTokens {
		return 0
	}
	return n
}
