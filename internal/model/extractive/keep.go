package extractive

import "hash/fnv"

// kept holds the first and the last items of a stream of any length.
type kept[T any] struct {
	headCap, tailCap int
	head, tail       []T
	start            int // of the ring in tail
	dropped          int
}

func keep[T any](head, tail int) kept[T] { return kept[T]{headCap: head, tailCap: tail} }

func (k *kept[T]) add(v T) {
	switch {
	case len(k.head) < k.headCap:
		k.head = append(k.head, v)
	case len(k.tail) < k.tailCap:
		k.tail = append(k.tail, v)
	case k.tailCap > 0:
		k.tail[k.start] = v
		k.start = (k.start + 1) % k.tailCap
		k.dropped++
	default:
		k.dropped++
	}
}

// all returns what is held, in the order it was added.
func (k *kept[T]) all() []T {
	out := make([]T, 0, len(k.head)+len(k.tail))
	out = append(out, k.head...)
	out = append(out, k.tail[k.start:]...)
	return append(out, k.tail[:k.start]...)
}

// distinct remembers which texts were seen.
type distinct map[uint64]struct{}

// first reports whether s was not seen before.
func (d distinct) first(s string) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // a hash never fails
	if _, ok := d[h.Sum64()]; ok {
		return false
	}
	d[h.Sum64()] = struct{}{}
	return true
}
