package reduce

import (
	"time"

	"github.com/tidwall/gjson"

	"recap/internal/compaction/reduce/edit"
	"recap/internal/session"
	"recap/internal/tokens"
)

// Source is what a tail is read from.
type Source struct {
	Path   []*session.Entry // root → leaf
	Bodies session.Bodies
	// Partial says that entries before the path's first one were not read.
	Partial bool
	// ProtectedPaths are files whose reads are kept: the active plan, under every name it has.
	ProtectedPaths []string
	// Now is when the pass is made.
	Now time.Time
}

// Item is one entry of the tail that yields a message.
type Item struct {
	Index   int // on the path
	Entry   *session.Entry
	Message session.Message
	Tokens  int // estimate of the message
}

// Tail is the part of a session that reducers look at: what stands behind the effective compaction's
// boundary. Reducers do not change it. It is not safe for concurrent use, nor together with the tails
// made from it: they share what was read before the boundary.
type Tail struct {
	// Start is the first path index of the tail.
	Start int
	Items []Item
	calls *calls
	src   Source
	// newest is the time of the newest message in Unix ms, 0 when it does not say.
	newest int64
}

// Read decodes the live tail. Its cost does not depend on what lies before the tail. It returns
// session.ErrPartial when the tail starts before the part that was read; every other error comes from
// reading bodies.
func Read(src Source) (*Tail, error) {
	start, err := liveStart(src)
	if err != nil {
		return nil, err
	}
	return ReadFrom(src, start)
}

// ReadFrom is Read for a tail that starts at a given path index, as that of a cut does.
func ReadFrom(src Source, start int) (*Tail, error) {
	t := &Tail{Start: start, src: src}
	for i := start; i < len(src.Path); i++ {
		e := src.Path[i]
		if !e.IsMessageLike() {
			continue
		}
		body, err := src.Bodies.Body(e)
		if err != nil {
			return nil, err
		}
		m, ok, err := session.DecodeEntry(e, body)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		t.Items = append(t.Items, Item{Index: i, Entry: e, Message: m, Tokens: tokens.Message(&m, false)})
		if e.Type == session.TypeMessage {
			t.newest = 0
			if gjson.GetBytes(body, "message.timestamp").Type == gjson.Number {
				t.newest = m.Timestamp
			}
		}
	}
	t.calls = pairCalls(t.Items, start, src)
	return t, nil
}

// liveStart finds the first path index of the live context, walking back from the leaf only as far as
// that index (spec/summary §1.7).
func liveStart(src Source) (int, error) {
	path := src.Path
	k, c, err := session.EffectiveCompaction(path, src.Bodies)
	if err != nil {
		return 0, err
	}
	switch {
	case k < 0:
	case c.FirstKeptEntryID == session.KeepNothing:
		for i := len(path) - 1; i >= k; i-- {
			if path[i].Type == session.TypeCompaction {
				return i + 1, nil
			}
		}
	case c.FirstKeptEntryID == "" && c.RetainedTail != nil:
		return k + 1, nil
	case c.FirstKeptEntryID != "":
		for i := k; i >= 0; i-- {
			if path[i].ID == c.FirstKeptEntryID {
				return i, nil
			}
		}
	}
	// Nothing was compacted, or what is kept is not known: the whole path is live.
	if src.Partial && len(path) > 0 && path[0].ParentID != "" {
		return 0, session.ErrPartial
	}
	return 0, nil
}

// Tokens is the estimate of all messages of the tail.
func (t *Tail) Tokens() int {
	sum := 0
	for i := range t.Items {
		sum += t.Items[i].Tokens
	}
	return sum
}

// After returns the tail as it is once the pass was made. It fails on a pass of another tail.
func (t *Tail) After(p Pass) (*Tail, error) {
	after := *t
	after.Items = append([]Item(nil), t.Items...)
	at := make(map[string]int, len(t.Items))
	for i := range after.Items {
		at[after.Items[i].Entry.ID] = i
	}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		k, ok := at[d.EntryID]
		if !ok {
			return nil, &edit.Error{EntryID: d.EntryID, Msg: "it is not in the live tail"}
		}
		m, err := d.Message(after.Items[k].Message)
		if err != nil {
			return nil, err
		}
		after.Items[k].Message, after.Items[k].Tokens = m, tokens.Message(&m, false)
	}
	return &after, nil
}

// prunedAt is the stamp of this pass in Unix ms. Zero would not mark a result as pruned.
func (t *Tail) prunedAt() int64 { return max(t.src.Now.UnixMilli(), 1) }
