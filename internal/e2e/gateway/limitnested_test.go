package gateway

import (
	"net/http"
	"strings"
	"testing"
)

// A limit by address stands before the guard, one by client behind it. Who is refused is told
// where he stands with the limit that refused him.
func TestLimitHeadersNameTheLimitThatRefused(t *testing.T) {
	for headers, limit := range map[string]string{"x": "X-Ratelimit-Limit", "ietf": "Ratelimit-Policy"} {
		t.Run(headers, func(t *testing.T) {
			nested := strings.NewReplacer(
				"\toauth_guard {", "\troute {\n\tapi_limit {\n\t\tip 100 1h\n\t\theaders "+headers+"\n\t}\n\toauth_guard {",
				"\treverse_proxy $UPSTREAM\n", "\treverse_proxy $UPSTREAM\n\t}\n",
			).Replace(limited(site, "client 2 1h"))
			g, _ := startSite(t, nested, "$LIMIT", "headers "+headers)
			access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
			for range 2 {
				if p := g.Call(t, http.MethodGet, "/read", access); p.Status != http.StatusOK || p.Header.Get(limit) == "" {
					t.Fatalf("%d %v", p.Status, p.Header)
				}
			}
			p := g.Call(t, http.MethodGet, "/read", access)
			if p.Status != http.StatusTooManyRequests || p.Header.Get("Retry-After") == "" {
				t.Fatalf("%d %v", p.Status, p.Header)
			}
			if got := p.Header.Get(limit); !strings.HasPrefix(got, "2") && !strings.HasPrefix(got, `"client";q=2;`) {
				t.Errorf("told of %q: %v", got, p.Header)
			}
			if headers == "x" {
				wantLimited(t, p)
			}
		})
	}
}
