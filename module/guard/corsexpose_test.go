package guard

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestUpstreamExposeHeadersAreMerged(t *testing.T) { // S21
	g := build(t, func(c *Config) { c.CORS = []string{reader} })
	exposed := func(origin string, values ...string) string {
		h := http.Header{"Access-Control-Expose-Headers": values, "Access-Control-Allow-Origin": {"*"}, "Access-Control-Allow-Credentials": {"true"}}
		g.CORS(request("GET", "/articles", "Origin", origin)).Set(h)
		if h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%v", h)
		}
		return strings.Join(h["Access-Control-Expose-Headers"], "|")
	}
	for want, values := range map[string][]string{
		corsExposed:                                  nil,
		corsExposed + ", Mcp-Session-Id":             {"Mcp-Session-Id"},
		corsExposed + ", Mcp-Session-Id, X-B":        {"Mcp-Session-Id , x-ratelimit-limit,MCP-SESSION-ID", "X-B,ETag"},
		corsExposed + ", *":                          {"*"},
		corsExposed + ", X-Ok":                       {"a b, X-Ok, \"q\", x\r\ny, , é, " + strings.Repeat("n", 65)},
		corsExposed + ", " + strings.Repeat("n", 64): {strings.Repeat("n", 64)},
	} {
		if got := exposed(reader, values...); got != want {
			t.Errorf("%q: %s", values, got)
		}
	}
	if got := exposed("https://evil.example", "Mcp-Session-Id"); got != "" {
		t.Errorf("an origin that is not listed: %s", got)
	}
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprint("X-", i))
	}
	if got := strings.Count(exposed(reader, strings.Join(many, ",")), ", X-"); got != corsMaxExposed+strings.Count(corsExposed, ", X-") {
		t.Errorf("%d names", got)
	}
}

// Scripts can read what api_rest adds: whether a response is a repeated one, and what became of Prefer.
func TestFieldsOfTheRESTConventionsAreExposed(t *testing.T) {
	names := strings.Split(corsExposed, ", ")
	for _, name := range []string{"Idempotency-Replayed", "Preference-Applied", "ETag", "Link", "Location", "Deprecation", "Sunset"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not among %s", name, corsExposed)
		}
	}
}
