package gateway

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestClientRemovedFromConfigLeavesNoGrants(t *testing.T) {
	g, _, m := startFaulty(t, "$GLOBAL", resourceServerClient)
	c := newCoder(t, g)
	node := otherNode(t, m)
	without := strings.Replace(faultySite, "client web {", "client webb {", 1)
	access, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
	own, _ := wantTokens(t, g.Token(t, web, credentialsForm))
	bystander, keeps := wantTokens(t, g.Token(t, spa, exchange(c.code("spa"), spaCallback)))
	guardOnly := guardSite(faultySite)
	g.Load(t, guardOnly) // knows no clients, and says nothing about them
	g.Load(t, faultySite)
	if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	g.Load(t, without)
	for _, a := range []string{access, own} {
		wantDead(t, g, a)
		wantDeadAt(t, node, a) // also where no client is configured
		wantInactive(t, at(t, g, "/introspect", resourceServer, tokenForm(a)))
	}
	g.Load(t, without) // once more: nothing new
	time.Sleep(1100 * time.Millisecond)
	g.Load(t, faultySite)
	for _, a := range []string{access, own} {
		wantDead(t, g, a)
		wantInactive(t, at(t, g, "/introspect", resourceServer, tokenForm(a)))
	}
	wantInactive(t, at(t, g, "/introspect", web, tokenForm(refresh)))
	wantOAuth(t, g.Token(t, web, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
	if p := bearer(t, g, "/read", bystander); p.Status != http.StatusOK {
		t.Errorf("another client's: %d %s", p.Status, p.Body)
	}
	wantTokens(t, g.Token(t, spa, refreshWith(keeps)))
	access, refresh = wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
	if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
		t.Errorf("begun anew: %d %s", p.Status, p.Body)
	}
	_, refresh = wantTokens(t, g.Token(t, web, refreshWith(refresh)))

	// N17: the last ones too, though a configuration without clients may be one of guards alone.
	own, _ = wantTokens(t, g.Token(t, web, credentialsForm))
	g.Load(t, clientless(faultySite))
	for _, a := range []string{access, own} {
		wantDead(t, g, a)
		wantDeadAt(t, node, a)
	}
	g.Load(t, clientless(faultySite))
	g.Load(t, faultySite)
	wantDead(t, g, access)
	wantOAuth(t, g.Token(t, web, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
}

// guardSite is a site with neither clients nor an authorization server.
func guardSite(site string) string {
	return strings.Replace(clientless(site), "\toauth_server\n", "", 1)
}

// clientless is a site without clients.
func clientless(site string) string {
	from := strings.Index(site, "\t\t$GLOBAL")
	to := strings.Index(site, "\n\t}\n}\nhttp://$ID")
	return site[:from] + site[to+1:]
}
