package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestPlaceholdersExposeTheCaller(t *testing.T) {
	text := strings.Replace(site, "reverse_proxy $UPSTREAM\n", `reverse_proxy $UPSTREAM {
		header_up X-Who "{http.auth.user.id}|{http.auth.user.client_id}|{http.auth.user.scope}|{http.auth.user.name}"
	}
`, 1)
	g, up := startSite(t, text)
	access, _ := tokens(t, g, web)
	own, _ := g.Token(t, machine, credentialsForm).JSON(t)["access_token"].(string)
	for token, want := range map[string]string{access: "u-1|web|read|Alice", own: "client:machine|machine|read|"} {
		if p := g.Call(t, http.MethodGet, "/read", token); p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		if hits := up.Hits(); len(hits) != 1 || hits[0].Header.Get("X-Who") != want {
			t.Errorf("the upstream was told %q, want %q", hits[0].Header.Get("X-Who"), want)
		}
	}
	harness.Get(t, g.API+"/public/")
	if hits := up.Hits(); len(hits) != 1 || hits[0].Header.Get("X-Who") != "|||" {
		t.Errorf("of nobody the upstream was told %v", hits)
	}
}

// S23: a directive that stands in front of the guard, or a guard that refuses, must not show the
// upstream, the client or a log a placeholder's own name.
func TestPlaceholdersAreEmptyBeforeTheGuardRan(t *testing.T) {
	const who = "{http.auth.user.id}|{http.auth.user.client_id}|{http.auth.user.scope}|{http.auth.user.name}"
	text := strings.NewReplacer("http://$API {\n\tapi_errors\n", `http://$API {
	handle_errors {
		respond "refused for <`+who+`>" 401
	}
	route {
	request_header X-Before "`+who+`"
	header X-Answer "<{http.auth.user.id}>"
`, "reverse_proxy $UPSTREAM\n}", `reverse_proxy $UPSTREAM {
		header_up X-After "`+who+`"
	}
	}
}`).Replace(site)
	g, up := startSite(t, text)
	access, _ := tokens(t, g, web)
	c := harness.NewBrowser(t, "") // one connection, so that a former request could leave something behind
	ask := func(path string, header ...string) harness.Page {
		t.Helper()
		p := send(t, c, http.MethodGet, g.API+path, "", header...)
		for name, values := range p.Header {
			if strings.Contains(strings.Join(values, " "), "http.auth") {
				t.Errorf("S23 %s: the answer has %s %q", path, name, values)
			}
		}
		if strings.Contains(p.Body, "http.auth") {
			t.Errorf("S23 %s: %s", path, p.Body)
		}
		return p
	}
	for range 2 {
		ask("/read", "Authorization", "Bearer "+access, "X-Sent", "a {http.auth.user.id} b {env.HOME}")
		if h := up.Hits(); len(h) != 1 || h[0].Header.Get("X-Before") != "|||" || h[0].Header.Get("X-After") != "u-1|web|read|Alice" || h[0].Header.Get("X-Sent") != "a  b {env.HOME}" {
			t.Errorf("S23 with a token: %v", h)
		}
		ask("/public/x")
		if h := up.Hits(); len(h) != 1 || h[0].Header.Get("X-Before") != "|||" || h[0].Header.Get("X-After") != "|||" {
			t.Errorf("S23 a public path after it: %v", h)
		}
		if p := ask("/read", "Authorization", "Bearer x.y.z"); p.Status != http.StatusUnauthorized || !strings.Contains(p.Body, "refused for <|||>") {
			t.Errorf("S23 refused: %d %s", p.Status, p.Body)
		}
		wantHits(t, up, 0)
	}
	g.Load(t, strings.Replace(text, "$GUARD", "shadow", 1))
	ask("/read", "Authorization", "Bearer x.y.z")
	if h := up.Hits(); len(h) != 1 || h[0].Header.Get("X-Before") != "|||" || h[0].Header.Get("X-After") != "|||" {
		t.Errorf("S23 in shadow mode: %v", h)
	}
	for _, handler := range []string{"api_errors", "api_limit {\n\t\tip 1000 1m\n\t}", "api_rest {\n\t\tresource anything\n\t}"} {
		g.Load(t, site[:strings.Index(site, "http://$API {")]+"http://$API {\n\troute {\n\t"+handler+"\n\treverse_proxy $UPSTREAM {\n\t\theader_up X-After \""+who+"\"\n\t}\n\t}\n}\n")
		ask("/anything", "Authorization", "Bearer "+access)
		if h := up.Hits(); len(h) != 1 || h[0].Header.Get("X-After") != "|||" {
			t.Errorf("S23 without a guard, behind %s: %v", handler, h)
		}
	}
}
