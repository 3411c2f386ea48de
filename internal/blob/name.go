package blob

import (
	"errors"
	"fmt"
)

// ErrName says that a name is not one a driver stores (see CheckName).
var ErrName = errors.New("not a blob name")

// MaxName is the longest name a driver takes, in bytes.
const MaxName = 1024

// CheckName reports, as ErrName, why a string cannot name a blob. A name is 1 to MaxName bytes of
// printable ASCII: segments separated by single slashes, none of them empty. What a segment says is
// free, ".." included: drivers encode it, so that no name reaches out of its tree.
func CheckName(name string) error {
	if name == "" || len(name) > MaxName {
		return fmt.Errorf("%w: %d bytes, want 1 to %d", ErrName, len(name), MaxName)
	}
	slash := true // as if one stood before the name
	for i := range len(name) {
		c := name[i]
		if c < ' ' || c > '~' {
			return fmt.Errorf("%w: byte %d of %q is not printable ASCII", ErrName, i, name)
		}
		if slash && c == '/' {
			return fmt.Errorf("%w: %q has an empty segment", ErrName, name)
		}
		slash = c == '/'
	}
	if slash {
		return fmt.Errorf("%w: %q has an empty segment", ErrName, name)
	}
	return nil
}

// Valid reports whether the digest has the form of one: 64 lower-case hex digits. No driver stores
// anything under another form.
func (d Digest) Valid() bool {
	if len(d) != 64 {
		return false
	}
	for i := range len(d) {
		c := d[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
