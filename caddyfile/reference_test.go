package caddyfile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReferenceHasEveryDirective looks for each word that a block knows in README.md.
func TestReferenceHasEveryDirective(t *testing.T) {
	reference, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, dir := range []string{"*.go", "internal/apirest/*.go", "internal/apierrors/*.go"} {
		found, err := filepath.Glob(dir)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(found), err)
		}
		files = append(files, found...)
	}
	var words []string
	for _, file := range files {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		add := func(key ast.Expr) {
			if text, ok := key.(*ast.BasicLit); ok && text.Kind == token.STRING {
				words = append(words, strings.Trim(text.Value, `"`))
			}
		}
		ast.Inspect(source, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if kind, ok := n.Type.(*ast.SelectorExpr); ok && kind.Sel.Name == "Words" {
					for _, e := range n.Elts {
						add(e.(*ast.KeyValueExpr).Key)
					}
				}
			case *ast.IndexExpr:
				if table, ok := n.X.(*ast.Ident); ok && table.Name == "words" {
					add(n.Index)
				}
			}
			return true
		})
	}
	if len(words) < 120 {
		t.Fatalf("only %d words were found in the source", len(words))
	}
	for _, word := range words {
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).Match(reference) {
			t.Errorf("%s is in no table", word)
		}
	}
	for line := range strings.Lines(string(reference)) {
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 4 {
			t.Errorf("a row does not have three cells: %s", line)
		}
	}
}
