package housetest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/testkit/repo"
)

// TestCommandLineDocument compares the commands and exit codes of the documents with the sources of
// the command line; its own tests hold those to what the programs do.
func TestCommandLineDocument(t *testing.T) {
	t.Parallel()
	commands, codes := map[string]bool{}, map[string]bool{}
	command := regexp.MustCompile(`(?:command|group|onOperation|changing)\("([a-z]+)`)
	code := regexp.MustCompile(`(?m)^\texit[A-Z]\w* += (\d+)`)
	for _, name := range repo.Files(t) {
		if !strings.HasPrefix(name, "internal/cli/") || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		source := repo.Read(t, name)
		for _, m := range command.FindAllStringSubmatch(source, -1) {
			commands[m[1]] = true
		}
		for _, m := range code.FindAllStringSubmatch(source, -1) {
			codes[m[1]] = true
		}
	}
	require.Subset(t, slices.Collect(maps.Keys(commands)), []string{"demo", "compact", "run", "check"})

	document := repo.Read(t, "docs/cli.md")
	var documented []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(document, -1) {
		documented = append(documented, m[1])
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(codes)), documented, "exit codes")

	said := map[string]bool{"recap": true, "worker": true}
	for name, text := range documents(t) {
		for _, m := range regexp.MustCompile(`(?m)(?:^|bin/|\x60)recap(?:-worker)? ([a-z]+)(?: (check|migrate|import|export)\b)?`).FindAllStringSubmatch(spans(name, text), -1) {
			for _, word := range m[1:] {
				if word != "" {
					require.True(t, commands[word], "%s says `recap %s`", name, strings.Join(m[1:], " "))
					said[word] = true
				}
			}
		}
	}
	for name := range commands {
		require.True(t, said[name] || strings.Contains(document, name), "docs/cli.md does not name %s", name)
	}
}
