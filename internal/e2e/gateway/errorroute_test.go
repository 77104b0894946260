package gateway

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Q04: a `handle_errors` that proxies gets what the guard refused. Whoever runs there must not take the client's word for
// who it is, nor see its credentials.
func TestRefusedRequestReachesErrorRouteWithoutIdentity(t *testing.T) {
	const errors = "\thandle_errors {\n\t\trewrite * /error\n\t\treverse_proxy $UPSTREAM\n\t}\n"
	guarded := strings.Replace(site, "\tapi_errors\n", errors, 1)
	own, rest, _ := strings.Cut(guarded, "\toauth_guard {")
	_, rest, _ = strings.Cut(rest, "\n\t}\n")
	for _, c := range []struct{ name, site string }{
		{"oauth_guard", guarded}, {"oauth_authentication", own + "\toauth_authentication {\n\t\tscopes write\n\t}\n" + rest},
	} {
		t.Run("Q04 "+c.name, func(t *testing.T) {
			g, up := startSite(t, c.site)
			access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
			for _, credentials := range []string{"X-None: x", "Authorization: Bearer nonsense-secret", "Authorization: Bearer " + access} {
				harness.Wire(t, g.API, "GET /admin", credentials, "X-Auth-Subject: u-1", "x_auth_client: web", "X-Original-URL: /admin",
					"Cookie: a=1; gatehouse=secret", "Cookie: __Host-gatehouse=secret")
				hits := wantHits(t, up, 1)
				if len(hits) != 1 {
					continue
				}
				for _, leaked := range []string{"u-1", "web", "/admin", "secret", "Bearer"} {
					if strings.Contains(fmt.Sprint(hits[0].Header), leaked) {
						t.Errorf("%.30q: %q reached the error route: %v", credentials, leaked, hits[0].Header)
					}
				}
				if !strings.Contains(hits[0].Header.Get("Cookie"), "a=1") {
					t.Errorf("the API's own cookie is gone: %v", hits[0].Header)
				}
			}
		})
	}
}
