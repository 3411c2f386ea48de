package prompts_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"recap/prompts"
)

// pinned are the digests of the texts as shipped. Whoever changes a prompt changes it here too, and
// says why in the commit: stored answers are keyed by these bytes.
var pinned = map[string]string{
	"initial":     "e9b7cf07475377a18dad0fba246ceb59a84ace3e67f03286e7a87e3fd8ad7bbc",
	"mid_turn":    "de594b3f067c613ebd19f4b89971b2aeff0f8959ed72820dd14cb86085b8ba14",
	"system":      "3e2ab352a97d35af4b2a7dae89b4bde61c9921bc0ad9e2134c841917237de407",
	"turn_prefix": "3dd1bbe2eb9cc419cc7d0ad724b0a2d256f0a101122ea562a90c7fe738cc0fe1",
	"update":      "6803394c869bd5ae521baaea9cd191c39819320de80aa05e6d016b9a0fb3102e",
}

func TestPRM01PromptsArePinned(t *testing.T) {
	t.Parallel()
	require.Empty(t, cmp.Diff(pinned, prompts.Digests()))
}

var (
	headings = regexp.MustCompile(`(?m)^#{2,3} .*$`)
	ten      = []string{
		"## Goal", "## Constraints & Preferences", "## Progress", "### Done", "### In Progress", "### Blocked",
		"## Key Decisions", "## Next Steps", "## Critical Context", "## Additional Notes",
	}
)

func TestPRM02TheSameTenHeadingsInOrder(t *testing.T) {
	t.Parallel()
	p := prompts.All()
	require.Equal(t, ten, headings.FindAllString(p.Initial, -1))
	require.Equal(t, ten, headings.FindAllString(p.Update, -1))
	require.Equal(t, []string{"## Original Request", "## Early Progress", "## Context for Suffix"}, headings.FindAllString(p.TurnPrefix, -1))
}

func TestPRM03WhatThePromptsAskFor(t *testing.T) {
	t.Parallel()
	p := prompts.All()
	for name, text := range map[string]string{"initial": p.Initial, "update": p.Update, "turn prefix": p.TurnPrefix} {
		for _, rule := range []string{"file paths", "function", "error messages", "Copy exactly", "repository", "language the user writes in", "Add no section, preamble or closing remark"} {
			require.Contains(t, text, rule, name)
		}
	}
	for name, text := range map[string]string{"initial": p.Initial, "update": p.Update} {
		require.Regexp(t, `question or a request that has not been answered.*word for word under Critical Context`, text, name)
		require.Contains(t, text, "- [x]", name)
		require.Contains(t, text, "- [ ]", name)
	}
	require.Contains(t, p.Update, "<previous-summary>")
	for name, text := range map[string]string{"initial": p.Initial, "turn prefix": p.TurnPrefix, "system": p.System, "mid turn": p.MidTurn} {
		require.NotContains(t, text, "previous-summary", name)
	}
	require.Contains(t, p.System, "data")
	for _, text := range []string{p.System, p.Initial, p.Update, p.TurnPrefix, p.MidTurn} {
		require.Equal(t, strings.TrimSpace(text), text)
	}
}
