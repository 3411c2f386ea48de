package modeltest

import (
	"strings"
	"testing"

	"recap/internal/testkit/provider"
)

// Bench measures one answer of 8,000 deltas, server and client together.
func Bench(b *testing.B, s Subject) {
	const deltas = 8000
	text := "## Goal\n" + strings.Repeat("word ", deltas)
	p, err := provider.Start(func(provider.Request) provider.Step { return provider.Step{Text: text, Pieces: deltas} })
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	client, err := s.New(s.Config(p))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := client.Complete(b.Context(), Call()); err != nil {
			b.Fatal(err)
		}
	}
}
