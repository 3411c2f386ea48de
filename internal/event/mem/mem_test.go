package mem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/event/eventtest"
	"recap/internal/event/mem"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	eventtest.Run(t, func(*testing.T) eventtest.Bus {
		b := mem.New()
		return eventtest.Bus{Publisher: b, Subscriber: b, SetAway: b.SetAway}
	})
}

func TestAttemptsCountsRefusedAndRepeatedOnes(t *testing.T) {
	t.Parallel()
	b := mem.New()
	m := eventtest.Message(t, "a", "op", 1)
	b.SetAway(true)
	require.Error(t, b.Publish(t.Context(), m))
	b.SetAway(false)
	require.NoError(t, b.Publish(t.Context(), m))
	require.NoError(t, b.Publish(t.Context(), m))
	require.Equal(t, 3, b.Attempts())
	require.Len(t, b.Messages(), 1)
}
