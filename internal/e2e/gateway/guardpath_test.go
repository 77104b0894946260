package gateway

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// spellings are request targets that some upstream reads as the protected /admin, and
// some guard as something else.
var spellings = []string{
	"/public/../admin", "/public/..%2fadmin", "/public/..%2Fadmin", "/public/..%5cadmin", "/public/..%5Cadmin", "/public/..;/admin", "/public/..;x=1/admin",
	"/public;/../admin", "//admin", "///admin", "/public//../admin", "/ADMIN", "/Admin", "/%61dmin", "/%41DMIN", "/admin/.", "/admin/..", "/admin/./", "/./admin",
	"/admin%2f", "/admin%2F", "/admin%5c", "/admin%00", "/admin%00.png", "/public%00/../admin", "/admin%252f", "/%2561dmin", "/public/%2e%2e/admin",
	"/public/%2e%2e%2fadmin", "/public/%252e%252e/admin", "/public/.%2e/admin", "/admin#", "/public#/../admin", "/public%23/../admin", "/public/..%3F", "/public/..%23", "/public%3F", "/admin%3F", "/admin%3f/../public", "/admin%23", "/admin%253F", "/admin?", "/admin?/public",
	`/admin\`, `/public\..\admin`, `/\admin`, "/admin/", "/admin//", "/admin;x", "/admin;/x", "/admin%3b", "/admin%20", "/admin%09", "/admin%0a", "/admin%0d%0aX:1",
	"/admin%c0%af", "/public/%c0%ae%c0%ae/admin", "/public/%u002e%u002e/admin", "/public%2f..%2fadmin", "/public%2f%2e%2e%2fadmin", "/%2fadmin", "/public/x/../../admin",
	"/admin..", "/admin%2e", "/admin%2e%2e", "/public/..%c0%afadmin", "/%e2%80%8badmin", "/admin%",
	"/admin%zz", "*", "admin", "?/admin", "/public/.../admin",
}

// TestPathSpellingsCannotBypassTheGuard is G26. The upstream may see what is public in
// every reading and nothing else.
func TestPathSpellingsCannotBypassTheGuard(t *testing.T) {
	g, up, m := startFaulty(t)
	f := newForger(t, g, m)
	read := f.token(nil)
	host := strings.TrimPrefix(g.API, "http://")
	targets := append([]string{
		g.API + "/admin", "http://evil.example/admin", g.API + "/public/../admin", "http://" + host + "//admin", "https://" + host + "/admin", "http:/admin", "//" + host + "/admin",
		g.API + "/public", "http:///admin", "http://" + host + "@evil.example/admin",
	}, spellings...)
	for _, target := range targets {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			for name, header := range map[string]string{"nobody": "X-Nobody: 1", "a token without the scope": "Authorization: Bearer " + read} {
				t.Run("G26 "+method+" "+target+" by "+name, func(t *testing.T) {
					p := harness.Wire(t, g.API, method+" "+target, header, "X-Forwarded-For: "+somebody())
					for _, hit := range up.Hits() {
						if !publicInEveryReading(hit.RequestURI) {
							t.Errorf("%d: the upstream saw %s", p.Status, hit.RequestURI)
						}
					}
					// Hosts that are no site get Caddy's own empty answer.
					if p.Status < 400 && p.Body != "" && !publicInEveryReading(target) {
						t.Errorf("%d %s", p.Status, p.Body)
					}
				})
			}
		}
	}
	t.Run("G26 what is public passes, in its normal form", func(t *testing.T) {
		for sent, seen := range map[string]string{
			"/public": "/public", "/public/": "/public/", "/public/x": "/public/x", "/public?/admin": "/public?/admin", "/%70ublic/a%2Db": "/public/a-b",
			"/public/%c3%a9": "/public/%C3%A9", "/public/a%20b": "/public/a%20b", "/public?x=%2e%2e/admin#": "",
		} {
			harness.Wire(t, g.API, "GET "+sent)
			hits := up.Hits()
			if seen == "" && len(hits) != 0 || seen != "" && (len(hits) != 1 || hits[0].RequestURI != seen) {
				t.Errorf("%s: %v", sent, hits)
			}
		}
	})
	t.Run("G26 the guarded spelling passes with the scope", func(t *testing.T) {
		admin := "Authorization: Bearer " + f.token(map[string]any{"scope": "admin"})
		for sent, seen := range map[string]string{"/admin": "/admin", "/%61dmin": "/admin", "/ADMIN/x": "/ADMIN/x"} {
			if p := harness.Wire(t, g.API, "GET "+sent, admin); p.Status != http.StatusOK {
				t.Errorf("%s: %d %s", sent, p.Status, p.Body)
			}
			if hits := wantHits(t, up, 1); len(hits) == 1 && hits[0].RequestURI != seen {
				t.Errorf("%s went on as %s", sent, hits[0].RequestURI)
			}
		}
	})
	t.Run("G26 public rules mind the case, since upstreams may", func(t *testing.T) {
		for _, target := range []string{"/PUBLIC", "/Public/x"} {
			wantEnvelope(t, harness.Wire(t, g.API, "GET "+target), http.StatusForbidden, "forbidden")
			wantHits(t, up, 0)
		}
	})
}

// TestCaseVariantsOfIAreEqualForTheGuard is G40. An upstream that lower-cases paths, as Caddy's own matchers
// do, takes the dotted İ for an i, and one that upper-cases them the dotless ı.
func TestCaseVariantsOfIAreEqualForTheGuard(t *testing.T) {
	g, up := startSite(t, strings.Replace(site, "\t\t$GUARD\n", "\t\tscope read GET /*\n", 1))
	p := g.Token(t, machine, credentialsForm)
	read, _ := p.JSON(t)["access_token"].(string)
	for _, target := range []string{"/admin/users", "/ADMIN/users", "/adm%C4%B0n/users", "/adm%c4%b1n/users", "/ADM%C4%B1N", "/adm%C4%B0n/"} {
		t.Run("G40 "+target, func(t *testing.T) {
			wantChallenge(t, harness.Wire(t, g.API, "GET "+target, "Authorization: Bearer "+read), up, http.StatusForbidden, "insufficient_scope")
		})
	}
	for _, target := range []string{"/publ%C4%B0c/x", "/publ%c4%b1c"} {
		t.Run("G40 not public: "+target, func(t *testing.T) {
			wantChallenge(t, harness.Wire(t, g.API, "GET "+target), up, http.StatusUnauthorized, "")
		})
	}
	if p := harness.Wire(t, g.API, "GET /adm%C3%AFn/users", "Authorization: Bearer "+read); p.Status != http.StatusOK {
		t.Errorf("G40 another letter: %d %s", p.Status, p.Body)
	}
	wantHits(t, up, 1)
}

// TestEncodedMarkReachesNoOtherRule is G41. Some upstreams decode a path before they cut off the query or the fragment.
func TestEncodedMarkReachesNoOtherRule(t *testing.T) {
	g, up := startSite(t, strings.Replace(site, "\t\t$GUARD\n", "\t\tscope admin /wiki/*/edit\n\t\tpublic /wiki/*\n\t\totherwise token\n", 1))
	access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	read := "Authorization: Bearer " + access
	for _, target := range []string{"/admin%3F", "/admin%3fa=b", "/ADMIN%3F/x", "/%61dmin%23", "/admin/users%23x%3Fy", "/wiki/What%3F/edit", "/wiki/x/edit%3F"} {
		t.Run("G41 "+target, func(t *testing.T) {
			wantChallenge(t, harness.Wire(t, g.API, "GET "+target, read), up, http.StatusForbidden, "insufficient_scope")
			wantChallenge(t, harness.Wire(t, g.API, "GET "+target), up, http.StatusUnauthorized, "")
		})
	}
	for target, seen := range map[string]string{"/wiki/What%3f": "/wiki/What%3F", "/wiki/C%23/x": "/wiki/C%23/x", "/public/%3F": "/public/%3F"} {
		t.Run("G41 a title: "+target, func(t *testing.T) {
			p := harness.Wire(t, g.API, "GET "+target)
			if hits := wantHits(t, up, 1); p.Status != http.StatusOK || len(hits) == 1 && hits[0].RequestURI != seen {
				t.Errorf("%d, %v", p.Status, hits)
			}
		})
	}
	for _, target := range []string{"/wiki/..%3F", "/public/x%3F_method=DELETE", "/wiki/a%253F"} {
		t.Run("G41 refused: "+target, func(t *testing.T) {
			p := harness.Wire(t, g.API, "GET "+target, read)
			wantHits(t, up, 0)
			if p.Status != http.StatusBadRequest {
				t.Errorf("%d %s", p.Status, p.Body)
			}
		})
	}
}

// publicInEveryReading reports that a target is /public or below it however it is
// decoded and joined.
func publicInEveryReading(target string) bool {
	p, _, _ := strings.Cut(target, "?")
	if strings.ContainsAny(p, "%\\;#") || strings.Contains(p, "//") || path.Clean(p) != strings.TrimSuffix(p, "/") {
		return false
	}
	// "..." is a name like any other.
	return p == "/public" || strings.HasPrefix(p, "/public/")
}

// TestHostDoesNotAffectDecisions is G29.
func TestHostDoesNotAffectDecisions(t *testing.T) {
	port := harness.FreePorts(t, 1)[0]
	var many strings.Builder
	for i := range 150 {
		fmt.Fprintf(&many, "http://h%d.example:%d, ", i, port)
	}
	wide := strings.Replace(site, "http://$API {", many.String()+"http://$API {", 1)
	g, up := startSite(t, wide)
	access, _ := tokens(t, g, web)
	sideDoor := fmt.Sprintf("http://localhost:%d", port)
	number := g.API[strings.LastIndex(g.API, ":"):]
	for _, c := range []struct{ site, host string }{
		{g.API, "localhost" + number}, {g.API, "LOCALHOST" + number}, {g.API, "LocalHost" + number}, {g.API, "localhost." + number}, {g.API, "localhost"},
		{g.API, "localhost:1"}, {g.API, "127.0.0.1" + number}, {g.API, ""}, {g.API, "evil.example"},
		{sideDoor, fmt.Sprintf("h7.example:%d", port)}, {sideDoor, fmt.Sprintf("H7.EXAMPLE:%d", port)}, {sideDoor, "h149.Example"}, {sideDoor, "h149.example."},
	} {
		t.Run("G29 "+c.host, func(t *testing.T) {
			for _, target := range []string{"/admin", "/read"} {
				p := harness.Wire(t, c.site, "GET "+target, "Host: "+c.host)
				wantHits(t, up, 0)
				if strings.Contains(p.Body, `"ok"`) {
					t.Errorf("%d %s", p.Status, p.Body)
				}
			}
			p := harness.Wire(t, c.site, "GET /admin", "Host: "+c.host, "Authorization: Bearer "+access)
			wantHits(t, up, 0)
			if p.Status == http.StatusOK && p.Body != "" {
				t.Errorf("%d %s", p.Status, p.Body)
			}
		})
	}
	for _, host := range []string{"localhost" + number, "LOCALHOST" + number} {
		t.Run("G29 the same decision for "+host, func(t *testing.T) {
			wantChallenge(t, harness.Wire(t, g.API, "GET /read", "Host: "+host), up, http.StatusUnauthorized, "")
			wantChallenge(t, harness.Wire(t, g.API, "GET /admin", "Host: "+host, "Authorization: Bearer "+access), up, http.StatusForbidden, "insufficient_scope")
			if p := harness.Wire(t, g.API, "GET /read", "Host: "+host, "Authorization: Bearer "+access); p.Status != http.StatusOK {
				t.Errorf("%d %s", p.Status, p.Body)
			}
			wantHits(t, up, 1)
		})
	}
	for _, host := range []string{"h7.example", "H7.EXAMPLE", "h149.exAMPLE"} {
		t.Run("G29 of 150 hosts "+host, func(t *testing.T) {
			host := fmt.Sprintf("Host: %s:%d", host, port)
			wantChallenge(t, harness.Wire(t, sideDoor, "GET /admin", host), up, http.StatusUnauthorized, "")
			harness.Wire(t, sideDoor, "GET /read", host, "Authorization: Bearer "+access)
			wantHits(t, up, 1)
		})
	}
}
