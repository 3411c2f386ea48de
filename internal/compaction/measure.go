package compaction

import (
	"math"

	"recap/internal/compaction/cut"
	"recap/internal/session"
	"recap/internal/tokens"
)

// message decodes the message of a path entry, nil when it yields none or is a compaction.
func (p *preparation) message(i int) (*session.Message, error) {
	return p.messageBy(&reader{bodies: p.in.Bodies}, i)
}

// messageBy is message with a reader's memory.
func (p *preparation) messageBy(r *reader, i int) (*session.Message, error) {
	e := p.path[i]
	if !e.IsMessageLike() {
		return nil, nil
	}
	body, err := r.bodies.Body(e)
	if err != nil {
		return nil, err
	}
	return r.decoder.Decode(e, body)
}

// measure sizes the context of now: the summary of the base, then the entries from the start on.
func (p *preparation) measure() error {
	start := p.base.start
	at := func(i int) (*session.Message, error) {
		if i == 0 {
			return &session.Message{Role: session.RoleCompactionSummary, Summary: p.base.summary}, nil
		}
		return p.message(start + i - 1)
	}
	fresh := 0
	if p.base.fresh > 0 {
		fresh = max(p.base.fresh-start+1, 1)
	}
	m, err := tokens.Measure(len(p.path)-start+1, fresh, at)
	if err != nil {
		return err
	}
	if m.Anchor < 0 {
		m.Tokens += tokens.Messages(p.base.tail, false)
	} else {
		anchor, err := at(m.Anchor)
		if err != nil {
			return err
		}
		usage := tokens.Normalize(anchor.API, anchor.Provider, *anchor.Usage)
		p.lastUsed = tokens.PromptTokens(&usage)
	}
	p.measured = m
	return nil
}

// storedEstimate sizes what is stored of the context, without what only a provider can read.
func (p *preparation) storedEstimate() (int, error) {
	sum, err := p.sum(true)
	if p.in.NonMessage != nil {
		sum += *p.in.NonMessage
	}
	return sum + tokens.Text(p.base.summary), err
}

// sum adds up the estimates of the whole range, in parallel.
func (p *preparation) sum(excludeEncrypted bool) (int, error) {
	parts := chunks(p.path, p.base.start, len(p.path))
	sums := make([]int, len(parts))
	err := p.parallel(len(parts), func(k int, r *reader) error {
		for i := parts[k].from; i < parts[k].to; i++ {
			m, err := p.messageBy(r, i)
			if err != nil {
				return err
			}
			if m != nil {
				sums[k] += tokens.Message(m, excludeEncrypted)
			}
		}
		return nil
	})
	total := tokens.Messages(p.base.tail, excludeEncrypted)
	for _, n := range sums {
		total += n
	}
	return total, err
}

// adaptKeep fits the kept tail to the model (spec/summary §4.3). Without knowing what rides beside the
// messages it does nothing: tool schemas must not act as a multiplier.
func (p *preparation) adaptKeep() error {
	p.keep = p.in.Settings.KeepRecentTokens
	if p.in.NonMessage == nil {
		return nil
	}
	if t := tokens.ParseThreshold(p.in.Settings.Threshold); t.Kind == tokens.KindAuto && t.Invalid == "" && p.in.Window > 0 {
		window := tokens.UsableInputWindow(p.in.Window, p.in.MaxOutput)
		if budget := tokens.Resolve(t, window, p.in.Settings.ReserveTokens).Tokens - *p.in.NonMessage; budget > 0 {
			p.keep = min(p.keep, budget)
		}
	}
	if p.lastUsed == 0 {
		return nil
	}
	spoken := p.lastUsed - *p.in.NonMessage
	if spoken < 0 {
		p.warn("the last request had %d tokens, fewer than the %d said to ride beside the messages", p.lastUsed, *p.in.NonMessage)
		return nil
	}
	stored, err := p.sum(false)
	if err != nil || stored == 0 {
		return err
	}
	if ratio := float64(spoken) / float64(stored); ratio > 1 {
		p.keep = max(1, int(math.Floor(float64(p.keep)/ratio)))
	}
	return nil
}

// facts reads what the cut needs to know of an entry.
func (p *preparation) facts(i int) (cut.Facts, error) {
	m, err := p.message(i)
	if err != nil || m == nil {
		return cut.Facts{}, err
	}
	p.yields[i] = true
	f := cut.Facts{Tokens: tokens.Message(m, false)}
	switch m.Role {
	case session.RoleAssistant:
		for j := range m.Content {
			if m.Content[j].Type == session.BlockToolCall {
				f.Calls = append(f.Calls, m.Content[j].ID)
			}
		}
	case session.RoleToolResult:
		f.Result = m.ToolCallID
	}
	return f, nil
}
