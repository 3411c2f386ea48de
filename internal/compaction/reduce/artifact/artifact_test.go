package artifact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/compaction/reduce/artifact"
)

func TestNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "artifact://12", artifact.URI("12"))
	require.Equal(t, "12.compaction-tail.log", artifact.FileName("12", artifact.Tail))
	require.Equal(t, "1.a_b_____.log", artifact.FileName("1", "a b/../é"))
	require.Equal(t, "1."+strings.Repeat("x", 64)+".log", artifact.FileName("1", strings.Repeat("x", 99)))
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	sections := []artifact.Section{
		{Number: 1, Label: "bash", EntryID: "e1", Tokens: 120, Text: "one\ntwo"},
		{Number: 2, Label: "odd\nname", EntryID: "e2", Tokens: 7, Text: ""},
	}
	require.Equal(t, "### elision 1 (bash, ~120 tokens, entry e1)\n\none\ntwo\n\n### elision 2 (odd name, ~7 tokens, entry e2)\n\n\n\n",
		artifact.Document(artifact.Tail, sections))
	require.Equal(t, "### region 1 (bash, ~120 tok)\n\none\ntwo\n\n### region 2 (odd name, ~7 tok)\n\n\n\n",
		artifact.Document(artifact.Shake, sections))
	require.Empty(t, artifact.Document(artifact.Shake, nil))
}
