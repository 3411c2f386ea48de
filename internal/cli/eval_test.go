package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/eval"
)

// TestEvalPrintsOneDocumentAndFailsWhereAFloorDoes: a corpus that is too small holds no floor for it.
func TestEvalPrintsOneDocumentAndFailsWhereAFloorDoes(t *testing.T) {
	t.Parallel()
	a, out, _ := newTestApp(t)
	a.flags.output = "json"
	err := a.eval(eval.Options{Sessions: 2})
	require.Equal(t, exitFailed, exitOf(err))
	var got struct {
		Sessions int      `json:"sessions"`
		Failed   []string `json:"failed"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Equal(t, 2, got.Sessions)
	require.NotEmpty(t, got.Failed)
	require.Contains(t, got.Failed[0], "corpus")
}

func TestEvalAsTextNamesWhatFailed(t *testing.T) {
	t.Parallel()
	a, out, _ := newTestApp(t)
	a.flags.output = "text"
	require.Equal(t, exitFailed, exitOf(a.eval(eval.Options{Sessions: 2})))
	require.Contains(t, out.String(), "floors do not hold")
	require.Contains(t, out.String(), "extractive")
}

func TestEvalRefusesACorpusThatIsNoFolder(t *testing.T) {
	t.Parallel()
	a, _, _ := newTestApp(t)
	require.Equal(t, exitUsage, a.run(t.Context(), triggerTree, []string{"eval", "--corpus", "/no/such/folder"}))
}
