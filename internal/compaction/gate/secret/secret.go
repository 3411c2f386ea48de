// Package secret finds credentials in text and masks them (spec/gate §4b, G13; promise G8). The mask
// keeps the kind and a short hash: readers can tell that two masks hide the same value, and nobody can
// tell the value. Look-alikes (commit ids, UUIDs, checksums, example keys of vendors' manuals) stay.
//
// It is pure and imports the standard library only.
package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Match is one credential in a text: bytes Start to End, and what it is.
type Match struct {
	Start, End int
	Kind       string // lower case with dashes, such as "github-token"
}

// A Finder finds credentials. Matches may overlap and come in any order; Mask sorts them. It must be
// pure and safe for concurrent use, and must not match a mask.
type Finder interface {
	Find(text string) []Match
}

// settles bounds how often a text is looked at again: taking one credential away may bring two pieces
// of another together.
const settles = 4

// Mask replaces every credential by "[redacted:kind:hash]" and says how many there were. The hash is
// the first 8 hex digits of the value's SHA-256. Masking a masked text changes nothing.
func Mask(f Finder, text string) (masked string, count int) {
	for range settles {
		found := merge(f.Find(text))
		if len(found) == 0 {
			break
		}
		text = replace(text, found)
		count += len(found)
	}
	return text, count
}

func replace(text string, found []Match) string {
	var b strings.Builder
	at := 0
	for _, m := range found {
		b.WriteString(text[at:m.Start])
		sum := sha256.Sum256([]byte(text[m.Start:m.End]))
		b.WriteString("[redacted:" + m.Kind + ":" + hex.EncodeToString(sum[:4]) + "]")
		at = m.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// merge sorts matches and joins those that overlap; the one that begins first names the kind.
func merge(list []Match) []Match {
	slices.SortFunc(list, func(a, b Match) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	var out []Match
	for _, m := range list {
		if n := len(out); n > 0 && m.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, m.End)
			continue
		}
		out = append(out, m)
	}
	return out
}
