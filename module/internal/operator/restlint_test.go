package operator

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// S02: names against the conventions are warned of, unless that is turned off.
func TestNamesAgainstTheConventionsAreWarnedOf(t *testing.T) {
	g := harness.Prepare(t)
	for words, warned := range map[string]bool{"": true, "lint off\n": false, "lint warn\n": true} {
		file := g.WriteFile(t, "Caddyfile", "http://localhost:1 {\n\tapi_rest {\n\t\t"+words+"to localhost:2\n\t\tresource getArticle\n\t}\n}\n")
		out := program(t, "", "adapt", "--config", file)
		if out.code != 0 || strings.Contains(out.err, "lint: ") != warned {
			t.Errorf("S02 %q: %d %s", words, out.code, out.err)
		}
	}
}
