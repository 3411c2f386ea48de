// Package bench measures recap on a very large session, in turn with the real pi on the same file,
// and holds it to ratios: `make bench`. Each measurement runs in a process of its own, so that its
// largest resident set is its own. Test-only; it has no code outside its tests.
package bench
