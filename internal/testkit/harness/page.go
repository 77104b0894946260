package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// PageLines returns the nth code block in a language from a section of a documentation page, so that tests run what
// readers copy.
func PageLines(t testing.TB, page, section, language string, nth int) string {
	t.Helper()
	root, err := moduleRoot()
	FailOn(t, err)
	text, err := os.ReadFile(filepath.Join(root, page))
	FailOn(t, err)
	_, rest, found := strings.Cut(string(text), "\n## "+section+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	lines := ""
	for range nth {
		var begun, ended bool
		_, rest, begun = strings.Cut(rest, "\n```"+language+"\n")
		lines, rest, ended = strings.Cut(rest, "\n```")
		found = found && begun && ended
	}
	if !found {
		t.Fatalf("%s has no block %d of %s in %q", page, nth, language, section)
	}
	return lines
}
