package transcript

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestAdvanceCountsCodeUnits compares with counting character by character.
func TestAdvanceCountsCodeUnits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "eight by", "é", "漢", "😀", "\xff", strings.Repeat("x", 30)})).Draw(t, "text"), "")
		limit := rapid.IntRange(0, 60).Draw(t, "limit")
		wantEnd, want := 0, 0
		for i, r := range text {
			n := utf16.RuneLen(r)
			if want+n > limit {
				break
			}
			want += n
			wantEnd = i + len(string(r))
			if text[i] == 0xff {
				wantEnd = i + 1
			}
		}
		end, n := advance(text, limit)
		require.Equal(t, wantEnd, end)
		require.Equal(t, want, n)
	})
}
