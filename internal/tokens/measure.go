package tokens

import "recap/internal/session"

// Measurement is the size of a context in tokens and what it rests on.
type Measurement struct {
	Tokens int
	// Known is false when the figure is only an estimate although a provider could have been asked: the
	// session was compacted and no answer has come since. Readers show "unknown" then.
	Known    bool
	Anchor   int // index of the message whose usage counts, -1 for none
	Usage    int // what the provider reported at the anchor
	Trailing int // estimates of the messages after the anchor, or of all
}

// Measure sizes a context of n messages. fresh is the index of the first message that came after the
// newest compaction or rewrite, 0 when there was none: usage from before says nothing about the
// context of now. at returns a message, or nil for an index that yields none; it is called from the
// end and only as far back as needed.
func Measure(n, fresh int, at func(i int) (*session.Message, error)) (Measurement, error) {
	trailing := 0
	for i := n - 1; i >= 0; i-- {
		m, err := at(i)
		if err != nil {
			return Measurement{}, err
		}
		if m == nil {
			continue
		}
		if i >= fresh && Usable(m) {
			usage := Normalize(m.API, m.Provider, *m.Usage)
			used := ContextTokens(&usage)
			return Measurement{Tokens: used + trailing, Known: true, Anchor: i, Usage: used, Trailing: trailing}, nil
		}
		trailing += Message(m, false)
	}
	return Measurement{Tokens: trailing, Known: fresh == 0, Anchor: -1, Trailing: trailing}, nil
}

// MeasureList is Measure over messages that are in memory.
func MeasureList(list []session.Message, fresh int) Measurement {
	m, _ := Measure(len(list), fresh, func(i int) (*session.Message, error) { return &list[i], nil })
	return m
}
