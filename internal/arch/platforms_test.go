package arch

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A name that only a file for Linux declares must not be used elsewhere: CI compiles for Linux alone.
func TestPlatformFilesDeclareTheSameNames(t *testing.T) {
	root := root(t)
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); dir != root && strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" {
			return fs.SkipDir
		}
		onLinux := declaredFor(t, dir, "linux")
		for _, system := range []string{"darwin", "freebsd", "windows"} {
			here := declaredFor(t, dir, system)
			for name := range here.used {
				if onLinux.declared[name] && !here.declared[name] {
					t.Errorf("%s: %s is not declared for %s", dir, name, system)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// names are those that the files of a package declare at the top level, and use without declaring them.
type names struct{ declared, used map[string]bool }

func declaredFor(t *testing.T, dir, system string) names {
	t.Helper()
	n := names{make(map[string]bool), make(map[string]bool)}
	c := build.Default
	c.GOOS = system
	p, err := c.ImportDir(dir, build.IgnoreVendor)
	if err != nil {
		return n // no Go files, or none for this system
	}
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					n.declared[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						n.declared[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range s.Names {
							n.declared[name.Name] = true
						}
					}
				}
			}
		}
		for _, name := range file.Unresolved {
			n.used[name.Name] = true
		}
	}
	return n
}
