package tokens

import (
	"strings"

	"recap/internal/session"
)

// ContextTokens is how many tokens were in the context when the usage was reported: the total where
// the file names one, else the sum of its parts, less what an orchestrator spent beside the
// conversation (spec/summary §2.3). Never negative; 0 for no usage.
func ContextTokens(u *session.Usage) int {
	if u == nil {
		return 0
	}
	total := u.Total
	if total == 0 {
		total = u.Input + u.Output + u.CacheRead + u.CacheWrite
	}
	return max(0, total-u.Orchestration)
}

// PromptTokens is how many tokens were sent: input plus cached, or ContextTokens when the usage names
// none of them.
func PromptTokens(u *session.Usage) int {
	if u == nil {
		return 0
	}
	if sum := u.Input + u.CacheRead + u.CacheWrite; sum > 0 {
		return sum
	}
	return ContextTokens(u)
}

// Normalize returns the usage with Input exclusive of cached tokens, as session files document it.
// Providers disagree about that (spec/providers §2): Anthropic and Bedrock report cached tokens beside
// the input figure; OpenAI, Google and what speaks like them report them inside it, and not every
// agent subtracted them before it wrote. The total decides where there is one: when input, output and
// cached tokens together exceed it and would not without the cached ones, the cached tokens are
// inside. Without a total the documented form is assumed, except for Google's APIs, whose figures
// were long stored as they came. Negative counts become 0.
func Normalize(api, provider string, u session.Usage) session.Usage {
	for _, n := range []*int{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Total, &u.Orchestration} {
		*n = max(0, *n)
	}
	cached := u.CacheRead + u.CacheWrite
	if cached == 0 || reportsCacheBeside(api, provider) {
		return u
	}
	inside := false
	switch {
	case u.Total > 0:
		inside = u.Input+u.Output <= u.Total && u.Input+u.Output+cached > u.Total
	case isGoogle(api, provider):
		inside = true
	}
	if !inside {
		return u
	}
	// A cache write is inside the input only as far as there is input left for it.
	u.Input = max(0, u.Input-cached)
	return u
}

func reportsCacheBeside(api, provider string) bool {
	return strings.HasPrefix(api, "anthropic") || strings.HasPrefix(api, "bedrock") ||
		(api == "" && provider == "anthropic")
}

func isGoogle(api, provider string) bool {
	return strings.HasPrefix(api, "google") || strings.HasPrefix(provider, "google")
}

// Usable reports whether the message's usage measures the context: an assistant message that was
// neither aborted nor failed and reports more than zero tokens.
func Usable(m *session.Message) bool {
	return m.Role == session.RoleAssistant && m.StopReason != session.StopAborted && m.StopReason != session.StopError &&
		m.Usage != nil && ContextTokens(m.Usage) > 0
}

// LastUsable returns the index of the newest message with usable usage, -1 when there is none.
func LastUsable(list []session.Message) int {
	for i := len(list) - 1; i >= 0; i-- {
		if Usable(&list[i]) {
			return i
		}
	}
	return -1
}

// Decision is the figure that triggers compare: the larger of what a provider reported and what is
// stored, because compression on the wire can deflate the first. Never negative.
func Decision(provider, stored int) int { return max(0, provider, stored) }
