package caddyfile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheReferenceHasEveryWord looks for each word that a block knows in README.md.
func TestTheReferenceHasEveryWord(t *testing.T) {
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
	words := append(append([]string(nil), globalWords...), clientWords...)
	call, quoted := regexp.MustCompile(`(?s)(?:UnknownWord\(\w+(?:\.Dispenser)?, |dialectWords = \[\]string)([^)}]*)[)}]`), regexp.MustCompile(`"([\w/ ]+)"`)
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(source), -1) {
			for _, w := range quoted.FindAllStringSubmatch(m[1], -1) {
				words = append(words, w[1])
			}
		}
	}
	if len(words) < 60 {
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
