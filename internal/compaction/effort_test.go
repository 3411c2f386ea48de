package compaction_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
)

func TestEFF01ReasoningEffort(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		level     string
		supported []string
		want      string
		changed   bool
	}{
		{"", nil, "high", false},
		{"inherit", nil, "high", false},
		{"auto", []string{"low", "high"}, "high", false},
		{"off", nil, "off", false},
		{"off", []string{}, "off", false},
		{"low", nil, "low", false},
		{"xhigh", []string{"low", "medium", "high"}, "high", true},
		{"minimal", []string{"medium", "high"}, "medium", true},
		{"", []string{}, "", true},
		{"strange", nil, "strange", false},
		{"strange", []string{"low"}, "low", true},
	} {
		got, changed := compaction.Effort(tt.level, tt.supported)
		require.Equal(t, tt.want, got, tt)
		require.Equal(t, tt.changed, changed, tt)
	}
}
