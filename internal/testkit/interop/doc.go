// Package interop checks recap against the real pi coding agent: that both see the same session in
// the same file, that pi opens what recap wrote and shows it, and that neither loses what the other
// wrote. Test-only; it has no code outside its tests.
package interop
