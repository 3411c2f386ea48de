package session

import "strings"

// Slab copies many short strings into few pieces of memory, which spares an allocation for each. A
// piece lives as long as any string in it. The zero value is ready; it is not safe for concurrent use.
type Slab struct {
	piece strings.Builder // only ever appended to within its capacity, so what it returned stays in place
}

// Pieces of a Slab, in bytes: each is twice as large as the one before, up to the largest.
const (
	firstPiece   = 256
	largestPiece = 64 << 10
)

// Join returns a copy of the parts put together.
func (s *Slab) Join(parts ...string) string {
	n := 0
	for _, part := range parts {
		n += len(part)
	}
	from := s.room(n)
	for _, part := range parts {
		s.piece.WriteString(part)
	}
	return s.piece.String()[from:]
}

// Copy returns a copy of b.
func (s *Slab) Copy(b []byte) string {
	from := s.room(len(b))
	s.piece.Write(b)
	return s.piece.String()[from:]
}

// room starts a new piece when n bytes do not fit in the rest of the last, and returns where in the
// piece they go. Growing a piece instead would copy it.
func (s *Slab) room(n int) (from int) {
	if n > s.piece.Cap()-s.piece.Len() {
		next := min(max(2*s.piece.Cap(), firstPiece), largestPiece)
		s.piece = strings.Builder{}
		s.piece.Grow(max(next, n))
	}
	return s.piece.Len()
}
