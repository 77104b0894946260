package cli

import (
	"strings"
	"testing"
)

// S21: without cors a browser cannot read a 401, and its application never refreshes.
func TestDoctorFindsGuardsWithoutCORS(t *testing.T) {
	spa := "client spa {\n\t\t\tpublic\n\t\t\tredirect_uri https://spa.example/cb\n\t\t\tscopes read\n\t\t}\n"
	g := start(t, "$GLOBAL", spa)
	says := func(grade, part string) {
		t.Helper()
		if _, all := examined(t, g); !has(all, grade, "cors", part) {
			t.Errorf("S21: no %s of cors with %q in %+v", grade, part, all)
		}
	}
	says("warn", "a browser cannot read its 401")
	if out := done(t, g, "", "doctor"); !strings.Contains(out, "cors https://spa.example") {
		t.Errorf("S21: no remedy in %s", out)
	}
	g.Load(t, strings.Replace(site, "$GUARD", "cors upstream", 1))
	says("warn", "leaves CORS to the upstream")
	g.Load(t, strings.Replace(site, "$GUARD", "cors https://spa.example", 1))
	says("ok", "")
	g.Load(t, strings.Replace(site, "$GLOBAL", "", 1))
	if _, all := examined(t, g); has(all, "warn", "cors", "") {
		t.Errorf("S21: no client runs in a browser: %+v", all)
	}
}
