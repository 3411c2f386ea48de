package deptest

import (
	"fmt"
	"slices"
	"strings"
)

// Violation is one place where a rule is broken.
type Violation struct {
	File   string
	Line   int
	What   string
	Reason string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", v.File, v.Line, v.What, v.Reason)
}

// Check applies every rule to the files and returns what breaks one, in file order.
func Check(files []File) []Violation {
	var found []Violation
	for _, f := range files {
		if !f.Test {
			found = append(found, checkRules(f)...)
			found = append(found, checkAdapter(f)...)
			found = append(found, checkVendors(f)...)
		}
		found = append(found, checkCalls(f)...)
	}
	return append(found, checkReach(files)...)
}

func checkRules(f File) []Violation {
	var found []Violation
	for _, r := range rules {
		if !r.of.has(f.Package) || r.except.has(f.Package) {
			continue
		}
		for _, imp := range f.Imports {
			allowed := r.libs
			switch {
			case imp.Own:
				allowed = r.own
			case isStd(imp.Path):
				allowed = r.std
			}
			if allowed != nil && !allowed.has(imp.Path) {
				found = append(found, Violation{f.Name, imp.Line, f.Package + " imports " + imp.Path, r.reason})
			}
		}
	}
	return found
}

// checkAdapter holds adapters apart: an adapter imports its own port and pure packages, and only
// workers and internal/cli import it.
func checkAdapter(f File) []Violation {
	var found []Violation
	for _, imp := range f.Imports {
		if !imp.Own {
			continue
		}
		switch {
		case isAdapter(f.Package):
			port := portOf(f.Package)
			below := strings.HasPrefix(imp.Path, f.Package+"/")
			if imp.Path != port && !below && !pure.has(imp.Path) && !shared.has(imp.Path) {
				found = append(found, Violation{
					f.Name, imp.Line, f.Package + " imports " + imp.Path,
					"an adapter imports its port and pure types, never another adapter or a layer above",
				})
			}
		case isAdapter(imp.Path):
			if !mayName(f.Package, imp.Path) && !suites.has(f.Package) {
				found = append(found, Violation{
					f.Name, imp.Line, f.Package + " imports " + imp.Path,
					"only workers and internal/cli name an adapter",
				})
			}
		}
	}
	return found
}

func mayName(pkg, adapter string) bool {
	for _, n := range namers {
		if n.who.has(pkg) && n.which.has(adapter) {
			return true
		}
	}
	return false
}

func checkVendors(f File) []Violation {
	var found []Violation
	for _, imp := range f.Imports {
		for _, v := range vendors {
			if v.lib.has(imp.Path) && !v.in.has(f.Package) && !suites.has(f.Package) {
				found = append(found, Violation{f.Name, imp.Line, f.Package + " imports " + imp.Path, v.reason})
			}
		}
	}
	return found
}

func checkCalls(f File) []Violation {
	var found []Violation
	for _, call := range f.Calls {
		for _, c := range calls {
			if call.Path != c.path || !c.names.has(call.Name) || (f.Test && !c.tests) {
				continue
			}
			if c.in.has(f.Package) && !c.except.has(f.Package) {
				found = append(found, Violation{f.Name, call.Line, call.Path + "." + call.Name, c.reason})
			}
		}
	}
	return found
}

// checkReach follows the imports of the commands: code for tests must not be among them.
func checkReach(files []File) []Violation {
	byPackage := map[string][]File{}
	for _, f := range files {
		if !f.Test {
			byPackage[f.Package] = append(byPackage[f.Package], f)
		}
	}
	var queue []string
	for pkg := range byPackage {
		if strings.HasPrefix(pkg, "cmd/") {
			queue = append(queue, pkg)
		}
	}
	slices.Sort(queue)
	var found []Violation
	seen := map[string]bool{}
	for len(queue) > 0 {
		pkg := queue[0]
		queue = queue[1:]
		if seen[pkg] {
			continue
		}
		seen[pkg] = true
		for _, f := range byPackage[pkg] {
			for _, imp := range f.Imports {
				if !imp.Own {
					continue
				}
				if suites.has(imp.Path) {
					found = append(found, Violation{
						f.Name, imp.Line, pkg + " imports " + imp.Path,
						"code for tests must not be reachable from a command",
					})
				}
				queue = append(queue, imp.Path)
			}
		}
	}
	return found
}

func isAdapter(pkg string) bool {
	return underPorts.has(pkg) && !suites.has(pkg) && !shared.has(pkg)
}

// portOf returns the port a package lies under: internal/store for internal/store/jsonl.
func portOf(pkg string) string {
	for _, p := range ports {
		if strings.HasPrefix(pkg, p+"/") {
			return p
		}
	}
	return ""
}

// isStd reports whether an import path is of the standard library: its first element has no dot.
func isStd(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func (s set) has(path string) bool {
	for _, pattern := range s {
		if pattern == "..." || pattern == path {
			return true
		}
		if base, ok := strings.CutSuffix(pattern, "/..."); ok && (path == base || strings.HasPrefix(path, base+"/")) {
			return true
		}
		if base, ok := strings.CutSuffix(pattern, "/*"); ok && strings.HasPrefix(path, base+"/") {
			return true
		}
	}
	return false
}
