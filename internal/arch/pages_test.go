package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// named finds paths in a page: in links, and in code that begins with a top-level folder.
var named = regexp.MustCompile("\\]\\(([^)#: ]+)(?:#[^)]*)?\\)|`((?:module|caddyfile|plugins|internal|examples|deploy|\\.ci)(?:/[^` ]*)?)`")

func TestDocsNameOnlyExistingPaths(t *testing.T) {
	root := root(t)
	pages := []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "CHANGELOG.md", "SECURITY.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "deploy/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, page := range found {
			pages = append(pages, strings.TrimPrefix(page, root+string(filepath.Separator)))
		}
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			path := strings.TrimSuffix(m[2], "/...")
			if m[1] != "" { // a link, from the folder of its page
				path = filepath.Join(filepath.Dir(page), m[1])
			}
			for _, one := range alternatives(path) {
				if found, _ := filepath.Glob(filepath.Join(root, one)); len(found) == 0 {
					t.Errorf("%s names %s, which does not exist", page, one)
				}
			}
		}
	}
}

// alternatives spells out the braces of a path: a/{b,c} is a/b and a/c.
func alternatives(path string) []string {
	before, rest, ok := strings.Cut(path, "{")
	words, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{path}
	}
	var all []string
	for word := range strings.SplitSeq(words, ",") {
		all = append(all, alternatives(before+word+after)...)
	}
	return all
}

// TestArchitectureNamesEveryPackage holds ARCHITECTURE.md against the tree: each package of the product
// is named there, by itself or in braces.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	var on []string
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		for _, one := range alternatives(m[1] + m[2]) {
			on = append(on, strings.TrimSuffix(one, "/"))
		}
	}
	for dir := range packages(t) {
		switch {
		case strings.HasPrefix(dir, "examples/"), strings.HasPrefix(dir, "internal/"), slices.Contains(on, dir):
		case slices.ContainsFunc(on, func(p string) bool {
			return strings.HasSuffix(p, "/...") && strings.HasPrefix(dir, strings.TrimSuffix(p, "..."))
		}):
		default:
			t.Errorf("ARCHITECTURE.md does not name %s", dir)
		}
	}
}
