package compaction

import (
	"slices"
	"sync"
	"sync/atomic"

	"recap/internal/compaction/fileops"
	"recap/internal/compaction/transcript"
	"recap/internal/session"
	"recap/internal/tokens"
)

// stretch is what one range of entries contributes. It holds no message, only shortened blocks.
type stretch struct {
	writer transcript.Writer
	blocks []transcript.Block
	ids    []string // entries that yield a message
	tokens int
	files  fileops.Ops
}

func (s *stretch) add(m *session.Message) {
	s.writer.Add(m)
	s.files.AddMessage(m)
	s.tokens += tokens.Message(m, false)
}

// read serialises history and turn prefix.
func (p *preparation) read() error {
	var err error
	if p.history, err = p.stretch(p.base.start, p.found.HistoryEnd, p.base.tail); err != nil {
		return err
	}
	if p.prefix, err = p.stretch(p.found.HistoryEnd, p.found.Kept, nil); err != nil {
		return err
	}
	return p.somethingToSummarise()
}

// stretch serialises the entries [from, to) behind the given messages, several chunks at once.
func (p *preparation) stretch(from, to int, before []session.Message) (stretch, error) {
	parts := chunks(p.path, from, to)
	read := make([]stretch, len(parts)+1)
	for i := range before {
		read[0].add(&before[i])
	}
	err := p.parallel(len(parts), func(k int, r *reader) error {
		s, n := &read[k+1], parts[k].to-parts[k].from
		s.writer.Grow(n)
		s.ids = make([]string, 0, n)
		for i := parts[k].from; i < parts[k].to; i++ {
			m, err := p.messageBy(r, i)
			if err != nil {
				return err
			}
			if m != nil {
				s.ids = append(s.ids, p.path[i].ID)
				s.add(m)
			}
		}
		return nil
	})
	if err != nil {
		return stretch{}, err
	}
	var all stretch
	writers := make([]*transcript.Writer, len(read))
	n := 0
	for k := range read {
		n += len(read[k].ids)
	}
	all.ids = slices.Grow(all.ids, n)
	for k := range read {
		writers[k] = &read[k].writer
		all.ids = append(all.ids, read[k].ids...)
		all.tokens += read[k].tokens
		all.files.Merge(&read[k].files)
	}
	all.blocks = transcript.Join(writers...)
	return all, nil
}

// chunk is a range of path entries that one goroutine reads.
type chunk struct{ from, to int }

// chunkBytes is how much stored text a chunk holds: enough to make a goroutine worth it, little enough
// to keep all of them busy.
const chunkBytes = 1 << 20

// chunks cuts [from, to) into pieces that never begin with a tool result.
func chunks(path []*session.Entry, from, to int) []chunk {
	var out []chunk
	size := 0
	for i := from; i < to; i++ {
		if size >= chunkBytes && path[i].Role != session.RoleToolResult {
			out = append(out, chunk{from, i})
			from, size = i, 0
		}
		size += path[i].Length
	}
	if from < to {
		out = append(out, chunk{from, to})
	}
	return out
}

// reader is the memory that one goroutine reads messages with, one after the other in file order.
type reader struct {
	bodies  session.Bodies
	decoder session.Decoder
}

// parallel calls do for 0 to n-1 on several goroutines, each with a reader of its own, and returns the
// error of the lowest index that failed. It stops early after a failure.
func (p *preparation) parallel(n int, do func(k int, r *reader) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for range min(max(p.in.Parallel, 1), n) {
		wg.Go(func() {
			r := &reader{bodies: session.Forward(p.in.Bodies)}
			for !failed.Load() {
				k := int(next.Add(1)) - 1
				if k >= n {
					return
				}
				if errs[k] = do(k, r); errs[k] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
