package compaction_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction"
	"recap/internal/contract"
)

func TestREM10PreservedIsWhatNobodyElseAnswersFor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		data any
		want string
	}{
		"nothing":         {nil, ""},
		"an extension's":  {map[string]any{"notes": []int{1}, "remoteCompaction": map[string]any{"version": 1}}, `{"notes":[1]}`},
		"only others'":    {map[string]any{"recap": map[string]any{"operation": "x"}, "snapcompact": map[string]any{}, "compactionV2": 1, "openaiRemoteCompaction": 2}, ""},
		"no object":       {[]int{1}, ""},
		"an empty object": {map[string]any{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := parse(t, lines(user("a", "x"), with(compacted("k", "a", "S"), "preserveData", tt.data), user("b", "y")))
			got, err := compaction.Preserved(f.Log, f, &compaction.Plan{Coverage: contract.Coverage{Previous: "k"}})
			require.NoError(t, err)
			if tt.want == "" {
				require.Empty(t, got)
				return
			}
			require.JSONEq(t, tt.want, string(got))
		})
	}
	f := parse(t, lines(user("a", "x")))
	for _, previous := range []string{"", "a", "gone"} {
		got, err := compaction.Preserved(f.Log, f, &compaction.Plan{Coverage: contract.Coverage{Previous: previous}})
		require.NoError(t, err)
		require.Empty(t, got)
	}
}
