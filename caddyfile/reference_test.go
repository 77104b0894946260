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

// sources parses the files of some folders, without tests.
func sources(t *testing.T, patterns ...string) (all []*ast.File) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, source)
		}
	}
	return all
}

// TestReferenceHasEveryDirective looks for each word that a block knows in README.md.
func TestReferenceHasEveryDirective(t *testing.T) {
	reference, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, source := range sources(t, "*.go", "internal/apirest/*.go", "internal/apierrors/*.go") {
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

// option is an option in the first cell of its row, where several are separated by commas.
var option = regexp.MustCompile("^`([a-z_]{2,})[ `]")

// TestReferenceHasNoDirectiveThatIsNotThere looks for each option of README.md in what parses Caddyfiles.
func TestReferenceHasNoDirectiveThatIsNotThere(t *testing.T) {
	reference, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, source := range sources(t, "*.go", "internal/*/*.go", "../plugins/*/*/*.go", "../module/gateway/memorylimiter.go") {
		ast.Inspect(source, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				known[strings.Trim(text.Value, `"`)] = true
			}
			return true
		})
	}
	options := 0
	for row := range strings.Lines(string(reference)) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(row, `\|`, "/"), "| "), " | ")
		if !strings.HasPrefix(row, "| ") {
			continue
		}
		for _, part := range strings.Split(cell, ", ") {
			m := option.FindStringSubmatch(part)
			if m == nil {
				continue
			}
			if options++; !known[m[1]] {
				t.Errorf("README.md has the option %s, which nothing parses", m[1])
			}
		}
	}
	if options < 200 {
		t.Errorf("only %d options were looked at", options)
	}
}
