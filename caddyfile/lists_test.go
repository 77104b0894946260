package caddyfile_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A list of the reference, in the first cell of its row: `scopes <names...>`.
var listOption = regexp.MustCompile("`([a-z_]+) <[^`<>]*\\.\\.\\.>`")

// Every list takes several values on a line, and may be repeated. Two golden files have all of them,
// in one form each, and become the same configuration.
func TestAllListsHaveOneSyntax(t *testing.T) {
	read := func(file string) (text, config string) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, config, _ = strings.Cut(string(raw), line+"\n")
		return text, config
	}
	together, one := read("testdata/lists_one_line.caddyfiletest")
	apart, other := read("testdata/lists_repeated.caddyfiletest")
	if one != other || len(one) < 1000 {
		t.Error("several values on a line and a repeated option differ")
	}
	reference, _ := read("README.md")
	found := 0
	for row := range strings.Lines(reference) {
		cells := strings.Split(row, " | ")
		if !strings.HasPrefix(row, "| `") {
			continue
		}
		for _, m := range listOption.FindAllStringSubmatch(cells[0], -1) {
			word := m[1]
			if slices.Contains([]string{"enum"}, word) { // part of a line
				continue
			}
			found++
			if !regexp.MustCompile(`(?m)^\s*` + word + ` \S+ \S+`).MatchString(together) {
				t.Errorf("lists_one_line has no %s with two values", word)
			}
			if len(regexp.MustCompile(`(?m)^\s*`+word+` \S+$`).FindAllString(apart, -1)) < 2 {
				t.Errorf("lists_repeated has no %s twice", word)
			}
		}
	}
	if found < 25 {
		t.Errorf("the reference has %d lists", found)
	}
}
