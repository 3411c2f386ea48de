package deptest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Module is the path of this module.
const Module = "recap"

// File is one Go file with what the rules look at.
type File struct {
	Name    string // relative to the module root, with slashes
	Package string // import path of its folder without the module: internal/session
	Test    bool
	Imports []Import
	Calls   []Call
}

// Import is one import declaration. Path of a package of this module has the module cut off and
// Own set.
type Import struct {
	Path string
	Own  bool
	Line int
}

// Call is one use of a name of another package, like time.Now.
type Call struct {
	Path, Name string
	Line       int
}

// Load parses the Go files named (relative to root).
func Load(root string, names []string) ([]File, error) {
	var files []File
	for _, name := range names {
		if !strings.HasSuffix(name, ".go") || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		f, err := Parse(name, src)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// Parse reads one Go file.
func Parse(name string, src []byte) (File, error) {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return File{}, fmt.Errorf("parse %s: %w", name, err)
	}
	f := File{Name: name, Package: path.Dir(name), Test: strings.HasSuffix(name, "_test.go")}
	local := map[string]string{} // name in the file → import path
	for _, spec := range syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return File{}, fmt.Errorf("parse %s: import %s: %w", name, spec.Path.Value, err)
		}
		own := p == Module || strings.HasPrefix(p, Module+"/")
		f.Imports = append(f.Imports, Import{
			Path: strings.TrimPrefix(p, Module+"/"), Own: own, Line: fset.Position(spec.Pos()).Line,
		})
		switch {
		case spec.Name != nil:
			local[spec.Name.Name] = p
		default:
			local[path.Base(p)] = p
		}
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && local[id.Name] != "" {
			f.Calls = append(f.Calls, Call{Path: local[id.Name], Name: sel.Sel.Name, Line: fset.Position(sel.Pos()).Line})
		}
		return true
	})
	return f, nil
}
