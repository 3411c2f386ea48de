package tokens

// Token costs of what is not text (spec/summary §2.2).
const (
	Image        = 1200 // an image block of a message
	SummaryBlock = 5024 // a non-text block attached to a compaction summary
)

// Text estimates a fragment: its UTF-8 bytes over four, rounded up. The empty text costs nothing.
func Text(s string) int { return Bytes(len(s)) }

// Bytes estimates a fragment of n UTF-8 bytes.
func Bytes(n int) int {
	if n <= 0 {
		return 0
	}
	return (n + 3) / 4
}
