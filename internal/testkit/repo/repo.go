// Package repo finds the files of this repository for tests that check the repository itself, and
// the things such tests need from outside it. Test-only: nothing reachable from cmd may import it.
package repo

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Root returns the folder that holds go.mod, searched upwards from the test's own folder.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatalf("working directory: %v", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod in any folder above the test")
		}
		dir = parent
	}
}

// Read returns a file of the repository, named relative to its root with slashes.
func Read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(Root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return string(data)
}

// Files lists the repository's own files, relative to the root and with slashes: everything that
// git would track, so neither build output nor installed packages.
func Files(t testing.TB) []string {
	t.Helper()
	root := Root(t)
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return walk(t, root) // an export without .git
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			files = append(files, name)
		}
	}
	return files
}

func walk(t testing.TB, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "bin" || d.Name() == ".recap") {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("walk %s: %v", root, err)
	}
	return files
}

// Need skips the test because something outside the repository is missing, loudly; where CI=true it
// fails instead, so that a green run means that every suite ran.
func Need(t testing.TB, what, how string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing, and with CI=true no suite may be skipped: %s", what, how)
	}
	t.Skipf("SKIPPED, NOT TESTED: %s is missing: %s", what, how)
}

// Corpus returns the folder of real session files that RECAP_CORPUS names.
func Corpus(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("RECAP_CORPUS")
	if dir == "" {
		Need(t, "RECAP_CORPUS", "set it to the folder of session files")
	}
	return dir
}
