package blackbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

func TestThePlaceholdersSayWhoCalls(t *testing.T) {
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
