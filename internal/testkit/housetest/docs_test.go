package housetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recap/internal/testkit/repo"
)

// documents lists every Markdown file of the repository that people read, by name.
func documents(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, name := range repo.Files(t) {
		if strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, "prompts/") && !strings.Contains(name, "/testdata/") {
			docs[name] = repo.Read(t, name)
		}
	}
	for _, must := range []string{"README.md", "AGENTS.md", "CHANGELOG.md"} {
		require.Contains(t, docs, must)
	}
	return docs
}

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	target   = regexp.MustCompile(`\bmake ([a-z][a-z0-9-]*)`)
	testName = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z0-9]\w*$`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

// TestDocumentsNamePathsThatExist walks every path that a document names in code marks or links to.
func TestDocumentsNamePathsThatExist(t *testing.T) {
	t.Parallel()
	root := repo.Root(t)
	exists := func(name string) bool {
		matches, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil && len(matches) > 0
	}
	tops := map[string]bool{}
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() && e.Name() != "bin" { // build output
			tops[e.Name()] = true
		}
	}
	for name, text := range documents(t) {
		for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
			first, _, isPath := strings.Cut(m[1], "/")
			if isPath && tops[strings.TrimPrefix(first, "./")] && !strings.ContainsAny(m[1], " <>{}$…") {
				p := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(m[1], "./"), "..."), "/")
				require.True(t, exists(p), "%s names %s, which does not exist", name, m[1])
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
				require.True(t, exists(to), "%s links to %s, which does not exist", name, m[1])
			}
			if anchor != "" {
				require.Contains(t, anchors(repo.Read(t, to)), anchor, "%s links to %s", name, m[1])
			}
		}
	}
}

// anchors are the link targets of a document's headings.
func anchors(text string) []string {
	var list []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(m[1])) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				b.WriteRune(r)
			}
		}
		list = append(list, b.String())
	}
	return list
}

// TestCommandsInDocumentsExist compares every `make target` that a document or a script names with
// the Makefile, and the Makefile's targets with its own help.
func TestCommandsInDocumentsExist(t *testing.T) {
	t.Parallel()
	makefile := repo.Read(t, "Makefile")
	var targets []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`).FindAllStringSubmatch(makefile, -1) {
		targets = append(targets, m[1])
		require.Regexp(t, `(?m)^`+m[1]+`:.*## \S`, makefile, "target %s explains itself in `make help`", m[1])
		require.Regexp(t, `(?m)^\.PHONY: `+m[1]+`$`, makefile)
	}
	for _, want := range []string{"help", "build", "test", "unit", "e2e", "lint", "bench", "demo", "tools", "ci"} {
		require.Contains(t, targets, want)
	}
	texts := documents(t)
	for _, name := range []string{".ci/run", ".github/workflows/ci.yml"} {
		texts[name] = repo.Read(t, name)
		require.Contains(t, texts[name], "make ci")
	}
	for name, text := range texts {
		for _, m := range target.FindAllStringSubmatch(spans(name, text), -1) {
			require.Contains(t, targets, m[1], "%s says `make %s`", name, m[1])
		}
	}
}

// spans is the part of a document that is meant as code: spans and fenced blocks. Scripts are code.
func spans(name, text string) string {
	if !strings.HasSuffix(name, ".md") {
		return text
	}
	var b strings.Builder
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			b.WriteString(part + "\n")
			continue
		}
		for _, m := range codeSpan.FindAllStringSubmatch(part, -1) {
			b.WriteString(m[1] + "\n")
		}
	}
	return b.String()
}

// TestTestsNamedInDocumentsExist keeps the table of guarantees honest: every test that a document
// names is there.
func TestTestsNamedInDocumentsExist(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	for _, name := range repo.Files(t) {
		if !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "test/") {
			continue
		}
		if strings.HasSuffix(name, ".go") {
			for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`).FindAllStringSubmatch(repo.Read(t, name), -1) {
				have[m[1]] = true
			}
		}
	}
	for name, text := range documents(t) {
		for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
			if testName.MatchString(m[1]) {
				require.True(t, have[m[1]], "%s names %s, which is no test", name, m[1])
			}
		}
	}
}

// TestPackagesSayWhatTheyAreFor wants a package comment in every package.
func TestPackagesSayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for _, name := range repo.Files(t) {
		if !strings.HasSuffix(name, ".go") || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		dir := path.Dir(name)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, repo.Read(t, name), parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err)
		said[dir] = said[dir] || documented(f)
	}
	for dir, ok := range said {
		require.True(t, ok, "package %s has no package comment", dir)
	}
}

func documented(f *ast.File) bool {
	if f.Doc == nil {
		return false
	}
	text := f.Doc.Text()
	return strings.HasPrefix(text, "Package "+f.Name.Name) || f.Name.Name == "main" && strings.HasPrefix(text, "Command ")
}

// TestFilesAreOfReadableSize names the files over 500 lines; each needs a reason here.
func TestFilesAreOfReadableSize(t *testing.T) {
	t.Parallel()
	reasons := map[string]string{}
	for _, name := range repo.Files(t) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if lines := strings.Count(repo.Read(t, name), "\n"); lines > 500 {
			require.Contains(t, reasons, name, "%d lines and no reason for it", lines)
		}
	}
}

// TestNothingIsLeftOpen finds marks of unfinished work, and paths of the machine it was written on.
func TestNothingIsLeftOpen(t *testing.T) {
	t.Parallel()
	marks := regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "X" + "XX"}, "|") + `)\b`)
	machine := regexp.MustCompile(`(^|[^A-Za-z0-9_.-])/(` + strings.Join([]string{"wo" + "rk", "ro" + "ot", "ho" + "me/[a-z]+", "Us" + "ers", "tm" + "p/w"}, "|") + `)/`)
	skip := []string{"go.sum", "internal/testkit/pi/package-lock.json", "deploy/Dockerfile"} // the image's own paths
	for _, name := range repo.Files(t) {
		if slices.Contains(skip, name) || strings.Contains(name, "/testdata/") {
			continue
		}
		for i, line := range strings.Split(repo.Read(t, name), "\n") {
			require.False(t, marks.MatchString(line), "%s:%d: %s", name, i+1, line)
			if !strings.HasSuffix(name, "_test.go") { // tests make up sessions with paths in them
				require.False(t, machine.MatchString(line), "%s:%d names a path of one machine: %s", name, i+1, line)
			}
		}
	}
}

// TestChangelogKeepsItsForm checks the form of keepachangelog.com: an Unreleased section on top.
func TestChangelogKeepsItsForm(t *testing.T) {
	t.Parallel()
	text := repo.Read(t, "CHANGELOG.md")
	sections := regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, sections)
	require.Equal(t, "[Unreleased]", sections[0][1])
	for _, m := range regexp.MustCompile(`(?m)^### (.+)$`).FindAllStringSubmatch(text, -1) {
		require.Contains(t, []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}, m[1])
	}
}

func TestLicence(t *testing.T) {
	t.Parallel()
	text := repo.Read(t, "LICENSE")
	require.Contains(t, text, "Apache License")
	require.Contains(t, text, "Version 2.0, January 2004")
	require.Contains(t, text, "END OF TERMS AND CONDITIONS")
}
