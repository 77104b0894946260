package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// The most that fits in a reader's head: lines of a package and of a function, methods that are
// declared on a type.
const (
	packageLines  = 2500
	functionLines = 80
	typeMethods   = 40
)

// larger are the exceptions, with what they have now: they may shrink, not grow.
var larger = map[string]int{}

func TestPackageTypeAndFunctionSizesAreLimited(t *testing.T) {
	root := root(t)
	for dir := range packages(t) {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		lines, methods := 0, make(map[string]int)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			lines += set.File(f.Pos()).LineCount()
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; n > functionLines {
					t.Errorf("%s: %s has %d lines, at most %d", name, fn.Name.Name, n, functionLines)
				}
				if fn.Recv != nil {
					methods[receiver(fn.Recv.List[0].Type)]++
				}
			}
		}
		if most := max(packageLines, larger[dir]); lines > most {
			t.Errorf("%s has %d lines, at most %d", dir, lines, most)
		}
		for name, n := range methods {
			if most := max(typeMethods, larger[dir+"."+name]); n > most {
				t.Errorf("%s.%s has %d methods, at most %d", dir, name, n, most)
			}
		}
	}
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
