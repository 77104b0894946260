package conventions

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// S11: someone who forgets `to` is told so, and no write that nobody received looks done.
func TestNothingBehindARestIsAFailure(t *testing.T) {
	const resources = "resource articles\nresource notes {\n\t\t\tidempotency\n\t\t\tetag\n\t\t}\n"
	g := harness.Prepare(t)
	g.Begin(t, worded(resources))
	r := &rig{g, t, make(map[string]string)}
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/articles", ""}, {"GET", "/articles/7", ""}, {"POST", "/articles", `{}`}, {"PUT", "/articles/7", `{}`}, {"DELETE", "/articles/7", ""},
		{"GET", "/notes/7", ""}, {"POST", "/notes", `{}`},
	} {
		wantError(t, r.do("writer", c.method, c.path, c.body), 502, "upstream_unreachable", "")
	}
	if p := r.do("writer", "PATCH", "/articles", `[{"id":7,"op":"replace","path":"/title","value":"x"}]`); p.Status != 207 || !strings.Contains(p.Body, `"status":502`) {
		t.Errorf("S11 a batch: %d %s", p.Status, p.Body)
	}

	t.Run("S11 a handler behind that answers without a body", func(t *testing.T) {
		g := harness.Prepare(t)
		g.Begin(t, strings.Replace(worded(resources), "\tapi_rest {", "\trespond 204\n\tapi_rest {", 1))
		r := &rig{g, t, make(map[string]string)}
		for _, method := range []string{"GET", "DELETE"} {
			if p := r.do("writer", method, "/articles/7", ""); p.Status != 204 {
				t.Errorf("%s: %d %s", method, p.Status, p.Body)
			}
		}
	})
}
