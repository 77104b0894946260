package cli

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S02: names against the conventions are warned of, unless that is turned off.
func TestUnconventionalNamesCauseWarnings(t *testing.T) {
	g := harness.Prepare(t)
	for words, warned := range map[string]bool{"": true, "lint off\n": false, "lint warn\n": true} {
		file := g.WriteFile(t, "Caddyfile", "http://localhost:1 {\n\tapi_rest {\n\t\t"+words+"to localhost:2\n\t\tresource getArticle\n\t}\n}\n")
		out := program(t, "", "adapt", "--config", file)
		if out.code != 0 || strings.Contains(out.err, "lint: ") != warned {
			t.Errorf("S02 %q: %d %s", words, out.code, out.err)
		}
		// A configuration in JSON is judged when it is loaded.
		adapted := g.WriteFile(t, "adapted.json", out.out)
		if loaded := program(t, "", "validate", "--config", adapted); loaded.code != 0 || strings.Contains(loaded.err, "1 names are against the conventions") != warned {
			t.Errorf("S02 %q, loaded: %d %s", words, loaded.code, loaded.err)
		}
	}
	out := program(t, "", "adapt", "--config", g.WriteFile(t, "Caddyfile", "http://localhost:1 {\n\tapi_rest {\n\t\tlint warn\n\t\tto localhost:2\n\t\tresource getArticle\n\t}\n}\n"))
	strict := g.WriteFile(t, "strict.json", strings.Replace(out.out, `"lint":"warn"`, `"lint":"error"`, 1))
	if loaded := program(t, "", "validate", "--config", strict); loaded.code == 0 || !strings.Contains(loaded.err, "lint: ") {
		t.Errorf("S02 lint error, loaded: %d %s", loaded.code, loaded.err)
	}
}
