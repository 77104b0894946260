package restapi

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S14: the page shows bodies as tables, with examples that the API takes.
func TestDescriptionPageShowsBodiesAsTables(t *testing.T) {
	g := harness.Prepare(t, "$LEGACY", legacy(t))
	g.Start(t, strings.Replace(worded(sample+"\topenapi\n"), "public * /open /open/*", "public GET /openapi.json /openapi", 1))
	r := &rig{g, t, make(map[string]string)}
	p := r.do("", http.MethodGet, "/openapi", "")
	_, post, ok := strings.Cut(p.Body, `<div id="post_articles">`)
	if !ok {
		t.Fatal(p.Status, p.Body)
	}
	post, _, _ = strings.Cut(post, "</details>")
	if row := regexp.MustCompile(`<tr><th scope="row"><code>title</code></th><td><span class="mark">required</span> <code class="muted">string 5\.\.100</code>`); !row.MatchString(post) {
		t.Errorf("S14 no row of the title: %s", post)
	}
	if strings.Count(post, `<tr><th scope="row"><code>title</code></th>`) != 2 || strings.Count(post, "<pre>") != 2 {
		t.Errorf("S14 the answer is no table: %s", post)
	}
	_, example, _ := strings.Cut(post, "<pre>")
	example, _, _ = strings.Cut(example, "</pre>")
	example = html.UnescapeString(example)
	if !json.Valid([]byte(example)) {
		t.Fatalf("S14 %s", example)
	}
	if p := r.do("writer", http.MethodPost, "/articles", example); p.Status != 201 {
		t.Errorf("S14 the example %s is answered %d %s", example, p.Status, p.Body)
	}
}
