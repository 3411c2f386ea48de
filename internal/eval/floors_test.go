package eval

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFloorsHold is the measure itself: the standard corpus against every floor.
func TestFloorsHold(t *testing.T) {
	t.Parallel()
	r, err := Run(Options{})
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text))
	t.Log(text.String())
	require.Empty(t, r.Failed())
	require.Contains(t, text.String(), "all floors hold")
}
